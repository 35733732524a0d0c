"""Margins: sums of a loss over given margins, and margins of all triplets in a tile."""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import jit, jit_reproducible

__all__ = [
    "bin_margins",
    "count_margins",
    "fill_margins",
    "first_bracket",
    "list_margins",
    "next_rho",
    "parabola_rho",
    "parabola_slopes",
    "parabola_sums",
]

# On sum(w) - 1, a few hundred eps: sums of many slopes are not more exact. F is flat at rho*, so an
# error of e in rho costs only e^2 in the objective.
_TOLERANCE = 1e-13
_MAX_TRIALS = 200  # doubling and bisection alone need about 100; Newton needs a few


@jit
def parabola_sums(z: Any, c: Any, rho: Any, parabola: Any) -> tuple[float, float, float]:
    """Sum ``c[r]`` times value, slope and curvature of a loss at ``z[r] - rho``.

    The loss is a parabola between its knee and its tangent; see `problem.losses.parabola`.
    """
    knee, width, scale = parabola
    value = slope = curvature = 0.0
    for r in range(len(z)):
        u = knee - (z[r] - rho)
        v = min(max(u, 0.0), width)
        value += c[r] * (v * (2.0 * u - v))
        slope -= c[r] * v
        curvature += c[r] if 0.0 < u < width else 0.0
    return value / scale, 2.0 * slope / scale, 2.0 * curvature / scale


@jit_reproducible
def first_bracket(guess: Any) -> Any:
    """Return where the search for the best rho starts; see `next_rho`."""
    return max(guess, 0.0), 0.0, np.inf, 1.0, False, 0


@jit_reproducible
def next_rho(bracket: Any, slopes: Any, curvature: Any) -> Any:
    """Return the next bracket of the best rho, and whether its rho is the answer.

    ``bracket`` is (rho, low, high, step, at_zero, trials): the last rho tried, the ends between
    which the root lies, the next step to the right while there is no right end, whether zero was
    tried, and how many were. ``slopes`` and ``curvature`` are sums over comparisons at rho.
    """
    rho, low, high, step, at_zero, trials = bracket
    # 1. The derivative is -e. At a root, or at zero where it already falls, this is rho*.
    e = -slopes - 1.0
    if abs(e) <= _TOLERANCE or (rho == 0.0 and e > 0.0):
        return bracket, True
    # 2. The bracket: the root is left of rho where e > 0, right of it where e < 0.
    at_zero = at_zero or rho == 0.0
    if e > 0.0:
        high = rho
    else:
        low = rho
    # 3. Newton's step if it stays inside the bracket. To the right, where there may be no end
    #    yet, it is not trusted beyond a hundred steps: curvature can be close to zero there.
    newton = rho - e / curvature if curvature > 0.0 else np.inf
    if low < newton < min(high, low + 100.0 * step):
        rho = newton
    elif not at_zero and e > 0.0:
        # 4. Newton leaves the bracket to the left, most likely because rho* = 0. Halving the
        #    bracket would approach zero for ever: one evaluation there decides.
        rho = 0.0
    elif high == np.inf:
        # 5. No right end yet: look for one, doubling the step.
        rho, step = low + step, 2.0 * step
    else:
        # 6. Newton's step is useless (no curvature, or outside): halve the bracket.
        rho = 0.5 * (low + high)
    # 4e-16 is about two spacings of float64: no number is left between the ends. The answer is the
    # right one: there sum(w) >= 1, which the dual bound needs.
    last = trials == _MAX_TRIALS or (high < np.inf and high - low <= 4e-16 * high)
    if last and high < np.inf:
        rho = high
    return (rho, low, high, step, at_zero, trials + 1), last


@jit_reproducible
def parabola_rho(z: Any, c: Any, guess: Any, parabola: Any) -> tuple[float, float, float]:
    """Return the best rho of such a loss, by the steps of `next_rho`; the loss, its curvature."""
    bracket, done = first_bracket(guess), False
    rho = value = curvature = 0.0
    while not done:
        rho = bracket[0]
        value, slopes, curvature = parabola_sums(z, c, rho, parabola)
        bracket, done = next_rho(bracket, slopes, curvature)
    if rho != bracket[0]:  # the last step was not tried
        rho = bracket[0]
        value, slopes, curvature = parabola_sums(z, c, rho, parabola)
    return rho, value, curvature


@jit_reproducible
def parabola_slopes(z: Any, c: Any, rho: Any, parabola: Any, out: Any) -> None:
    """``out[r] = c[r] |slope|`` of such a loss at ``z[r] - rho``."""
    knee, width, scale = parabola
    for r in range(len(z)):
        out[r] = c[r] * (2.0 * min(max(knee - (z[r] - rho), 0.0), width) / scale)


@jit
def bin_margins(z: Any, c: Any, low: Any, step: Any, out: Any) -> None:
    """Add ``c[r]`` and ``c[r] (z[r] - low)`` to the bin of margin ``z[r]``.

    Bins begin at ``low`` and have the width ``step``; the first and the last one are open.
    """
    bins = out.shape[1]
    for r in range(len(z)):
        place = (z[r] - low) / step
        at = int(min(max(place, 0.0), bins - 1.0))
        out[0, at] += c[r]
        out[1, at] += c[r] * (z[r] - low)


@jit
def count_margins(tile: Any, bottom: Any, step: Any, histogram: Any) -> None:
    """Add the triplets of a tile to a histogram of their margins, from ``bottom`` in bins of step.

    ``norms[c] - 2 products[r, c] - reach[r, t]`` is the margin of row r, its target t and a far
    column c, which is every column with another label. Margins beyond the last bin are not counted,
    those below ``bottom`` are counted in the first.
    """
    products, norms, reach, weights, labels, rows, first_column = tile
    bins = len(histogram)
    for r in range(products.shape[0]):
        label = labels[rows[r]]
        # Beyond this no target of the row counts: one comparison a column skips nearly all.
        most = np.max(reach[r]) + bottom + bins * step
        for c in range(products.shape[1]):
            value = norms[first_column + c] - 2.0 * products[r, c]
            if value < most and labels[first_column + c] != label:
                for t in range(reach.shape[1]):
                    # A missing target has reach -inf, so its place is inf and it is not counted.
                    place = (value - reach[r, t] - bottom) / step
                    if place < bins:
                        histogram[max(0, int(place))] += weights[r]


@jit
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


@jit_reproducible
def fill_margins(tile: Any, target: Any, rho: Any, beyond: Any, out: Any) -> None:
    """Write the margins of a tile and one target less rho; margins as in `count_margins`.

    ``beyond`` stands for all larger numbers, and for columns that make no triplet.
    """
    products, norms, reach, _, labels, rows, first_column = tile
    width = products.shape[1]
    norms, labels_here = norms[first_column:][:width], labels[first_column:][:width]
    for r in range(products.shape[0]):
        label, least, row, filled = labels[rows[r]], reach[r, target] + rho, products[r], out[r]
        for c in range(width):
            value = norms[c] - 2.0 * row[c] - least
            # In this order NaN stays NaN: it must not pass for a comparison that is satisfied.
            value = beyond if value >= beyond else value
            filled[c] = beyond if labels_here[c] == label else value
