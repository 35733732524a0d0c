"""The two loops of L-BFGS over stored steps.

S and Y hold a step and a gradient change a row, ``sy`` their products. They are a ring: ``count``
rows are in use, the oldest of them at ``first``.
"""

from __future__ import annotations

from typing import Any

from .jit import jit

__all__ = ["backward_loop", "forward_loop"]


@jit
def backward_loop(S: Any, Y: Any, sy: Any, first: Any, count: Any, q: Any, weights: Any) -> None:
    """From the newest pair to the oldest: ``weights[row] = s'q / s'y``, ``q -= weights[row] y``."""
    for k in range(first + count - 1, first - 1, -1):
        row = k % len(S)
        total = 0.0
        for i in range(len(q)):
            total += S[row, i] * q[i]
        weights[row] = total / sy[row]
        for i in range(len(q)):
            q[i] -= weights[row] * Y[row, i]


@jit
def forward_loop(S: Any, Y: Any, sy: Any, first: Any, count: Any, q: Any, weights: Any) -> None:
    """From the oldest pair to the newest: ``q += (weights[row] - y'q / s'y) s``."""
    for k in range(first, first + count):
        row = k % len(S)
        total = 0.0
        for i in range(len(q)):
            total += Y[row, i] * q[i]
        change = weights[row] - total / sy[row]
        for i in range(len(q)):
            q[i] += change * S[row, i]
