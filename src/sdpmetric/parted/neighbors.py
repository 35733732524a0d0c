"""The nearest rows of the same and of other classes, for rows in blocks.

Every pair of blocks is one task, which searches both ways: the upper triangle of a square of
blocks. Results for a block are merged in a fixed order. Distances are exact and ties go to the
lower row, so the neighbours are those of a search in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._support.typing import Floats, Ints
from ..engines.engine import Engine
from ..linalg.items import Items
from ..linalg.pieces import bytes_of, joined
from ..linalg.scaling import distance_factors
from ..triplets.nearest import nearest_columns
from . import rows as row_tasks
from .rows import Columns, RowMap

__all__ = ["Block", "Found", "block_columns", "merged", "search_blocks", "search_pair"]


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive rows from ``start`` on, as neighbours are searched among them, and classes."""

    start: int
    X: Items
    y: Ints

    def __sizeof__(self) -> int:
        return bytes_of(self.X, self.y)

    def take(self, rows: Ints) -> Block:
        """Some rows; ``start`` loses its meaning."""
        return Block(self.start, self.X.take(rows), self.y[rows])


class Found(NamedTuple):
    """(2, n, k) squared distances and row numbers of near and far rows; infinite and -1: none."""

    distances: Floats
    rows: Ints


Pair = tuple[Found, Found]


def search_blocks(
    engine: Engine, blocks: list[Any], work: Callable[..., Pair], *shared: Any
) -> list[Any]:
    """Search all pairs of blocks with ``work``; return handles of `Found`, one for each block."""
    n = len(blocks)
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    results = dict(
        zip(
            pairs,
            engine.map(work, [[blocks[i], blocks[j]] for i, j in pairs], *shared),
            strict=True,
        )
    )
    found = []
    for i in range(n):
        # In the order of the other block: (0, i), ..., (i, i), ..., (i, n - 1).
        ends = [results[j, i] for j in range(i)], [results[i, j] for j in range(i, n)]
        sides = [engine.map(_side, some, side) for side, some in zip((1, 0), ends, strict=True)]
        found.append(engine.reduce(merged, [*sides[0], *sides[1]]))
    return found


def search_pair(both: list[Block], k: tuple[int, int], factors: Any) -> Pair:
    """The nearest rows of each of two blocks in the other; of a block in itself."""
    a, b = both
    if a.start == b.start:
        found = _within(a, k, factors)
        return found, found
    return nearest_between(a, b, k, factors), nearest_between(b, a, k, factors)


def nearest_between(rows: Block, columns: Block, k: tuple[int, int], factors: Any) -> Found:
    """The nearest rows of one block for the rows of another."""
    n = len(columns.y)
    both = joined([columns.X, rows.X])
    return _nearest(
        both, np.concatenate([columns.y, rows.y]), slice(n, n + len(rows.y)), columns, k, factors
    )


def merged(parts: list[Found]) -> Found:
    """The nearest of several searches for the same rows; ties go to the lower row."""
    if len(parts) == 1:
        return parts[0]
    distances = np.concatenate([part.distances for part in parts], axis=2)
    rows = np.concatenate([part.rows for part in parts], axis=2)
    order = np.lexsort((rows, distances), axis=2)[:, :, : parts[0].rows.shape[2]]
    return Found(np.take_along_axis(distances, order, 2), np.take_along_axis(rows, order, 2))


def block_columns(block: Block) -> Columns:
    """Statistics of the columns of a block."""
    X = block.X
    return Columns(len(X), X.sparse, X.dtype, *X.extremes, np.zeros(X.shape[1]))


def block_of(pieces: list[Any], maps: list[RowMap], classes: Any, components: Any) -> Block:
    """Join slices of chunks [chunk, labels, first, last] to a block, in the fit's coordinates."""
    (rows,) = maps
    start = pieces[0][0][2] + pieces[0][2]
    taken = [
        rows(row_tasks.rows_of(chunk).take(np.arange(first, last)))
        for chunk, _, first, last in pieces
    ]
    y = [np.asarray(labels)[first:last] for _, labels, first, last in pieces]
    codes = np.searchsorted(classes, np.concatenate(y)).astype(np.int64)
    # Exact: in float32 rounding could decide which of two near rows is the nearer one.
    return Block(start, joined(taken).mapped(components, exact=True), codes)


def factors_of(found: Columns) -> Any:
    """Powers of two that keep squared distances in range; None if that needs none."""
    return distance_factors(found.low, found.high, found.dtype)[0]


def _within(block: Block, k: tuple[int, int], factors: Any) -> Found:
    return _nearest(block.X, block.y, slice(0, len(block.y)), block, k, factors)


def _nearest(
    X: Items, y: Ints, rows: slice, columns: Block, k: tuple[int, int], factors: Any
) -> Found:
    if factors is not None:
        X = X.multiplied(factors)
    distances = np.full((2, rows.stop - rows.start, max(k)), np.inf)
    index = nearest_columns(X, y, rows, len(columns.y), k, out=distances)
    return Found(distances, np.where(index >= 0, index + columns.start, -1))


def _side(pair: Pair, side: int) -> Found:
    return pair[side]
