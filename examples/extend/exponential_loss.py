"""A loss of one's own: the exponential, continued by its tangent."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Exponential:
    """h exp(-t / h), continued by its tangent below t = -2h, where it would soon overflow."""

    support = math.inf  # no comparison is ever quite satisfied
    max_slope = math.exp(2.0)

    def __init__(self, h: float = 0.1) -> None:
        self.h = h

    def value(self, t: Floats, /) -> Floats:
        cut = np.maximum(t, -2.0 * self.h)
        return self.h * np.exp(-cut / self.h) + self.max_slope * (cut - t)

    def slope(self, t: Floats, /) -> Floats:
        return -np.exp(-np.maximum(t, -2.0 * self.h) / self.h)

    def curvature(self, t: Floats, /) -> Floats:
        return np.where(t > -2.0 * self.h, -self.slope(t) / self.h, 0.0)
