"""The best margin: ``rho* = argmax_{rho >= 0} rho - sum_r c_r loss(z_r - rho)``.

The derivative, ``1 - sum_r w_r`` with ``w_r = c_r |loss'(z_r - rho)|``, falls as rho grows, so
rho* is the root of a monotone function of one variable. Newton's step, kept inside a bracket,
ends after finitely many steps where slopes are piecewise linear (squared hinge, Huber).
"""

from __future__ import annotations

import math

import numpy as np

from .._support.checks import as_real
from .._support.typing import Floats
from ..engines.threads import map_blocks
from ..linalg.kernels.margins import (
    first_bracket,
    next_rho,
    parabola_rho,
    parabola_slopes,
    parabola_sums,
)
from .losses import Loss, parabola

__all__ = ["best_rho", "weighted_slopes", "weighted_sums"]

# Comparisons up to which the whole search is one compiled call: a block of `map_blocks`, so that
# the sums are the same to the last digit.
_COMPILED = 1 << 15


def best_rho(z: Floats, c: Floats, loss: Loss, guess: float = 0.0) -> float:
    """Return rho*, exact up to rounding; ``guess`` is where Newton's method starts.

    Line 3 of the paper's Algorithm 1, for weights c_r and any loss.
    """
    shape = parabola(loss)
    if shape is not None and len(z) <= _COMPILED:
        return float(parabola_rho(z, _listed(c), guess, shape)[0])
    bracket, done = first_bracket(guess), False
    while not done:
        _, slopes, curvature = weighted_sums(z, c, bracket[0], loss)
        bracket, done = next_rho(bracket, slopes, curvature)
    return float(bracket[0])


def weighted_sums(z: Floats, c: Floats, rho: float, loss: Loss) -> tuple[float, float, float]:
    """Return ``sum_r c_r f(z_r - rho)`` for f the loss, its slope and its curvature.

    By blocks: no array of the length of z is made.
    """
    shape = parabola(loss)

    def sums(block: slice) -> tuple[float, ...]:
        if shape is not None:
            found: tuple[float, ...] = parabola_sums(z[block], _listed(c[block]), rho, shape)
            return found
        t = z[block] - rho
        return tuple(
            float(c[block] @ _checked(loss, f, t)) for f in ("value", "slope", "curvature")
        )

    value, slope, curvature = map(math.fsum, zip(*map_blocks(len(z), sums), strict=True))
    return value, slope, curvature


def weighted_slopes(z: Floats, c: Floats, rho: float, loss: Loss) -> Floats:
    """Return the slopes ``w_r = c_r |loss'(z_r - rho)|``."""
    w, shape = np.empty(len(z)), parabola(loss)

    def fill(block: slice) -> None:
        if shape is not None:
            parabola_slopes(z[block], _listed(c[block]), rho, shape, w[block])
        else:
            np.multiply(-c[block], _checked(loss, "slope", z[block] - rho), out=w[block])

    map_blocks(len(z), fill)
    return w


def _listed(c: Floats) -> Floats:
    """Return coefficients side by side in memory; equal ones are one number behind a view.

    A compiled loop then reads several at a time: it takes a third of the time or less.
    """
    return np.ascontiguousarray(c)


def _checked(loss: Loss, member: str, t: Floats) -> Floats:
    """Return a member of a loss at t; ValueError unless it is finite, and slopes are not positive.

    A user's loss may go wrong at margins that no check before the fit has tried; a NaN would spread
    to the metric, and positive slopes prove nothing.
    """
    returned = as_real(f"loss.{member} of {loss!r}", getattr(loss, member)(t))
    found: Floats = np.asarray(returned, dtype=np.float64)
    if found.shape != t.shape:
        raise ValueError(
            f"loss.{member} of {loss!r} returned shape {found.shape} for {len(t)} margins, "
            "expected a number for each."
        )
    good = (found <= 0.0) & (found > -np.inf) if member == "slope" else np.isfinite(found)
    if not good.all():
        first = int(np.argmin(good))
        expected = "never positive" if member == "slope" else "a finite number"
        raise ValueError(
            f"loss.{member} of {loss!r} returned {found[first]} at t = {t[first]:.6g}, "
            f"expected {expected}; check_loss(loss) says more."
        )
    return found
