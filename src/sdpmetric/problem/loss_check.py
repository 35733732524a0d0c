"""`check_loss`: compare the members of a loss with finite differences and with each other."""

from __future__ import annotations

import math

import numpy as np

from .._support.checks import as_real
from .._support.typing import Floats
from .loss_arguments import check_members
from .losses import Loss

__all__ = ["check_loss"]

# Steps of finite differences, for losses of width 1e-9 up to 1e9: see `_check_derivatives`.
_STEPS = (1e-4, 1e-6, 1e-8, 1e-11)
# Finite differences are no more exact than this; a wrong formula is off by far more.
_TOLERANCE = 1e-4


def check_loss(loss: Loss) -> None:
    """Raise ValueError if the members of a loss contradict each other; the message says which.

    On a grid of ``t`` the loss must be finite, convex and non-increasing. ``slope`` and
    ``curvature`` must match finite differences. The slope must have no jump (the loss is
    differentiable), must be zero beyond ``support``, and must reach but not exceed ``max_slope`` in
    absolute value.

    Parameters
    ----------
    loss : an object with the members of `Loss`

    Returns
    -------
    None if every check passes

    Raises
    ------
    ValueError
        at the first check that fails

    Examples
    --------
    >>> from sdpmetric import Huber, check_loss
    >>> check_loss(Huber(0.1))
    >>> class Wrong(Huber):
    ...     max_slope = 0.5
    >>> check_loss(Wrong(0.1))
    Traceback (most recent call last):
    ...
    ValueError: max_slope is 0.5, but |slope| is 1 at t = -10.
    """
    if isinstance(loss, str):
        raise ValueError(f"loss must be an object, such as Huber(0.5), got the name {loss!r}.")
    check_members(loss)
    # Margins are in units of the mean far distance, so all of practice lies within 10; the finer
    # grid around 0 finds the knees of narrow losses.
    t = np.unique(np.concatenate([np.linspace(-10.0, 10.0, 4001), np.linspace(-0.1, 0.1, 2001)]))
    value, slope, curvature = (
        _evaluate(name, getattr(loss, name), t) for name in ("value", "slope", "curvature")
    )
    _check_shape(t, value, slope, curvature)
    _check_derivatives(loss, t, slope, curvature)
    _check_support(loss)
    _check_max_slope(loss, t, slope)


def _evaluate(name: str, function: object, t: Floats) -> Floats:
    """Call a member on the grid; raise if shape or numbers are wrong."""
    out: Floats = as_real(f"{name}(t)", function(t))  # type: ignore[operator]
    if out.shape != t.shape:
        raise ValueError(f"{name}(t) has shape {out.shape} for t of shape {t.shape}.")
    if not np.isfinite(out).all():
        raise ValueError(f"{name}(t) is not finite at t = {t[~np.isfinite(out)][0]:g}.")
    return out


def _first(t: Floats, bad: np.typing.NDArray[np.bool_], what: str, *shown: Floats) -> None:
    """Raise ``what``, filled with t and the numbers shown, for the first bad entry, if any."""
    at = np.flatnonzero(bad)
    if len(at):
        numbers = [f"{s[at[0]]:g}" for s in shown]
        raise ValueError(what.format(*numbers, t=f"{t[at[0]]:g}"))


def _check_shape(t: Floats, value: Floats, slope: Floats, curvature: Floats) -> None:
    """Raise unless the loss is non-increasing and convex on the grid."""
    # The tolerances allow for rounding in a user's formula.
    _first(t, slope > 1e-12, "slope is {} > 0 at t = {t}: the loss increases.", slope)
    _first(t[1:], np.diff(value) > 1e-12 * (1 + np.abs(value[1:])), "value increases at t = {t}.")
    drop = np.diff(slope) < -1e-9 * (1.0 + np.abs(slope[1:]))
    _first(t[1:], drop, "slope decreases at t = {t}: the loss is not convex.")
    _first(t, curvature < 0.0, "curvature is {} < 0 at t = {t}.", curvature)


