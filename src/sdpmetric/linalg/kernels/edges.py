"""The edges that comparisons share: their numbering, sums along them and their Laplacian."""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import jit, jit_reproducible

__all__ = [
    "add_laplacian",
    "bucket_pairs",
    "differences",
    "index_edges",
    "laplacian_rows",
    "list_lower",
    "number_pairs",
    "scatter",
    "scatter_sums",
]


@jit
def bucket_pairs(indices: Any, near: Any, far: Any, starts: Any, highs: Any, positions: Any) -> int:
    """Sort the near and far pairs of all comparisons by (lower, higher item); count distinct ones.

    ``starts`` (n_items + 2 zeros) becomes the bounds of each lower item's bucket, ``highs`` and
    ``positions`` the higher items and the places of origin (r or m + r), sorted.
    """
    m = len(indices)
    # 1. Counting sort by the lower item: two passes, no comparison. Counts stand two places on, so
    #    that after the running sum starts[i + 1] is where the bucket of item i begins; writing
    #    moves it on to where the next one begins, which is what starts[i + 1] shall be.
    for r in range(m):
        for x, y in (near, far):
            starts[min(indices[r, x], indices[r, y]) + 2] += 1
    for i in range(2, len(starts)):
        starts[i] += starts[i - 1]
    # 2. Each pair into its bucket, with the place that it comes from.
    for r in range(m):
        place = r
        for x, y in (near, far):
            i, j = indices[r, x], indices[r, y]
            at = starts[min(i, j) + 1]
            highs[at], positions[at] = max(i, j), place
            starts[min(i, j) + 1] += 1
            place += m
    # 3. Each bucket by the higher item. Buckets hold tens of pairs, sometimes thousands: Shell's
    #    sort needs no memory, no recursion, and no call per bucket. (The gaps are Ciura's.)
    distinct = 0
    for item in range(len(starts) - 2):
        s, e = starts[item], starts[item + 1]
        for gap in (701, 301, 132, 57, 23, 10, 4, 1):
            for k in range(s + gap, e):
                h, p = highs[k], positions[k]
                at = k
                while at >= s + gap and highs[at - gap] > h:
                    highs[at], positions[at] = highs[at - gap], positions[at - gap]
                    at -= gap
                highs[at], positions[at] = h, p
        # 4. Equal pairs now stand together.
        for k in range(s, e):
            if k == s or highs[k] != highs[k - 1]:
                distinct += 1
    return distinct


@jit
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


@jit
def differences(d: Any, near: Any, far: Any, low: Any, high: Any, out: Any) -> None:
    """``out[r] = d[far[r]] - d[near[r]]``."""
    near, far, out = near[low:high], far[low:high], out[low:high]
    for r in range(len(near)):
        out[r] = d[np.uint64(far[r])] - d[np.uint64(near[r])]


@jit
def scatter(w: Any, near: Any, far: Any, out: Any) -> None:
    """``out[far[r]] += w[r]`` and ``out[near[r]] -= w[r]``."""
    # One thread, since comparisons that share an edge add to the same number. Most slopes are zero.
    for r in range(len(w)):
        if w[r] != 0.0:
            out[np.uint64(far[r])] += w[r]
            out[np.uint64(near[r])] -= w[r]


@jit
def scatter_sums(w: Any, near: Any, far: Any, d: Any, out: Any) -> tuple[float, float]:
    """`scatter`, and ``sum_r w[r] d[far[r]]`` and ``sum_r w[r]`` in the same pass."""
    far_sum = total = 0.0
    for r in range(len(w)):
        if w[r] != 0.0:
            longer = np.uint64(far[r])
            out[longer] += w[r]
            out[np.uint64(near[r])] -= w[r]
            far_sum += w[r] * d[longer]
            total += w[r]
    return far_sum, total


@jit
def index_edges(edges: Any, weights: Any, upper: Any, lower: Any) -> int:
    """Find where the edges of each lower item begin, and count those with weight per higher item.

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


@jit
def list_lower(edges: Any, weights: Any, lower: Any, items: Any, values: Any) -> None:
    """List lower item and weight of every edge with weight, sorted by the higher item.

    Writing moves each bound in ``lower`` on to the next one, so that no copy of them is needed.
    """
    for e in range(len(weights)):
        if weights[e] != 0.0:
            place = lower[edges[e, 1]]
            items[place], values[place] = edges[e, 0], weights[e]
            lower[edges[e, 1]] = place + 1


@jit_reproducible
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
    """Fill ``out`` with rows low .. high - 1 of ``sum_e weights_e (e_a - e_b)(e_a - e_b)' Y``.

    In the precision of ``out``, which may be more than that of Y.
    """
    width = Y.shape[1]
    # Differences before sums: an offset that all rows share, such as a time stamp's, then cancels
    # in y itself. As ``degree y - sum`` it would leave its rounding behind, times the offset of X.
    total = np.empty(width, out.dtype)
    for i in range(low, high):
        total[:] = 0.0
        own = Y[i]
        for e in range(upper[i], upper[i + 1]):
            if weights[e] != 0.0:
                w, y = out.dtype.type(weights[e]), Y[np.uint64(edges[e, 1])]
                for c in range(width):
                    total[c] += w * (out.dtype.type(own[c]) - y[c])
        # `list_lower` moved the bounds on by one item.
        for p in range(lower[i - 1] if i > 0 else 0, lower[i]):
            w, y = out.dtype.type(values[p]), Y[np.uint64(items[p])]
            for c in range(width):
                total[c] += w * (out.dtype.type(own[c]) - y[c])
        out[i - low] = total


@jit_reproducible
def add_laplacian(edges: Any, weights: Any, Y: Any, out: Any) -> None:
    """Add ``sum_e weights_e (e_a - e_b)(e_a - e_b)' Y`` to ``out``, edge by edge."""
    width = Y.shape[1]
    for e in range(len(weights)):
        w = Y.dtype.type(weights[e])
        if w != 0.0:
            a, b = np.uint64(edges[e, 0]), np.uint64(edges[e, 1])
            for c in range(width):
                change = w * (Y[a, c] - Y[b, c])
                out[a, c] += change
                out[b, c] -= change
