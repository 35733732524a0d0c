"""The losses: each penalises a comparison whose margin is smaller than rho.

A loss is a convex, non-increasing function of ``t = z - rho`` alone, the margin of a comparison
minus rho. ``slope`` is its derivative, so it is never positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from .._support.checks import shown
from .._support.typing import Floats

__all__ = ["H_RANGE", "Hinge", "Huber", "Logistic", "Loss", "SquaredHinge", "parabola", "vanishes"]

# The widths of losses, in units of the mean far distance. Below, margins are rounding; beyond, all
# comparisons are on the same line; far outside, curvatures would leave the range of numbers.
H_RANGE = 1e-15, 1e15


@runtime_checkable
class Loss(Protocol):
    """The members of a loss; any object that has them can be used.

    ``support``: the slope is zero for every ``t`` beyond it (``inf`` if there is no such number).
    ``max_slope``: the largest ``|slope|`` (``inf`` if unbounded).
    """

    @property
    def support(self) -> float: ...
    @property
    def max_slope(self) -> float: ...
    def value(self, t: Floats, /) -> Floats:
        """The loss at each entry of t."""

    def slope(self, t: Floats, /) -> Floats:
        """Its first derivative, never positive."""

    def curvature(self, t: Floats, /) -> Floats:
        """Its second derivative, never negative; at a jump any number between both sides."""


@dataclass(frozen=True)
class SquaredHinge:
    """Squared hinge, ``max(0, -t)^2``: SDPMetric-S of the paper.

    >>> import numpy as np
    >>> SquaredHinge().value(np.array([-2.0, 1.0])).tolist()
    [4.0, 0.0]
    """

    support: ClassVar[float] = 0.0
    max_slope: ClassVar[float] = math.inf

    def value(self, t: Floats, /) -> Floats:
        return np.minimum(t, 0.0) ** 2

    def slope(self, t: Floats, /) -> Floats:
        return 2.0 * np.minimum(t, 0.0)

    def curvature(self, t: Floats, /) -> Floats:
        return np.where(t < 0.0, 2.0, 0.0)


@dataclass(frozen=True)
class Huber:
    """Huber's smoothed hinge: SDPMetric-H of the paper.

    Zero from ``h`` on, ``(h - t)^2 / 4h`` between ``-h`` and ``h``, ``-t`` below.

    >>> import numpy as np
    >>> Huber(0.5).value(np.array([-2.0, 0.0, 1.0])).tolist()
    [2.0, 0.125, 0.0]
    """

    h: float = 0.5
    max_slope: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "h", _as_width(self.h))  # the class is frozen

    @property
    def support(self) -> float:
        return self.h

    def value(self, t: Floats, /) -> Floats:
        # The parabola up to its tangent point plus the linear rest: no masks.
        # inner / 4h first: inner^2 would underflow for tiny h.
        u = self.h - t
        inner = np.clip(u, 0.0, 2.0 * self.h)
        return inner * (inner / (4.0 * self.h)) + np.maximum(u - 2.0 * self.h, 0.0)

    def slope(self, t: Floats, /) -> Floats:
        return -np.clip((self.h - t) / (2.0 * self.h), 0.0, 1.0)

    def curvature(self, t: Floats, /) -> Floats:
        return np.where(np.abs(t) < self.h, 0.5 / self.h, 0.0)


@dataclass(frozen=True)
class Hinge:
    """The hinge, ``max(0, -t)``: not differentiable at 0, so for evaluation only.

    ``loss="hinge"`` reaches its optimum through a sequence of Huber problems.
    """

    support: ClassVar[float] = 0.0
    max_slope: ClassVar[float] = 1.0

    def value(self, t: Floats, /) -> Floats:
        return np.maximum(-t, 0.0)

    def slope(self, t: Floats, /) -> Floats:
        return np.where(t < 0.0, -1.0, 0.0)

    def curvature(self, t: Floats, /) -> Floats:
        return np.zeros_like(t)


@dataclass(frozen=True)
class Logistic:
    """Logistic loss of width h, ``h log(1 + exp(-t / h))``; never exactly zero.

    >>> import numpy as np
    >>> Logistic(1.0).value(np.array([0.0])).round(4).tolist()
    [0.6931]
    """

    h: float = 0.5
    support: ClassVar[float] = math.inf
    max_slope: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "h", _as_width(self.h))  # the class is frozen

    def value(self, t: Floats, /) -> Floats:
        # log(1 + exp(x)) overflows for large x; logaddexp does not.
        return self.h * np.logaddexp(0.0, -t / self.h)

    def slope(self, t: Floats, /) -> Floats:
        return -_sigmoid(-t / self.h)

    def curvature(self, t: Floats, /) -> Floats:
        s = _sigmoid(-t / self.h)
        return s * (1.0 - s) / self.h


def _sigmoid(t: Floats) -> Floats:
    """``1 / (1 + exp(-t))`` without overflow."""
    # Imported here: the module takes 10 MB, and workers of a cluster with other losses need none.
    from scipy.special import expit

    s: Floats = expit(t)
    return s


def parabola(loss: Loss) -> tuple[float, float, float] | None:
    """Return ``(knee, width, scale)`` of a loss that has compiled loops, else None.

    With ``u = knee - t`` and ``v = clip(u, 0, width)`` the loss is ``v (2 u - v) / scale``: zero,
    then a parabola, then its tangent.
    """
    # The exact type and not isinstance: a user's subclass may override a member.
    if type(loss) is SquaredHinge:
        return 0.0, math.inf, 1.0
    if type(loss) is Huber:
        return loss.h, 2.0 * loss.h, 4.0 * loss.h
    return None


def vanishes(loss: Loss) -> bool:
    """Whether a loss has a finite support and is zero beyond it."""
    # A slope of zero is not enough: a loss that is constant, but not zero, beyond its support has a
    # value that would be lost with the comparisons left out.
    beyond = np.array([loss.support * 1.001 + 1e-9])
    return bool(np.isfinite(beyond).all() and np.all(loss.value(beyond) == 0.0))


def _as_width(h: float) -> float:
    low, high = H_RANGE
    try:
        number = float(h)  # compiled loops know no other types, such as float16
    except OverflowError:
        number = math.inf
    if not low <= number <= high:
        raise ValueError(f"h must be a number from {low:g} to {high:g}, got {shown(h)}.")
    return number
