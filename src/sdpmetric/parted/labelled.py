"""Labelled rows in chunks: their classes, the search for neighbours, and pieces of comparisons."""

from __future__ import annotations

from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np

from .._support.typing import Floats, Ints
from ..engines.dask_arrays import RowChunks, is_dask
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
            lengths = tuple(int(n) for n in np.diff(self.chunks.bounds))
            self.y = RowChunks(y if y.ndim != 1 else _aligned(y, lengths), "y", self.engine, 1)
            n = self.y.shape[0]
        else:
            self.given = np.asarray(y)
            if self.given.ndim != 1:
                raise ValueError(f"y must have one label per row, got shape {self.given.shape}.")
            n = len(self.given)
        if n != rows.shape[0]:
            raise ValueError(f"y must have one label per row of X, {rows.shape[0]}, got {n}.")
        if self.y is not None and not np.array_equal(self.y.bounds, self.chunks.bounds):
            raise ValueError(
                "y is divided into other chunks than the rows of X, expected the same."
            )
        found, self.sizes = again(self._count)
        self.classes = as_labels(found)[0]

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

    def _count(self) -> tuple[Any, Ints]:
        engine = self.engine
        counts = engine.reduce(_counts_merged, engine.map(_counts, self._labels()))
        both: tuple[Any, Ints] = engine.collect([counts])[0]
        return both

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


def _aligned(y: Any, lengths: tuple[int, ...]) -> Any:
    """Labels in chunks of the same lengths as those of X."""
    known = not np.isnan(np.array(y.chunks[0], dtype=np.float64)).any()
    return y.rechunk((lengths,)) if known and sum(y.chunks[0]) == sum(lengths) else y


def _counts(y: Any) -> tuple[Any, Ints]:
    try:
        labels, counts = np.unique(np.asarray(y), return_counts=True)
    except TypeError as error:
        raise ValueError(f"y must hold one class label per row, all of a kind. {error}") from None
    return labels, counts


def _counts_merged(parts: list[tuple[Any, Ints]]) -> tuple[Any, Ints]:
    labels, where = np.unique(np.concatenate([p[0] for p in parts]), return_inverse=True)
    counts = np.zeros(len(labels), dtype=np.int64)
    np.add.at(counts, where, np.concatenate([p[1] for p in parts]))
    return labels, counts


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
