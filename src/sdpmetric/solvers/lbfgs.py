"""Limited-memory BFGS directions for a matrix variable."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from .._typing import Floats
from ..threads import over

__all__ = ["History"]

_PART = 1 << 19  # numbers that are worth a thread

Pairs: TypeAlias = deque[tuple[Floats, Floats, float]]


class History:
    """The last few steps s and gradient changes y, and the direction that they imply.

    ``precondition`` is the initial inverse Hessian up to a factor, and may be replaced at any time.
    At most ``corrections`` are kept, fewer where they would need more than ``max_bytes``.
    """

    def __init__(self, corrections: int, max_bytes: int) -> None:
        self.pairs: Pairs = deque()
        self.corrections, self.max_bytes = corrections, max_bytes
        self.precondition: Callable[[Floats], Floats] = lambda V: V

    def direction(self, gradient: Floats) -> Floats:
        """The inverse Hessian times the gradient, by the two-loop recursion."""
        q = gradient.copy()
        weights = []
        for s, y, sy in reversed(self.pairs):
            a = _dot(s, q) / sy
            weights.append(a)
            _add(q, -a, y)
        q = self.precondition(q)
        if self.pairs:
            _, y, sy = self.pairs[-1]
            yhy = _dot(y, self.precondition(y))
            q *= sy / yhy if yhy > 0.0 else 1.0
        for (s, y, sy), a in zip(self.pairs, reversed(weights), strict=True):
            _add(q, a - _dot(y, q) / sy, s)
        return q

    def learn(self, s: Floats, y: Floats) -> None:
        """Take in a step; forget everything where the curvature along it is not positive.

        There the steps of the past are far too short, and the next one is chosen afresh.
        """
        sy = _dot(s, y)
        if sy <= 1e-14 * float(np.sqrt(_dot(s, s) * _dot(y, y))):
            self.clear()
            return
        room = min(self.corrections, max(2, self.max_bytes // (16 * s.size)))
        while len(self.pairs) >= room:
            self.pairs.popleft()
        self.pairs.append((s, y, sy))

    def carried(self, change: Callable[[Floats], Floats]) -> Pairs:
        """The pairs as they are after the columns of the variable are rotated, cut or added to."""
        carried: Pairs = deque()
        for s, y, _ in self.pairs:
            s, y = change(s), change(y)
            sy = float(np.vdot(s, y))
            if sy > 1e-14 * float(np.linalg.norm(s)) * float(np.linalg.norm(y)):
                carried.append((s, y, sy))
        return carried

    def clear(self) -> None:
        self.pairs.clear()


def _dot(a: Floats, b: Floats) -> float:
    if a.size < 2 * _PART:  # of a few thousand numbers the call of `over` would be most of the work
        return float(np.vdot(a, b))
    return sum(over(len(a), lambda p: float(np.vdot(a[p], b[p])), _PART // max(1, a.shape[1])))


def _add(q: Floats, factor: float, v: Floats) -> None:
    """``q += factor * v``."""
    if q.size < 2 * _PART:
        q += factor * v
        return

    def add(part: slice) -> None:
        q[part] += factor * v[part]

    over(len(q), add, _PART // max(1, q.shape[1]))
