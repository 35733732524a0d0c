"""Labelled rows in chunks: their classes, the search for neighbours, and pieces of comparisons."""

from __future__ import annotations

from hashlib import blake2b
from itertools import pairwise
from math import isnan
from numbers import Number, Real
from typing import Any, NamedTuple

import numpy as np

from .._support.typing import Floats, Ints
from ..engines.dask_arrays import RowChunks, chunks_like, is_dask, named_rows
from ..engines.engine import Resident, again
from ..linalg.fingerprints import array_digest
from ..triplets.knn import cross_triplets
from ..triplets.labels import as_labels
from . import neighbors as block_tasks
from . import rows as row_tasks
from .chunked import ChunkedRows
from .inverted_lists import search_lists
from .neighbors import Block, search_blocks, search_pair
from .rows import RowMap

__all__ = ["EXACT_ROWS", "ChunkedLabels", "check_exact"]

# Rows up to which neighbours may be searched exactly: the work grows with the square of the rows.
EXACT_ROWS = 2_000_000


def check_exact(n_rows: int, limit: int = EXACT_ROWS) -> None:
    """Raise ValueError if rows are too many to compare each with all others."""
    if n_rows > limit:
        raise ValueError(
            f"neighbors='exact' compares every row with all others, and X has {n_rows:,} rows; "
            f"expected at most {limit:,} in a Dask array, or neighbors='approximate'."
        )


class Counted(NamedTuple):
    """Distinct labels, ascending, how many rows have each, and the first chunk, for messages."""

    labels: Any
    sizes: Ints
    name: str


