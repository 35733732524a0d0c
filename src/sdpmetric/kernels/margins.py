"""Margins: what a loss makes of given ones, and those of all triplets in a tile of products."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import compiled, strictly

__all__ = [
    "bent_slopes",
    "bent_sums",
    "count_margins",
    "list_margins",
]


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
