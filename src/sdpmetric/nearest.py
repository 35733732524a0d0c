"""The nearest rows of the same and of other classes, exactly, by blocked matrix products.

Products of float32 rows bound every distance from below; a distance that could matter is computed
from the rows themselves, in float64. So the answer, ties included, does not depend on rounding,
threads or block sizes, and what is kept is a tile of products and the nearest rows so far: X may
be a memory map.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._typing import Dense, Floats, Ints, Items
from .kernels.rows import add_sparse_products, keep_nearest
from .products import extremes, squared_norms, stored
from .progress import Report
from .threads import over

__all__ = ["Centred", "nearest_by_class"]

_WHOLE = 1 << 26  # bytes of float32 rows up to which all are kept, not one tile at a time


def nearest_by_class(
    X: Items, y: Ints, n_same: int, n_other: int, report: Report | None = None
) -> tuple[Ints, Ints]:
    """For each row its nearest rows of the same and of other classes, by Euclidean distance.

    Ascending in distance, ties to the lower row index, never the row itself. Where a class has
    too few rows the last columns are -1. ``report(done, n)`` is told how many rows are done.
    """
    n = len(y)
    table: Any = _SparseTable(X) if sp.issparse(X) else _DenseTable(X)
    k = np.array([n_same, n_other])
    index = np.full((2, n, int(k.max())), -1, dtype=np.int64)
    rows = stored(X)

    def scan(start: int, part: slice) -> None:
        room = np.empty(table.tile[0] * min(table.tile[1], n), dtype=np.float32)
        for first in range(start + part.start, start + part.stop, table.tile[0]):
            block = slice(first, min(first + table.tile[0], start + part.stop))
            A, own = table.rows(block), table.lower[block].astype(np.float64)
            best = np.full((2, len(own), index.shape[2]), np.inf)
            nearest = np.full(best.shape, -1, dtype=np.int64)
            for column in range(0, n, table.tile[1]):
                products = table.products(A, slice(column, min(column + table.tile[1], n)), room)
                keep_nearest(
                    *(rows, table.unit, products, table.lower, own, y),
                    *(block.start, column, k, best, nearest),
                )
            index[:, block] = nearest

    step = 4 * table.tile[0]
    for start in range(0, n, step):
        stop = min(start + step, n)
        over(stop - start, partial(scan, start), 64)
        if report is not None:
            report(stop, n)
    return index[0, :, :n_same], index[1, :, :n_other]


class Centred:
    """Dense rows as float32, less their mean and of moderate size, so that squares fit."""

    def __init__(self, X: Dense) -> None:
        self.X = X
        self.mean = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
        low, high = extremes(X)
        size = float(max(np.max(high - self.mean), np.max(self.mean - low)))
        self.factor, self.unit = _moderate(size)

    def rows(self, rows: slice | Ints) -> Dense:
        block = self.X[rows] - self.mean
        block *= block.dtype.type(self.factor)
        return np.ascontiguousarray(block, dtype=np.float32)


class _DenseTable(Centred):
    """All rows, and bounds on what rounding does to them."""

    tile = 2048, 1024  # rows of a thread, and columns: a tile of float32 then fits into the cache
    small = 512, 1024  # where rows are not converted again for every tile

    def __init__(self, X: Dense) -> None:
        super().__init__(X)
        n, D = X.shape
        self.whole: Dense | None = None
        if 4 * n * D <= _WHOLE:
            self.whole = self.rows(slice(0, n))
            self.tile = min(self.tile, self.small)
        blocks = [slice(a, min(a + self.tile[0], n)) for a in range(0, n, self.tile[0])]
        squares = np.concatenate([squared_norms(self.rows(block)) for block in blocks])
        self.lower = _lower(squares, D)

    def rows(self, rows: slice | Ints) -> Dense:
        return super().rows(rows) if self.whole is None else self.whole[rows]

    def products(self, A: Dense, columns: slice, room: Dense) -> Dense:
        B = self.rows(columns)
        tile = room[: len(A) * len(B)].reshape(len(A), len(B))
        return np.matmul(A, B.T, out=tile)


class _SparseTable:
    """The same for CSR rows, which are not centred; products go by feature, not by row."""

    def __init__(self, X: Items) -> None:
        self.tile = 128, X.shape[0]
        factor, self.unit = _moderate(float(np.abs(X.data).max(initial=0.0)))
        scaled = sp.csr_array(X)
        scaled.data = (X.data * X.dtype.type(factor)).astype(np.float32)
        by_feature = scaled.tocsc()
        self.by_row, self.by_feature = stored(scaled), stored(by_feature)
        self.lower = _lower(squared_norms(scaled), int(np.diff(X.indptr).max(initial=0)))

    def rows(self, rows: slice) -> slice:
        return rows

    def products(self, rows: slice, columns: slice, room: Dense) -> Dense:
        shape = rows.stop - rows.start, columns.stop
        tile = room[: shape[0] * shape[1]].reshape(shape)
        tile[:] = 0.0
        add_sparse_products(self.by_row, self.by_feature, rows.start, tile)
        return tile


def _moderate(size: float) -> tuple[float, float]:
    """A power of two that makes entries of this size about 1, rounding nothing; its square."""
    factor = 2.0 ** -math.frexp(size)[1] if size > 0.0 else 1.0
    return factor, factor**2


def _lower(squares: Floats, terms: int) -> Dense:
    """Squared norms, less what rounding may do to a distance on their account.

    A product of D terms is off by at most D eps |a||b|, entries and norms by a few eps, and each
    term by what is lost below the smallest normal number.
    """
    info = np.finfo(np.float32)
    slack, lost = ((terms + 16) * float(unit) for unit in (info.eps, 2.0 * info.tiny))
    return ((1.0 - slack) * squares - lost).astype(np.float32)
