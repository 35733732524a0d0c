"""The compiled loops: everything that runs over edges, comparisons or pairs of rows.

Each works on a part given by bounds and releases the interpreter, so that `threads.over` can run
several at once; none of them knows what a metric is. Sums may be reordered by the compiler within
one pair of rows, never across pairs, so results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload

__all__ = [
    "add_sparse_products",
    "add_squared_distances",
    "bent_slopes",
    "bent_sums",
    "bucket_pairs",
    "count_margins",
    "differences",
    "index_edges",
    "keep_nearest",
    "laplacian_rows",
    "list_lower",
    "list_margins",
    "number_pairs",
    "scatter",
]

FLAGS = {"reassoc", "contract", "nsz", "arcp", "nnan"}  # infinities keep their meaning


def compiled(function: Callable[..., Any], flags: set[str] | bool = FLAGS) -> Any:
    """Compile at the first call, and keep the machine code beside the source if possible."""
    options: dict[str, Any] = {"nogil": True, "fastmath": flags, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written to: compiled anew in every process
        return numba.njit(**options)(function)


def strictly(function: Callable[..., Any]) -> Any:
    """Compile what stores a number for each entry: rounded alike wherever the arrays may lie.

    A loop is compiled twice, in vectors and one by one; addresses have a say in which of them runs.
    """
    return compiled(function, flags=False)


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
def differences(d: Any, near: Any, far: Any, low: Any, high: Any, out: Any) -> None:
    """``out[r] = d[far[r]] - d[near[r]]``."""
    for r in range(low, high):
        out[r] = d[far[r]] - d[near[r]]


@compiled
def scatter(w: Any, near: Any, far: Any, out: Any) -> None:
    """``out[far[r]] += w[r]`` and ``out[near[r]] -= w[r]``."""
    for r in range(len(w)):
        if w[r] != 0.0:
            out[far[r]] += w[r]
            out[near[r]] -= w[r]


@compiled
def bent_sums(
    z: Any, c: Any, rho: Any, bend: Any, low: Any, high: Any
) -> tuple[float, float, float]:
    """The sums of ``c[r]`` times value, slope and curvature of a bent loss at ``z[r] - rho``."""
    knee, width, scale = bend
    value = slope = curvature = 0.0
    for r in range(low, high):
        u = knee - (z[r] - rho)
        v = min(max(u, 0.0), width)
        value += c[r] * (v * (2.0 * u - v))
        slope -= c[r] * v
        curvature += c[r] if 0.0 < u < width else 0.0
    return value / scale, 2.0 * slope / scale, 2.0 * curvature / scale


@strictly
def bent_slopes(z: Any, c: Any, rho: Any, bend: Any, low: Any, high: Any, out: Any) -> None:
    """``out[r]``, ``c[r]`` times the slope of a bent loss at ``z[r] - rho``, less the sign."""
    knee, width, scale = bend
    for r in range(low, high):
        out[r] = c[r] * (2.0 * min(max(knee - (z[r] - rho), 0.0), width) / scale)


@compiled
def index_edges(edges: Any, weights: Any, upper: Any, lower: Any) -> int:
    """Where the edges of each lower item begin; how many with weight each higher item has.

    ``upper`` (n_items + 1) are bounds within ``edges``, ``lower`` (n_items + 1) bounds for
    `list_lower`; both begin as zeros. Returns the number of edges with weight.
    """
    n = len(upper) - 1
    for e in range(len(weights)):
        upper[edges[e, 0] + 1] += 1
        if weights[e] != 0.0:
            lower[edges[e, 1] + 1] += 1
    for i in range(n):
        upper[i + 1] += upper[i]
        lower[i + 1] += lower[i]
    return int(lower[n])


@compiled
def list_lower(edges: Any, weights: Any, lower: Any, items: Any, values: Any) -> None:
    """The lower item and the weight of every edge with weight, by its higher item.

    Moves each bound in ``lower`` on to the next one.
    """
    for e in range(len(weights)):
        if weights[e] != 0.0:
            place = lower[edges[e, 1]]
            items[place], values[place] = edges[e, 0], weights[e]
            lower[edges[e, 1]] = place + 1


@compiled
def laplacian_rows(
    edges: Any,
    weights: Any,
    upper: Any,
    lower: Any,
    items: Any,
    values: Any,
    Y: Any,
    low: Any,
    high: Any,
    out: Any,
) -> None:
    """Rows low .. high - 1 of ``sum_e weights_e (e_a - e_b)(e_a - e_b)' Y``."""
    width = Y.shape[1]
    total = np.empty(width, Y.dtype)
    for i in range(low, high):
        total[:] = 0.0
        degree = 0.0
        for e in range(upper[i], upper[i + 1]):
            if weights[e] != 0.0:
                degree += weights[e]
                w, y = Y.dtype.type(weights[e]), Y[edges[e, 1]]
                for c in range(width):
                    total[c] += w * y[c]
        for p in range(lower[i - 1] if i > 0 else 0, lower[i]):
            degree += values[p]
            w, y = Y.dtype.type(values[p]), Y[items[p]]
            for c in range(width):
                total[c] += w * y[c]
        d, y = Y.dtype.type(degree), Y[i]
        for c in range(width):
            out[i, c] = d * y[c] - total[c]


