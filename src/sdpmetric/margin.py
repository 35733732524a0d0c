"""The best margin: ``rho* = argmax_{rho >= 0} rho - sum_r c_r loss(z_r - rho)``.

The derivative, ``1 - sum_r w_r`` with ``w_r = c_r |loss'(z_r - rho)|``, falls as rho grows, so
rho* is the root of a monotone function of one variable. Newton's step, kept inside a bracket,
ends after finitely many steps where slopes are piecewise linear (squared hinge, Huber).
"""

from __future__ import annotations

import numpy as np

from ._typing import Floats
from .kernels.margins import bent_slopes, bent_sums
from .losses import Loss, bend
from .threads import over_blocks

__all__ = ["best_rho", "weighted_slopes", "weighted_sums"]

_TOLERANCE = 1e-13  # on sum(w) - 1; an error of e in rho costs only e^2 in the objective
_MAX_STEPS = 200  # bisection alone needs about 100


def best_rho(z: Floats, c: Floats, loss: Loss, guess: float = 0.0) -> float:
    """Return rho*, to rounding; ``guess`` is where Newton's method starts."""

    low, high, at_zero = 0.0, np.inf, False
    rho, step = max(guess, 0.0), 1.0
    for _ in range(_MAX_STEPS):
        _, slopes, curvature = weighted_sums(z, c, rho, loss)
        e = -slopes - 1.0
        if abs(e) <= _TOLERANCE or (rho == 0.0 and e > 0.0):
            return rho
        at_zero = at_zero or rho == 0.0
        low, high = (low, rho) if e > 0.0 else (rho, high)
        if high < np.inf and high - low <= 4e-16 * high:
            break
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


def weighted_sums(z: Floats, c: Floats, rho: float, loss: Loss) -> tuple[float, float, float]:
    """``sum_r c_r f(z_r - rho)`` for f the loss, its slope and its curvature.

    Without arrays of the length of z.
    """
    bent = bend(loss)

    def sums(block: slice) -> tuple[float, ...]:
        if bent is not None:
            found: tuple[float, ...] = bent_sums(z, c, rho, bent, block.start, block.stop)
            return found
        t = z[block] - rho
        return tuple(float(c[block] @ f(t)) for f in (loss.value, loss.slope, loss.curvature))

    value, slope, curvature = np.sum(over_blocks(len(z), sums), axis=0)
    return float(value), float(slope), float(curvature)


def weighted_slopes(z: Floats, c: Floats, rho: float, loss: Loss) -> Floats:
    """``c_r |loss'(z_r - rho)|``."""
    w, bent = np.empty(len(z)), bend(loss)

    def fill(block: slice) -> None:
        if bent is not None:
            bent_slopes(z, c, rho, bent, block.start, block.stop, w)
        else:
            np.multiply(-c[block], loss.slope(z[block] - rho), out=w[block])

    over_blocks(len(z), fill)
    return w