def _check_derivatives(loss: Loss, t: Floats, slope: Floats, curvature: Floats) -> None:
    """Raise unless slope and curvature match finite differences of at least one of several steps.

    A loss of width 1e-9 looks kinked to a large step, one of width 1e9 flat to a small one.
    """
    value = loss.value(t)
    off_slope, off_curvature = np.ones(t.shape, bool), np.ones(t.shape, bool)
    for step in _STEPS:
        left = (value - loss.value(t - step)) / step
        right = (loss.value(t + step) - value) / step
        # At small steps the rounding of value dominates a difference quotient.
        rounding = 1e-15 * np.abs(value) / step
        allowed = _TOLERANCE * (1.0 + np.abs(slope)) + step * np.abs(curvature) + rounding
        off_slope &= (np.abs(left - slope) > allowed) & (np.abs(right - slope) > allowed)
        # Curvature may jump; at a jump any number between its two sides is right.
        before = (slope - loss.slope(t - step)) / step
        after = (loss.slope(t + step) - slope) / step
        allowed = 1e-3 * (1.0 + np.maximum(np.abs(before), np.abs(after)))
        low, high = np.minimum(before, after) - allowed, np.maximum(before, after) + allowed
        off_curvature &= (curvature < low) | (curvature > high)
    rate = np.gradient(value, t)
    _first(t, off_slope, "slope is {} at t = {t}, but value changes at a rate of {}.", slope, rate)
    _check_jumps(loss, t, slope)
    rate = np.gradient(slope, t)
    what = "curvature is {} at t = {t}, but slope changes at a rate of {}."
    _first(t, off_curvature, what, curvature, rate)


def _check_jumps(loss: Loss, t: Floats, slope: Floats) -> None:
    """Raise if the slope jumps: bisect every interval towards its steeper half.

    A continuous slope changes less and less over shorter intervals; a jump stays.
    """
    low, high = t[:-1].copy(), t[1:].copy()
    for _ in range(50):  # to the spacing of float64
        middle = 0.5 * (low + high)
        s = loss.slope(middle)
        upper = loss.slope(high) - s > s - loss.slope(low)
        low, high = np.where(upper, middle, low), np.where(upper, high, middle)
    jump = loss.slope(high) - loss.slope(low)
    bad = jump > 1e-3 * (1.0 + np.abs(slope[1:]))
    _first(low, bad, "slope jumps by {} near t = {t}: the loss is not differentiable.", jump)


def _check_support(loss: Loss) -> None:
    """Raise unless the slope is zero beyond a finite support."""
    if math.isinf(loss.support):
        return
    # From just beyond to very far: a slope that vanishes slowly (1 / t) is not zero.
    beyond = loss.support + np.geomspace(1e-9, 1e6, 200) * (1.0 + abs(loss.support))
    slope = loss.slope(beyond)
    what = f"support is {loss.support:g}, but slope is {{}} at t = {{t}}."
    _first(beyond, slope != 0.0, what, slope)


def _check_max_slope(loss: Loss, t: Floats, slope: Floats) -> None:
    """Raise unless |slope| reaches max_slope for large negative t and never exceeds it."""
    # A loss of width 1e9 has its full slope only far out; h of users is not bounded.
    tail = -np.geomspace(1e2, 1e14, 13)
    steepness = np.abs(loss.slope(tail))
    if math.isinf(loss.max_slope):
        if steepness[-1] <= 1.001 * steepness[0]:
            raise ValueError(
                f"max_slope is inf, but |slope| stays at {steepness[-1]:g} for t = -1e14."
            )
        return
    what = f"max_slope is {loss.max_slope:g}, but |slope| is {{}} at t = {{t}}."
    _first(t, np.abs(slope) > loss.max_slope * (1.0 + 1e-9), what, np.abs(slope))
    _first(tail, steepness > loss.max_slope * (1.0 + 1e-9), what, steepness)
    # Too large a max_slope would let C pass where the objective is unbounded (`check_bounded`).
    if steepness[-1] < 0.999 * loss.max_slope:
        raise ValueError(
            f"max_slope is {loss.max_slope:g}, but |slope| only reaches {steepness[-1]:g} "
            "at t = -1e14."
        )