@compiled
def bucket_pairs(indices: Any, near: Any, far: Any, starts: Any, highs: Any, positions: Any) -> int:
    """Sort the near and far pairs of all comparisons by (lower, higher item); count distinct ones.

    ``starts`` (n_items + 2 zeros) becomes the bounds of each lower item's bucket, ``highs`` and
    ``positions`` the higher items and the places of origin (r or m + r), sorted.
    """
    m = len(indices)
    for r in range(m):
        for x, y in (near, far):
            starts[min(indices[r, x], indices[r, y]) + 2] += 1
    for i in range(2, len(starts)):
        starts[i] += starts[i - 1]
    for r in range(m):
        place = r
        for x, y in (near, far):
            i, j = indices[r, x], indices[r, y]
            at = starts[min(i, j) + 1]
            highs[at], positions[at] = max(i, j), place
            starts[min(i, j) + 1] += 1
            place += m
    distinct = 0
    for item in range(len(starts) - 2):
        s, e = starts[item], starts[item + 1]
        for gap in (701, 301, 132, 57, 23, 10, 4, 1):  # Shell's sort: buckets are small
            for k in range(s + gap, e):
                h, p = highs[k], positions[k]
                at = k
                while at >= s + gap and highs[at - gap] > h:
                    highs[at], positions[at] = highs[at - gap], positions[at - gap]
                    at -= gap
                highs[at], positions[at] = h, p
        for k in range(s, e):
            if k == s or highs[k] != highs[k - 1]:
                distinct += 1
    return distinct


@compiled
def number_pairs(starts: Any, highs: Any, positions: Any, edges: Any, numbers: Any) -> None:
    """List the distinct pairs of `bucket_pairs`, and number each place of origin by its pair."""
    edge = -1
    for item in range(len(starts) - 2):
        s, e = starts[item], starts[item + 1]
        for k in range(s, e):
            if k == s or highs[k] != highs[k - 1]:
                edge += 1
                edges[edge, 0], edges[edge, 1] = item, highs[k]
            numbers[positions[k]] = edge


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


@compiled
def count_margins(tile: Any, bottom: Any, step: Any, histogram: Any) -> None:
    """Add the triplets of a tile to a histogram of their margins, from ``bottom`` in bins of step.

    ``norms[c] - 2 products[r, c] - reach[r, t]`` is the margin of row r, its target t and a far
    column c, which is every column with another label. Beyond the last bin they are not counted.
    """
    products, norms, reach, weights, labels, rows, first_column = tile
    bins = len(histogram)
    for r in range(products.shape[0]):
        label = labels[rows[r]]
        most = np.max(reach[r]) + bottom + bins * step
        for c in range(products.shape[1]):
            value = norms[first_column + c] - 2.0 * products[r, c]
            if value < most and labels[first_column + c] != label:
                for t in range(reach.shape[1]):
                    place = (value - reach[r, t] - bottom) / step
                    if place < bins:
                        histogram[max(0, int(place))] += weights[r]


@compiled
def list_margins(tile: Any, limit: Any, out: Any) -> int:
    """List the triplets of a tile whose margin is below ``limit``, as in `count_margins`.

    A triplet is the number ``(row * targets + t) * rows + column``. Returns how many there are,
    which may be more than there is room for in ``out``.
    """
    products, norms, reach, _, labels, rows, first_column = tile
    n, k = len(labels), reach.shape[1]
    found = 0
    for r in range(products.shape[0]):
        row = rows[r]
        most = np.max(reach[r]) + limit
        for c in range(products.shape[1]):
            column = first_column + c
            value = norms[column] - 2.0 * products[r, c]
            if value < most and labels[column] != labels[row]:
                for t in range(k):
                    if value - reach[r, t] < limit:
                        if found < len(out):
                            out[found] = (row * k + t) * n + column
                        found += 1
    return found
