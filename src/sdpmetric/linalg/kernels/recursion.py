"""L-BFGS over stored steps: its two loops, the model between them for small factors, a new pair.

S and Y hold a step and a gradient change a row, ``sy`` their products. They are a ring: ``count``
rows are in use, the oldest of them at ``first``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import jit, jit_reproducible

__all__ = ["add_pair", "backward_loop", "forward_loop", "scaled_model"]


@jit
def backward_loop(S: Any, Y: Any, sy: Any, first: Any, count: Any, q: Any, weights: Any) -> None:
    """From the newest pair to the oldest: ``weights[row] = s'q / s'y``, ``q -= weights[row] y``."""
    for k in range(first + count - 1, first - 1, -1):
        row = k % len(S)
        s, y = S[row], Y[row]
        total = 0.0
        for i in range(len(q)):
            total += s[i] * q[i]
        weights[row] = total / sy[row]
        for i in range(len(q)):
            q[i] -= weights[row] * y[i]


@jit
def forward_loop(S: Any, Y: Any, sy: Any, first: Any, count: Any, q: Any, weights: Any) -> None:
    """From the oldest pair to the newest: ``q += (weights[row] - y'q / s'y) s``."""
    for k in range(first, first + count):
        row = k % len(S)
        s, y = S[row], Y[row]
        total = 0.0
        for i in range(len(q)):
            total += y[i] * q[i]
        change = weights[row] - total / sy[row]
        for i in range(len(q)):
            q[i] += change * s[i]


@jit_reproducible
def _times(A: Any, B: Any, out: Any) -> None:
    """``out = A B``."""
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            out[i, j] = 0.0
        for k in range(A.shape[1]):
            a = A[i, k]
            for j in range(B.shape[1]):
                out[i, j] += a * B[k, j]


# Loops and no operations on whole arrays: those take seconds to compile.
@jit_reproducible
def scaled_model(model: Any, q: Any, y: Any, sy: Any, room: Any, out: Any) -> None:
    """``out = sy / (y' H y) H q`` for the model H of an inverse Hessian, known up to a factor.

    ``model`` are the arrays of an `InverseHessian`: axes, W, both transposed, too, and ``outside``,
    zero where the axes are all directions there are. ``room`` is work space: two arrays like q and
    one like ``inside``. For small factors: a call of BLAS for each product would take longer than
    all of them do here.
    """
    axes, axes_t, W, W_t, inside, outside = model
    turned, whole, inner = room
    D, d = q.shape
    # 1. In the eigenvectors of both factors, y and then q.
    yhy = 0.0
    for turn in range(2):
        _times(y if turn == 0 else q, W, turned)
        _times(axes_t, turned, inner)
        for i in range(inner.shape[0]):
            for j in range(d):
                yhy += inside[i, j] * inner[i, j] ** 2 if turn == 0 else 0.0
                inner[i, j] *= inside[i, j]
        for i in range(D if turn == 0 else 0):
            for j in range(d):
                yhy += outside[j] * turned[i, j] ** 2
    # 2. The model times q, scaled.
    _times(axes, inner, whole)
    factor = sy / yhy if yhy > 0.0 else 1.0
    for i in range(D):
        for j in range(d):
            whole[i, j] = factor * (whole[i, j] + outside[j] * turned[i, j])
    _times(whole, W_t, out)


@jit_reproducible  # NaN must not pass for curvature
def add_pair(S: Any, Y: Any, sy: Any, row: Any, s: Any, y: Any) -> bool:
    """Write a pair to a row; False, and nothing written, if its curvature is not positive."""
    product = ss = yy = 0.0
    for i in range(len(s)):
        product += s[i] * y[i]
        ss += s[i] * s[i]
        yy += y[i] * y[i]
    if not product > 1e-14 * np.sqrt(ss * yy):
        return False
    sy[row] = product
    for i in range(len(s)):
        S[row, i], Y[row, i] = s[i], y[i]
    return True