class ChunkedLabels:
    """Labels of rows in chunks, in an array or in chunks of the same lengths.

    Attributes
    ----------
    classes : the distinct labels, ascending
    sizes : how many rows each class has
    """

    def __init__(self, rows: ChunkedRows, y: Any) -> None:
        self.rows, self.engine, self.chunks = rows, rows.engine, rows.chunks
        self.n_blocks = min(self.engine.n_workers, max(1, rows.shape[0] // 3))
        self.y: RowChunks | None = None
        if is_dask(y):
            self.y = chunks_like(y, "y", self.chunks, "one label per row of X")
        else:
            self.given = np.asarray(y)
            if self.given.ndim != 1:
                raise ValueError(f"y must have one label per row, got shape {self.given.shape}.")
            n = len(self.given)
            if n != rows.shape[0]:
                raise ValueError(f"y must have one label per row of X, {rows.shape[0]}, got {n}.")
        counted = again(self._count)
        self.sizes = counted.sizes
        self.classes = as_labels(counted.labels)[0]

    def fingerprint(self) -> bytes:
        """A digest of all labels, for checkpoints."""
        engine = self.engine
        digests = again(lambda: engine.collect(engine.map(_digest, self._labels(), self.classes)))
        return blake2b(b"".join(digests)).digest()

    def _labels(self) -> list[Any]:
        """The labels of each chunk."""
        if self.y is not None:
            return self.y.kept.handles
        return [self.given[rows] for rows in self.chunks.slices]

    def _count(self) -> Counted:
        engine, y = self.engine, self.y
        spans = self.chunks.slices
        names = [f"y ({named_rows(rows)})" for rows in spans] if y is None else y.names
        chunks = [list(c) for c in zip(self._labels(), names, spans, strict=True)]
        counts = engine.reduce(_counts_merged, engine.map(_counts, chunks))
        found: Counted = engine.collect([counts])[0]
        return found

    def blocks(self, row_map: RowMap, components: Floats | None) -> list[Any]:
        """Handles of all rows in blocks, one for each worker, mapped by a metric."""
        n = self.chunks.shape[0]
        bounds = np.linspace(0, n, self.n_blocks + 1).astype(np.int64)
        numbered, labels, spans = self.chunks.numbered(), self._labels(), self.chunks.slices
        pieces = []
        for low, high in pairwise(bounds.tolist()):
            pieces.append(
                [
                    [chunk, y, max(low - rows.start, 0), min(high, rows.stop) - rows.start]
                    for chunk, y, rows in zip(numbered, labels, spans, strict=True)
                    if rows.start < high and low < rows.stop
                ]
            )
        return self.engine.map(block_tasks.block_of, pieces, [row_map], self.classes, components)

    def take(self, wanted: Ints) -> Ints:
        """The classes, as numbers, of some rows, by their numbers in ascending order."""
        engine = self.engine

        def ask() -> list[Any]:
            pairs = [
                [y, rows.start] for y, rows in zip(self._labels(), self.chunks.slices, strict=True)
            ]
            return engine.collect(engine.map(_some_labels, pairs, wanted))

        codes: Ints = np.searchsorted(self.classes, np.concatenate(again(ask)))
        return codes

    def search(
        self,
        row_map: RowMap,
        components: Floats | None,
        k: tuple[int, int],
        neighbors: str,
        weights: Floats | None,
        seed: int,
    ) -> Resident:
        """Search for neighbours; return pieces of comparisons, one for each block.

        Parameters
        ----------
        row_map : to the coordinates of the metric
        components : of the metric under which neighbours are near; None for Euclidean distance
        k : near rows of the same class, and far rows of other classes
        neighbors : "exact" or "approximate"
        weights : of each class of an anchor; None if all are equal
        seed : of the sample that centres are made from
        """
        engine, n = self.engine, self.rows.shape[0]

        def make() -> list[Any]:
            blocks = self.blocks(row_map, components)
            columns = engine.reduce(
                row_tasks.columns_merged, engine.map(block_tasks.block_columns, blocks)
            )
            (factors,) = engine.map(block_tasks.factors_of, [columns])
            if neighbors == "exact":
                found = search_blocks(engine, blocks, search_pair, k, factors)
            else:
                found = search_lists(engine, blocks, k, factors, self.sizes, seed)
            both = [[f, b] for f, b in zip(found, engine.map(_heads, blocks), strict=True)]
            return engine.map(_piece, both, k, weights, n)

        pieces = Resident(engine, make)

        def settle() -> None:
            engine.collect([engine.reduce(_ignored, engine.map(_ignored, pieces.handles))])

        again(settle)  # so that blocks are freed before parts are made, and errors come here
        self.chunks.kept.release()
        return pieces


def _counts(chunk: list[Any]) -> Counted:
    """Check the labels of a chunk and count them."""
    y, name, rows = np.asarray(chunk[0]), chunk[1], chunk[2]
    if y.shape != (rows.stop - rows.start,):
        raise ValueError(f"{name} has shape {y.shape}, expected ({rows.stop - rows.start},).")
    try:
        labels, sizes = np.unique(y, return_counts=True)
    except TypeError:
        labels = y  # these have no order, and the reason is found below
    if _missing(labels).any():
        row = int(np.flatnonzero(_missing(y))[0])
        raise ValueError(f"{name} holds {y[row]} in row {rows.start + row}, expected a label.")
    if labels is y:
        other = next((label for label in y if _kind(label) != _kind(y[0])), y[-1])
        raise ValueError(
            f"{name} holds {_shown(y[0])} and {_shown(other)}, expected labels all of a kind."
        )
    return Counted(labels, sizes, name)


def _missing(labels: Any) -> Any:
    """Which labels are NaN, NaT, NA or None."""
    if labels.dtype == object:
        return np.array([_is_missing(label) for label in labels])
    return np.isnan(labels) if labels.dtype.kind in "fcmM" else np.zeros(len(labels), dtype=bool)


def _is_missing(label: Any) -> bool:
    # By name: the last two are those of pandas, which may not be installed.
    nothing = type(label).__name__ in ("NoneType", "NAType", "NaTType")
    return nothing or (isinstance(label, Real) and isnan(label))


def _counts_merged(parts: list[Counted]) -> Counted:
    first = parts[0]
    for part in parts[1:]:
        # NumPy would make words of the numbers, and say nothing.
        if _kind(part.labels[0]) != _kind(first.labels[0]):
            raise ValueError(
                f"{first.name} holds {_shown(first.labels[0])} and {part.name} holds "
                f"{_shown(part.labels[0])}, expected labels all of a kind."
            )
    labels, where = np.unique(np.concatenate([p.labels for p in parts]), return_inverse=True)
    counts = np.zeros(len(labels), dtype=np.int64)
    np.add.at(counts, where, np.concatenate([p.sizes for p in parts]))
    return Counted(labels, counts, first.name)


def _shown(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def _kind(label: Any) -> str:
    if isinstance(label, str):
        return "word"
    return "number" if isinstance(label, (Number, np.bool_)) else type(label).__name__


def _some_labels(chunk: list[Any], wanted: Ints) -> Any:
    y, start = np.asarray(chunk[0]), chunk[1]
    low, high = np.searchsorted(wanted, [start, start + len(y)])
    return y[wanted[low:high] - start]


def _heads(block: Block) -> tuple[int, Ints]:
    """The first row and the classes of a block, without its rows."""
    return block.start, block.y


def _piece(both: list[Any], k: tuple[int, int], weights: Floats | None, n: int) -> list[Any]:
    """The comparisons of the anchors in a block, and their weights."""
    found, (start, y) = both
    near, far = found.rows[0, :, : k[0]], found.rows[1, :, : k[1]]
    indices = cross_triplets(near, far)
    given = None if weights is None else weights[y[indices[:, 0]]]
    indices[:, 0] += start
    if given is not None:
        indices, given = indices[given > 0.0], given[given > 0.0]
    if len(indices) == 0:
        # A part of nothing would be a special case everywhere: a comparison of weight 0 is none.
        return [(start + np.arange(3)[None, :]) % n, np.zeros(1)]
    return [indices.astype(np.int32 if n < np.iinfo(np.int32).max else np.int64), given]


def _ignored(_: Any) -> None:
    return None


def _digest(y: Any, classes: Any) -> bytes:
    return array_digest(np.searchsorted(classes, np.asarray(y)))
