"""Limited-memory BFGS directions for a matrix variable."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from .._support.typing import Floats
from ..engines.threads import map_parts
from ..linalg.kernels.recursion import backward_loop, forward_loop

__all__ = ["History", "Pairs"]

_PART = 1 << 19  # numbers that are worth a thread


class Pairs:
    """The newest ``room`` steps s and gradient changes y, matrices of one shape.

    They are rows of two arrays, used as a ring, so that a compiled loop can run over them. An array
    takes no memory before it is written to.
    """

    def __init__(self, shape: tuple[int, ...] = (0, 0), room: int = 0) -> None:
        self.shape, self.first, self.count = shape, 0, 0
        self.S, self.Y = np.empty((2, room, math.prod(shape)))
        self.sy = np.empty(room)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[tuple[Floats, Floats]]:
        for row in self.rows:
            yield self.S[row].reshape(self.shape), self.Y[row].reshape(self.shape)

    @property
    def rows(self) -> list[int]:
        """The rows of the pairs, from the oldest to the newest."""
        return [k % len(self.sy) for k in range(self.first, self.first + self.count)]

    def add(self, s: Floats, y: Floats) -> bool:
        """Add a pair, in place of the oldest if there is no room; False if it has no curvature."""
        s, y = s.ravel(), y.ravel()
        sy = _dot(s, y)
        if not sy > 1e-14 * math.sqrt(_dot(s, s) * _dot(y, y)):
            return False
        row = (self.first + self.count) % len(self.sy)
        self.S[row], self.Y[row], self.sy[row] = s, y, sy
        if self.count < len(self.sy):
            self.count += 1
        else:
            self.first = (self.first + 1) % self.count
        return True


class Model(Protocol):
    """An inverse Hessian to start from."""

    def times(self, V: Floats, /) -> Floats:
        """The model times V, a new array."""

    def inner(self, V: Floats, /) -> float:
        """The inner product of V and the model times V."""


class Identity:
    """The model of a function of which nothing is known."""

    def times(self, V: Floats, /) -> Floats:
        return V.copy()

    def inner(self, V: Floats, /) -> float:
        return _dot(V.ravel(), V.ravel())


class History:
    """The last steps s and gradient changes y, and the direction that L-BFGS makes of them.

    ``model`` is the initial inverse Hessian up to a factor, and may be replaced at any time.
    At most ``corrections`` are kept, fewer where they would need more than ``max_bytes``.
    """

    def __init__(self, corrections: int, max_bytes: int) -> None:
        self.pairs = Pairs()
        self.corrections, self.max_bytes = corrections, max_bytes
        self.model: Model = Identity()

    def direction(self, gradient: Floats) -> Floats:
        """Return the inverse Hessian times the gradient, by the two-loop recursion."""
        if not self.pairs:
            return self.model.times(gradient)
        p = self.pairs
        ring = p.S, p.Y, p.sy, p.first, p.count
        backward, forward = (
            (backward_loop, forward_loop)
            if gradient.size < 2 * _PART
            else (_backward_by_parts, _forward_by_parts)
        )
        q, weights = gradient.flatten(), np.empty(len(p.sy))
        backward(*ring, q, weights)
        q = self.model.times(q.reshape(p.shape)).ravel()
        # The usual scaling by the last pair, here of a model known up to a factor.
        last = (p.first + p.count - 1) % len(p.sy)
        yhy = self.model.inner(p.Y[last].reshape(p.shape))
        q *= p.sy[last] / yhy if yhy > 0.0 else 1.0
        forward(*ring, q, weights)
        return q.reshape(p.shape)

    def learn(self, s: Floats, y: Floats) -> None:
        """Add a step; forget all steps if the curvature along this one is not positive.

        There the earlier steps are far too short, and the next length is chosen without them.
        """
        if self.pairs.shape != s.shape:
            self.pairs = self._empty(s.shape)
        if not self.pairs.add(s, y):
            self.clear()

    def carried(self, change: Callable[[Floats], Floats]) -> Pairs:
        """Return the pairs after a change of columns: a rotation, a cut or added columns."""
        carried = Pairs()
        for s, y in self.pairs:
            s, y = change(s), change(y)
            if not carried.shape[0]:
                carried = self._empty(s.shape)
            carried.add(s, y)  # a cut can take away the curvature that a pair was kept for
        return carried

    def clear(self) -> None:
        """Forget all pairs."""
        self.pairs = Pairs()

    def _empty(self, shape: tuple[int, ...]) -> Pairs:
        # A pair is two float64 matrices, 16 bytes a number; two pairs at least, or it is no L-BFGS.
        most = max(2, self.max_bytes // (16 * max(1, math.prod(shape))))
        return Pairs(shape, min(self.corrections, most))


def _dot(a: Floats, b: Floats) -> float:
    if a.size < 2 * _PART:  # for a few thousand numbers `map_parts` costs more than this
        return float(np.dot(a, b))
    return sum(map_parts(len(a), lambda p: float(np.dot(a[p], b[p])), _PART))


def _add(q: Floats, factor: float, v: Floats) -> None:
    """``q += factor * v``."""

    def add(part: slice) -> None:
        q[part] += factor * v[part]

    map_parts(len(q), add, _PART)


def _backward_by_parts(
    S: Floats, Y: Floats, sy: Floats, first: int, count: int, q: Floats, weights: Floats
) -> None:
    """`backward_loop`, with threads that share each row."""
    for k in range(first + count - 1, first - 1, -1):
        row = k % len(S)
        weights[row] = _dot(S[row], q) / sy[row]
        _add(q, -weights[row], Y[row])


def _forward_by_parts(
    S: Floats, Y: Floats, sy: Floats, first: int, count: int, q: Floats, weights: Floats
) -> None:
    """`forward_loop`, with threads that share each row."""
    for k in range(first, first + count):
        row = k % len(S)
        _add(q, weights[row] - _dot(Y[row], q) / sy[row], S[row])
