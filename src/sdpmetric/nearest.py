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
from .kernels import keep_nearest
from .products import row_sums, stored
from .progress import Report
from .threads import over

__all__ = ["nearest_by_class"]

_ROWS = 2048  # of a tile, for each thread
_COLUMNS = 1024  # a tile of float32 then fits into the cache
_WHOLE = 1 << 26  # bytes of float32 rows up to which all are kept, not one tile at a time


def nearest_by_class(
    X: Items, y: Ints, n_same: int, n_other: int, report: Report | None = None
) -> tuple[Ints, Ints]:
    """For each row its nearest rows of the same and of other classes, by Euclidean distance.

    Ascending in distance, ties to the lower row index, never the row itself. Where a class has
    too few rows the last columns are -1. ``report(done, n)`` is told how many rows are done.
    """
    n = len(y)
    table = _Table(X)
    k = np.array([n_same, n_other])
    index = np.full((2, n, int(k.max())), -1, dtype=np.int64)

    def scan(start: int, part: slice) -> None:
        for first in range(start + part.start, start + part.stop, _ROWS):
            block = slice(first, min(first + _ROWS, start + part.stop))
            A, own = table.rows(block), table.lower[block].astype(np.float64)
            best = np.full((2, len(own), index.shape[2]), np.inf)
            nearest = np.full(best.shape, -1, dtype=np.int64)
            for column in range(0, n, _COLUMNS):
                products = table.products(A, slice(column, min(column + _COLUMNS, n)))
                keep_nearest(
                    *(table.stored, table.unit, products, table.lower, own, y),
                    *(block.start, column, k, best, nearest),
                )
            index[:, block] = nearest

    step = 4 * _ROWS
    for start in range(0, n, step):
        stop = min(start + step, n)
        over(stop - start, partial(scan, start), 64)
        if report is not None:
            report(stop, n)
    return index[0, :, :n_same], index[1, :, :n_other]


class _Table:
    """Rows as float32, centred and of moderate size, and bounds on what rounding does to them."""

    def __init__(self, X: Items) -> None:
        self.X, self.stored = X, stored(X)
        self.sparse = sp.issparse(X)
        if self.sparse:
            self.mean: Any = 0.0
            size = float(np.abs(X.data).max(initial=0.0))
            terms = int(np.diff(X.indptr).max(initial=0))
        else:
            self.mean = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
            size = float(max(np.max(X.max(axis=0) - self.mean), np.max(self.mean - X.min(axis=0))))
            terms = X.shape[1]
        # A power of two, so that nothing is rounded: the largest entry becomes 1 to 2.
        self.factor = 2.0 ** -math.frexp(size)[1] if size > 0.0 else 1.0
        self.unit = self.factor**2
        self.whole: Any = None
        n, D = X.shape
        if self.sparse or 4 * n * D <= _WHOLE:
            self.whole = self.rows(slice(0, n))
        norms = np.concatenate(
            [_squares(self.rows(slice(a, min(a + _ROWS, n)))) for a in range(0, n, _ROWS)]
        )
        # A product of D terms is off by at most D eps |a||b|, entries and norms by a few eps.
        slack = (terms + 16) * float(np.finfo(np.float32).eps)
        self.lower = ((1.0 - slack) * norms).astype(np.float32)

    def rows(self, rows: slice) -> Any:
        if self.whole is not None:
            return self.whole[rows]
        if self.sparse:
            return (self.X[rows] * self.factor).astype(np.float32)
        block = self.X[rows] - self.mean
        block *= block.dtype.type(self.factor)
        return block.astype(np.float32, copy=False)

    def products(self, A: Any, columns: slice) -> Dense:
        tile: Any = A @ self.rows(columns).T
        dense: Dense = tile.toarray() if self.sparse else tile
        return dense


def _squares(rows: Any) -> Floats:
    if sp.issparse(rows):
        return row_sums(rows.astype(np.float64).power(2))
    squares: Floats = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return squares
