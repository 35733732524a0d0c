"""`check_loss`: is this loss what it says it is?"""

from __future__ import annotations

import math

import numpy as np

from ._typing import Floats
from .losses import Loss
from .validation import check_members

__all__ = ["check_loss"]

_STEPS = (1e-4, 1e-6, 1e-8, 1e-11)
_TOLERANCE = 1e-4


def check_loss(loss: Loss) -> None:
    """Raise ValueError, saying what is wrong, unless ``loss`` keeps its promises.

    On a grid of ``t`` it must be finite, convex and non-increasing; ``slope`` and ``curvature``
    must match finite differences; the slope must have no jump (the loss is differentiable); it
    must be zero beyond ``support`` and reach, but not exceed, ``max_slope`` in absolute value.

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
    t = np.unique(np.concatenate([np.linspace(-10.0, 10.0, 4001), np.linspace(-0.1, 0.1, 2001)]))
    value, slope, curvature = (
        _evaluate(name, getattr(loss, name), t) for name in ("value", "slope", "curvature")
    )
    _check_shape(t, value, slope, curvature)
    _check_derivatives(loss, t, slope, curvature)
    _check_support(loss)
    _check_max_slope(loss, t, slope)


def _evaluate(name: str, function: object, t: Floats) -> Floats:
    out = np.asarray(function(t))  # type: ignore[operator]
    if out.shape != t.shape:
        raise ValueError(f"{name}(t) has shape {out.shape} for t of shape {t.shape}.")
    if not np.isfinite(out).all():
        raise ValueError(f"{name}(t) is not finite at t = {t[~np.isfinite(out)][0]:g}.")
    return out


def _first(t: Floats, bad: np.typing.NDArray[np.bool_], what: str, *shown: Floats) -> None:
    at = np.flatnonzero(bad)
    if len(at):
        numbers = [f"{s[at[0]]:g}" for s in shown]
        raise ValueError(what.format(*numbers, t=f"{t[at[0]]:g}"))


def _check_shape(t: Floats, value: Floats, slope: Floats, curvature: Floats) -> None:
    _first(t, slope > 1e-12, "slope is {} > 0 at t = {t}: the loss increases.", slope)
    _first(t[1:], np.diff(value) > 1e-12 * (1 + np.abs(value[1:])), "value increases at t = {t}.")
    drop = np.diff(slope) < -1e-9 * (1.0 + np.abs(slope[1:]))
    _first(t[1:], drop, "slope decreases at t = {t}: the loss is not convex.")
    _first(t, curvature < 0.0, "curvature is {} < 0 at t = {t}.", curvature)


def _check_derivatives(loss: Loss, t: Floats, slope: Floats, curvature: Floats) -> None:
    """Slope and curvature must match finite differences of at least one of several steps.

    A loss of width 1e-9 looks kinked to a large step, one of width 1e9 flat to a small one.
    """
    value = loss.value(t)
    off_slope, off_curvature = np.ones(t.shape, bool), np.ones(t.shape, bool)
    for step in _STEPS:
        left = (value - loss.value(t - step)) / step
        right = (loss.value(t + step) - value) / step
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
    """Bisect every interval towards its steepest half; what remains of a change is a jump."""
    low, high = t[:-1].copy(), t[1:].copy()
    for _ in range(50):
        middle = 0.5 * (low + high)
        s = loss.slope(middle)
        upper = loss.slope(high) - s > s - loss.slope(low)
        low, high = np.where(upper, middle, low), np.where(upper, high, middle)
    jump = loss.slope(high) - loss.slope(low)
    bad = jump > 1e-3 * (1.0 + np.abs(slope[1:]))
    _first(low, bad, "slope jumps by {} near t = {t}: the loss is not differentiable.", jump)


def _check_support(loss: Loss) -> None:
    if math.isinf(loss.support):
        return
    beyond = loss.support + np.geomspace(1e-9, 1e6, 200) * (1.0 + abs(loss.support))
    slope = loss.slope(beyond)
    what = f"support is {loss.support:g}, but slope is {{}} at t = {{t}}."
    _first(beyond, slope != 0.0, what, slope)


def _check_max_slope(loss: Loss, t: Floats, slope: Floats) -> None:
    far = -np.geomspace(1e2, 1e14, 13)
    steep = np.abs(loss.slope(far))
    if math.isinf(loss.max_slope):
        if steep[-1] <= 1.001 * steep[0]:
            raise ValueError(f"max_slope is inf, but |slope| stays at {steep[-1]:g} for t = -1e14.")
        return
    what = f"max_slope is {loss.max_slope:g}, but |slope| is {{}} at t = {{t}}."
    _first(t, np.abs(slope) > loss.max_slope * (1.0 + 1e-9), what, np.abs(slope))
    _first(far, steep > loss.max_slope * (1.0 + 1e-9), what, steep)
    if steep[-1] < 0.999 * loss.max_slope:
        raise ValueError(
            f"max_slope is {loss.max_slope:g}, but |slope| only reaches {steep[-1]:g} at t = -1e14."
        )
