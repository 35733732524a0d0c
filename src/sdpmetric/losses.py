"""The losses: what a comparison pays for a margin that falls short.

A loss is convex and non-increasing in ``t = z - rho``, the margin of a comparison less the
margin asked for. It sees ``t`` and nothing else. ``slope`` is the derivative, so never positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy.special import expit

from ._typing import Floats

__all__ = ["Hinge", "Huber", "Logistic", "Loss", "SquaredHinge", "bend", "vanishes"]


@runtime_checkable
class Loss(Protocol):
    """What the library asks of a loss; any object with these members will do.

    ``support``: the slope is zero for every ``t`` beyond it (``inf`` if there is no such number).
    ``max_slope``: the largest ``|slope|`` (``inf`` if unbounded).
    """

    @property
    def support(self) -> float: ...
    @property
    def max_slope(self) -> float: ...
    def value(self, t: Floats, /) -> Floats: ...
    def slope(self, t: Floats, /) -> Floats: ...
    def curvature(self, t: Floats, /) -> Floats: ...


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
        _check_width(self.h)

    @property
    def support(self) -> float:
        return self.h

    def value(self, t: Floats, /) -> Floats:
        # The quadratic on the clipped part plus what is beyond it: no masks.
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
        _check_width(self.h)

    def value(self, t: Floats, /) -> Floats:
        return self.h * np.logaddexp(0.0, -t / self.h)

    def slope(self, t: Floats, /) -> Floats:
        s: Floats = expit(-t / self.h)
        return -s

    def curvature(self, t: Floats, /) -> Floats:
        s: Floats = expit(-t / self.h)
        return s * (1.0 - s) / self.h


def bend(loss: Loss) -> tuple[float, float, float] | None:
    """``(knee, width, scale)`` of a loss for which there are compiled loops, else None.

    With ``u = knee - t`` and ``v = clip(u, 0, width)`` it is ``v (2 u - v) / scale``: zero, then a
    parabola, then its tangent. Of these very classes alone: another may override something.
    """
    if type(loss) is SquaredHinge:
        return 0.0, math.inf, 1.0
    if type(loss) is Huber:
        return loss.h, 2.0 * loss.h, 4.0 * loss.h
    return None


def vanishes(loss: Loss) -> bool:
    """Whether a loss is zero beyond its support, as it says, and that is finite."""
    beyond = np.array([loss.support * 1.001 + 1e-9])
    return bool(np.isfinite(beyond).all() and np.all(loss.value(beyond) == 0.0))


def _check_width(h: float) -> None:
    if not (math.isfinite(h) and h > 0.0):
        raise ValueError(f"h must be a positive finite number, got {h!r}.")
