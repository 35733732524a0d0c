"""Limited-memory BFGS directions for a matrix variable."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from .._typing import Floats

__all__ = ["History"]

Pairs: TypeAlias = deque[tuple[Floats, Floats, float]]


class History:
    """The last few steps s and gradient changes y, and the direction that they imply.

    ``precondition`` is the initial inverse Hessian up to a factor, and may be replaced at any time.
    """

    def __init__(self, corrections: int, precondition: Callable[[Floats], Floats]) -> None:
        self.pairs: Pairs = deque(maxlen=corrections)
        self.precondition = precondition

    def direction(self, gradient: Floats) -> Floats:
        """The inverse Hessian times the gradient, by the two-loop recursion."""
        q = gradient.copy()
        weights = []
        for s, y, sy in reversed(self.pairs):
            a = float(np.vdot(s, q)) / sy
            weights.append(a)
            q -= a * y
        q = self.precondition(q)
        if self.pairs:
            _, y, sy = self.pairs[-1]
            yhy = float(np.vdot(y, self.precondition(y)))
            q *= sy / yhy if yhy > 0.0 else 1.0
        for (s, y, sy), a in zip(self.pairs, reversed(weights), strict=True):
            q += (a - float(np.vdot(y, q)) / sy) * s
        return q

    def learn(self, s: Floats, y: Floats) -> None:
        """Take in a step; forget everything where the curvature along it is not positive.

        There the steps of the past are far too short, and the next one is chosen afresh.
        """
        sy = float(np.vdot(s, y))
        if sy <= 1e-14 * float(np.linalg.norm(s)) * float(np.linalg.norm(y)):
            self.clear()
            return
        self.pairs.append((s, y, sy))

    def carried(self, change: Callable[[Floats], Floats]) -> Pairs:
        """The pairs as they are after the columns of the variable are rotated, cut or added to."""
        carried: Pairs = deque(maxlen=self.pairs.maxlen)
        for s, y, _ in self.pairs:
            s, y = change(s), change(y)
            sy = float(np.vdot(s, y))
            if sy > 1e-14 * float(np.linalg.norm(s)) * float(np.linalg.norm(y)):
                carried.append((s, y, sy))
        return carried

    def clear(self) -> None:
        self.pairs.clear()
