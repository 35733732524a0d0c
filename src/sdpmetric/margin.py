"""The best margin: ``rho* = argmax_{rho >= 0} rho - sum_r c_r loss(z_r - rho)``.

The derivative, ``1 - sum_r w_r`` with ``w_r = c_r |loss'(z_r - rho)|``, falls as rho grows, so
rho* is the root of a monotone function of one variable. Newton's step, kept inside a bracket,
ends after finitely many steps where slopes are piecewise linear (squared hinge, Huber).
"""

from __future__ import annotations

import numpy as np

from ._typing import Floats
from .losses import Loss

__all__ = ["best_rho"]

_TOLERANCE = 1e-13  # on sum(w) - 1; an error of e in rho costs only e^2 in the objective
_MAX_STEPS = 200  # bisection alone needs about 100


def best_rho(z: Floats, c: Floats, loss: Loss, guess: float = 0.0) -> float:
    """Return rho*, to rounding; ``guess`` is where Newton's method starts."""

    def excess(rho: float) -> float:
        return -float(c @ loss.slope(z - rho)) - 1.0

    low, high, at_zero = 0.0, np.inf, False
    rho, step = max(guess, 0.0), 1.0
    for _ in range(_MAX_STEPS):
        e = excess(rho)
        if abs(e) <= _TOLERANCE or (rho == 0.0 and e > 0.0):
            return rho
        at_zero = at_zero or rho == 0.0
        low, high = (low, rho) if e > 0.0 else (rho, high)
        if high < np.inf and high - low <= 4e-16 * high:
            break
        curvature = float(c @ loss.curvature(z - rho))
        newton = rho - e / curvature if curvature > 0.0 else np.nan
        if low < newton < min(high, low + 100.0 * step):
            rho = newton
        elif not at_zero and e > 0.0:
            rho = 0.0
        elif np.isinf(high):
            rho, step = low + step, 2.0 * step
        else:
            rho = 0.5 * (low + high)
    # The right end: there sum(w) >= 1, which is what the dual bound needs.
    return float(high) if np.isfinite(high) else rho
