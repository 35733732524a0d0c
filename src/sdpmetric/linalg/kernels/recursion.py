"""L-BFGS over stored steps: its two loops, a whole direction for small factors, and a new pair.

S and Y hold a step and a gradient change a row, ``sy`` their products. They are a ring: ``count``
rows are in use, the oldest of them at ``first``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import jit, jit_reproducible

__all__ = ["add_pair", "backward_loop", "forward_loop", "preconditioned_direction"]


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
    out[:] = 0.0
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            a = A[i, k]
            for j in range(B.shape[1]):
                out[i, j] += a * B[k, j]


@jit_reproducible
def preconditioned_direction(ring: Any, model: Any, gradient: Any, out: Any) -> None:
    """Write the inverse Hessian times the gradient, as `lbfgs.History.direction` describes it.

    ``ring`` is (S, Y, sy, first, count), ``model`` the arrays of an `InverseHessian`, ``axes`` also
    transposed and W too; ``outside`` is zero where axes are all directions there are. For small
    factors: a call of BLAS for each product would take longer than all of them do here.
    """
    S, Y, sy, first, count = ring
    axes, axes_t, W, W_t, inside, outside = model
    D, d = gradient.shape
    q, weights = gradient.copy().reshape(D * d), np.empty(len(sy))
    backward_loop(S, Y, sy, first, count, q, weights)
    # 1. The model times q, in the eigenvectors of both factors.
    turned, inner = np.empty((D, d)), np.empty(inside.shape)
    _times(q.reshape(D, d), W, turned)
    _times(axes_t, turned, inner)
    inner *= inside
    whole = np.empty((D, d))
    _times(axes, inner, whole)
    for i in range(D):
        for j in range(d):
            whole[i, j] += outside[j] * turned[i, j]
    _times(whole, W_t, out)
    # 2. The usual scaling by the last pair, here of a model known up to a factor.
    last = (first + count - 1) % len(sy)
    _times(Y[last].reshape(D, d), W, turned)
    _times(axes_t, turned, inner)
    yhy = 0.0
    for i in range(inner.shape[0]):
        for j in range(d):
            yhy += inside[i, j] * inner[i, j] ** 2
    for i in range(D):
        for j in range(d):
            yhy += outside[j] * turned[i, j] ** 2
    if yhy > 0.0:
        out *= sy[last] / yhy
    forward_loop(S, Y, sy, first, count, out.reshape(D * d), weights)


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
    S[row], Y[row], sy[row] = s, y, product
    return True
