"""Pairs of rows: their distances, and the nearest rows of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from .jit import FLAGS, jit, jit_reproducible

__all__ = [
    "add_sparse_products",
    "add_squared_distances",
    "keep_nearest",
    "nearest_columns",
    "sparse_extremes",
    "squared_distance",
]

_RUN = 32  # columns that are looked at together: four vectors of eight float32


def _dense_distance(X: Any, i: Any, Y: Any, j: Any) -> float:
    total = 0.0
    for c in range(X.shape[1]):
        # float64 before the difference: rounded float32 differences could create ties.
        d = np.float64(X[i, c]) - np.float64(Y[j, c])
        total += d * d
    return total


def _sparse_distance(X: Any, i: Any, Y: Any, j: Any) -> float:
    data, indices, indptr = X
    others, columns, bounds = Y
    total = 0.0
    # Merge two sorted lists of columns; a column in both moves both on.
    a, b = indptr[i], bounds[j]
    while a < indptr[i + 1] or b < bounds[j + 1]:
        d = 0.0
        left = b == bounds[j + 1] or (a < indptr[i + 1] and indices[a] <= columns[b])
        right = a == indptr[i + 1] or (b < bounds[j + 1] and columns[b] <= indices[a])
        if left:
            d += data[a]
            a += 1
        if right:
            d -= others[b]
            b += 1
        total += d * d
    return total


def squared_distance(X: Any, i: Any, Y: Any, j: Any) -> float:
    """``|X[i] - Y[j]|^2`` in float64; both dense, or CSR as (data, indices, indptr), sorted."""
    return _sparse_distance(X, i, Y, j) if isinstance(X, tuple) else _dense_distance(X, i, Y, j)


@overload(squared_distance, jit_options={"nogil": True, "fastmath": FLAGS})
def _squared_distance(X: Any, i: Any, Y: Any, j: Any) -> Any:
    """The same choice, made when a loop that calls it is compiled."""
    return _sparse_distance if isinstance(X, types.BaseTuple) else _dense_distance


@jit
def add_squared_distances(X: Any, Y: Any, a: Any, b: Any, low: Any, high: Any, out: Any) -> None:
    """``out[e] += |X[a[e]] - Y[b[e]]|^2`` for low <= e < high."""
    a, b, out = a[low:high], b[low:high], out[low:high]
    for e in range(len(a)):
        out[e] += squared_distance(X, np.uint64(a[e]), Y, np.uint64(b[e]))


@jit
def keep_nearest(
    X: Any,
    unit: Any,
    products: Any,
    lower: Any,
    own: Any,
    labels: Any,
    first_row: Any,
    first_column: Any,
    k: Any,
    best: Any,
    index: Any,
) -> None:
    """Update the nearest rows so far by a tile of inner products, exactly.

    The squared distance of row r and column c of the tile, times ``unit``, is at least ``lower[c] +
    own[r] - 2 products[r, c]``; the distance itself is computed from X only
    if this bound is small enough.
    ``best[g, r]`` and ``index[g, r]`` are the ``k[g]`` nearest rows of the same (g = 0) and of
    other labels (g = 1), ascending; ties go to the lower row.
    """
    width = products.shape[1]
    for r in range(products.shape[0]):
        row = first_row + r
        label = labels[row]
        # 1. How far a column may be and still matter: beyond the worst of the nearest of both
        #    kinds nothing can enter. ``own[r]`` is taken to this side, out of the inner loop.
        reach = unit * max(best[0, r, k[0] - 1], best[1, r, k[1] - 1]) - own[r]
        for start in range(0, width, _RUN):
            stop = min(start + _RUN, width)
            # 2. The least bound of a run of columns, without a branch, so that it is vectorised.
            #    Nearly every run ends here.
            least = lower[first_column + start] - 2 * products[r, start]
            for c in range(start + 1, stop):
                least = min(least, lower[first_column + c] - 2 * products[r, c])
            if least > reach:
                continue
            # 3. Some column of the run may matter: look at each.
            for c in range(start, stop):
                column = first_column + c
                bound = np.float64(lower[column] - 2 * products[r, c])
                if bound > reach or column == row:
                    continue
                # 4. Against the worst of its own kind, which may be nearer than ``reach`` says.
                g = 0 if labels[column] == label else 1
                at = k[g] - 1
                if bound > unit * best[g, r, at] - own[r]:
                    continue
                # 5. The distance itself, in float64 from the rows. An equal one does not enter:
                #    columns come in ascending order, so the lower row is there already.
                distance = squared_distance(X, row, X, column)
                if distance >= best[g, r, at]:
                    continue
                # 6. Insert it, move the rest one place on, and reach less far from now on.
                while at > 0 and best[g, r, at - 1] > distance:
                    best[g, r, at], index[g, r, at] = best[g, r, at - 1], index[g, r, at - 1]
                    at -= 1
                best[g, r, at], index[g, r, at] = distance, column
                reach = unit * max(best[0, r, k[0] - 1], best[1, r, k[1] - 1]) - own[r]


@jit
def nearest_columns(products: Any, norms: Any, own: Any, best: Any, index: Any) -> None:
    """Find the columns of least ``norms[c] - 2 products[r, c]`` for each row r, ascending.

    ``index`` is (rows, k), and ``best``, of k numbers, is work space. Ties go to the lower column.
    Column ``own[r]`` is left out, unless it is negative.
    """
    k = index.shape[1]
    width = products.shape[1]
    for r in range(products.shape[0]):
        best[:] = np.inf
        for start in range(0, width, _RUN):
            stop = min(start + _RUN, width)
            # As in `keep_nearest`: nearly every run ends with its least entry.
            least = norms[start] - 2 * products[r, start]
            for c in range(start + 1, stop):
                least = min(least, norms[c] - 2 * products[r, c])
            if least >= best[k - 1]:
                continue
            for c in range(start, stop):
                distance = norms[c] - 2 * products[r, c]
                at = k - 1
                if distance >= best[at] or c == own[r]:
                    continue
                while at > 0 and best[at - 1] > distance:
                    best[at], index[r, at] = best[at - 1], index[r, at - 1]
                    at -= 1
                best[at], index[r, at] = distance, c


@jit_reproducible  # the flags of the others would let the compiler assume that there is no NaN
def sparse_extremes(data: Any, indices: Any, low: Any, high: Any, counts: Any) -> None:
    """Find the least, the largest and the number of stored entries per column; NaN stays NaN."""
    for p in range(len(data)):
        c, v = indices[p], data[p]
        counts[c] += 1
        if v < low[c] or np.isnan(v):
            low[c] = v
        if v > high[c] or np.isnan(v):
            high[c] = v


@jit
def add_sparse_products(rows: Any, features: Any, first: Any, out: Any) -> None:
    """Add the inner products of CSR rows from ``first`` on with all rows, given by feature."""
    # By feature: only pairs of rows that share a feature cost anything.
    data, indices, indptr = rows
    values, where, bounds = features
    for r in range(out.shape[0]):
        for p in range(indptr[first + r], indptr[first + r + 1]):
            v = data[p]
            for q in range(bounds[indices[p]], bounds[indices[p] + 1]):
                out[r, where[q]] += v * values[q]
