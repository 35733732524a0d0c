"""Step lengths along ``M + alpha (V V' - M)``, where F is concave in alpha."""

from __future__ import annotations

from scipy.optimize import brentq

from ..problem.protocols import Line

__all__ = ["best_step", "wolfe_step"]

_MAX_TRIALS = 60  # 2^-60 of a step is below rounding


def best_step(line: Line) -> float:
    """Return the alpha in [0, 1] where F is largest: the root of its slope."""

    def slope(alpha: float) -> float:
        return line(alpha)[1]

    if slope(0.0) <= 0.0:
        return 0.0
    if slope(1.0) >= 0.0:
        return 1.0
    # Three digits: alpha is only the first weight of new columns, which L-BFGS then improves.
    return float(brentq(slope, 0.0, 1.0, xtol=1e-12, rtol=1e-3))


def wolfe_step(line: Line, value: float, slope: float, c1: float, c2: float) -> float:
    """Return the paper's step (eq. 13): halve alpha until both Wolfe conditions hold.

    Halving alone can jump over the second condition (the slope changes from too negative to too
    positive), so once a trial falls short on the other side the interval is bisected.
    ``value`` and ``slope`` are those of F at alpha = 0; F is maximised.
    """
    if not slope > 0.0:
        return 0.0
    low, high, alpha = 0.0, 1.0, 1.0
    for _ in range(_MAX_TRIALS):
        trial_value, trial_slope = line(alpha)
        enough = trial_value >= value + c1 * alpha * slope
        # alpha = 1 is the end of the line: F may still rise there.
        if enough and (abs(trial_slope) <= c2 * slope or (alpha == 1.0 and trial_slope > 0.0)):
            return alpha
        if enough and trial_slope > 0.0:
            low = alpha
        else:
            high = alpha
        alpha = 0.5 * (low + high)
    # Rounding hides the conditions: the longest step that satisfied the first one, or none.
    return low
