"""Pairs of rows: their distances, and the nearest ones of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from .compiling import FLAGS, compiled

__all__ = [
    "add_sparse_products",
    "add_squared_distances",
    "keep_nearest",
    "squared_distance",
]


def _dense_distance(X: Any, i: Any, Y: Any, j: Any) -> float:
    total = 0.0
    for c in range(X.shape[1]):
        d = np.float64(X[i, c]) - np.float64(Y[j, c])
        total += d * d
    return total


def _sparse_distance(X: Any, i: Any, Y: Any, j: Any) -> float:
    data, indices, indptr = X
    others, columns, bounds = Y
    total = 0.0
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


@compiled
def add_squared_distances(X: Any, Y: Any, a: Any, b: Any, low: Any, high: Any, out: Any) -> None:
    """``out[e] += |X[a[e]] - Y[b[e]]|^2`` for low <= e < high."""
    for e in range(low, high):
        out[e] += squared_distance(X, a[e], Y, b[e])


@compiled
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
    """Take a tile of inner products into the nearest rows so far, exactly.

    The squared distance of row r and column c of the tile, times ``unit``, is at least ``lower[c] +
    own[r] - 2 products[r, c]``; only where that could matter is it computed from X itself.
    ``best[g, r]`` and ``index[g, r]`` are the ``k[g]`` nearest rows of the same (g = 0) and of
    other labels (g = 1), ascending; ties go to the lower row.
    """
    width = products.shape[1]
    for r in range(products.shape[0]):
        row = first_row + r
        label = labels[row]
        reach = unit * max(best[0, r, k[0] - 1], best[1, r, k[1] - 1]) - own[r]
        for start in range(0, width, 32):
            stop = min(start + 32, width)
            least = lower[first_column + start] - 2 * products[r, start]
            for c in range(start + 1, stop):
                least = min(least, lower[first_column + c] - 2 * products[r, c])
            if least > reach:
                continue
            for c in range(start, stop):
                column = first_column + c
                bound = np.float64(lower[column] - 2 * products[r, c])
                if bound > reach or column == row:
                    continue
                g = 0 if labels[column] == label else 1
                at = k[g] - 1
                if bound > unit * best[g, r, at] - own[r]:
                    continue
                distance = squared_distance(X, row, X, column)
                if distance >= best[g, r, at]:
                    continue
                while at > 0 and best[g, r, at - 1] > distance:
                    best[g, r, at], index[g, r, at] = best[g, r, at - 1], index[g, r, at - 1]
                    at -= 1
                best[g, r, at], index[g, r, at] = distance, column
                reach = unit * max(best[0, r, k[0] - 1], best[1, r, k[1] - 1]) - own[r]


@compiled
def add_sparse_products(rows: Any, features: Any, first: Any, out: Any) -> None:
    """Add the inner products of CSR rows from ``first`` on with all rows, given by feature."""
    data, indices, indptr = rows
    values, where, bounds = features
    for r in range(out.shape[0]):
        for p in range(indptr[first + r], indptr[first + r + 1]):
            v = data[p]
            for q in range(bounds[indices[p]], bounds[indices[p] + 1]):
                out[r, where[q]] += v * values[q]
