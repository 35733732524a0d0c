"""An upper bound of the largest eigenvalue of a matrix that is applied and never formed.

A Lanczos process from a unit vector v makes unit vectors ``v_1 = v, v_2, ...`` and a tridiagonal
matrix T of k rows: ``A v_j = b_(j-1) v_(j-1) + a_j v_j + b_j v_(j+1)``. Let x be a unit eigenvector
of A whose eigenvalue l is beyond those of T. Then ``y_j = <v_j, x>`` follows the same recurrence:
``(l - T) y = b_k y_(k+1) e_k + f``, f_j being the rounding of the j-th product along x. The first
column g of the inverse of ``l - T`` is positive, and ``|y_(k+1)| <= 1``, so

    |<v, x>| = |y_1|  <=  b_k g_k + noise sum_j g_j       if  |f_j| <= noise.

The right-hand side falls as l grows. Take for v a Gaussian vector divided by its length. Then
``<v, x>`` times the length is a standard normal number, whatever x is: it is smaller than delta
with a probability of at most ``delta sqrt(2 / pi)``, and so it is for every one of s independent
vectors with at most the s-th power of that. With all but this probability A has no eigenvalue
beyond an l at which the right-hand side is below ``delta / length`` for each vector.

Nothing is assumed of A, so no scaling can hide an eigenvector from this. Nothing is assumed of the
angles between the ``v_j``, so two vectors of each process are kept, and none is orthogonalised. The
idea is that of van Dorsselaer, Hochstenbach and van der Vorst, "Computing probabilistic bounds for
extreme eigenvalues of symmetric matrices with the Lanczos method", SIAM J. Matrix Anal. Appl. 22
(2001) 837-852.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt

import numpy as np

from .._support.typing import Floats

__all__ = ["Lanczos"]

_EPS = float(np.finfo(float).eps)
_BISECTIONS = 40  # the bracket of a bound becomes a trillion times smaller: nobody needs more


class Lanczos:
    """Lanczos processes from independent Gaussian vectors, in lockstep.

    Attributes
    ----------
    vectors : the last two vectors of each process, rich in the eigenvectors at both ends
    least : for at least one of the vectors v, ``|<v, x>|`` is not below this
    """

    def __init__(self, times: Callable[[Floats], Floats], gaussian: Floats, failure: float) -> None:
        self.times = times
        count = gaussian.shape[1]
        lengths = np.linalg.norm(gaussian, axis=0)
        self.least = failure ** (1.0 / count) * sqrt(pi / 2.0) / lengths
        self.vectors = np.zeros(gaussian.shape), gaussian / lengths
        self.alphas = np.empty((0, count))
        self.betas = np.empty((0, count))
        self.asymmetry = 0.0

    def step(self) -> None:
        """Multiply by A and extend every T by a row."""
        previous, current = self.vectors
        W = self.times(current)
        if len(self.betas) == 0:
            self.asymmetry = _asymmetry(current, W)
        else:
            W -= self.betas[-1] * previous
        alpha = np.sum(current * W, axis=0)
        W -= alpha * current
        beta = np.linalg.norm(W, axis=0)
        # A process that came to an end (beta = 0) has seen all that its vector holds. Its T is
        # filled with rows that change nothing beyond its largest eigenvalue.
        ended = ~current.any(axis=0)
        if ended.any():
            alpha[ended] = self.alphas[:, ended].min(axis=0)
        self.alphas = np.vstack([self.alphas, alpha])
        self.betas = np.vstack([self.betas, beta])
        self.vectors = current, W / np.where(beta > 0.0, beta, 1.0)

    @property
    def rounding(self) -> float:
        """How far the products are from those of a symmetric matrix, and their usual rounding."""
        size = float(np.max(np.abs(self.alphas) + 2.0 * self.betas, initial=0.0))
        return self.asymmetry + len(self.vectors[0]) * _EPS * size

    def overlaps(self, level: float, noise: float) -> Floats:
        """Return the most that ``|<v, x>|`` can be for an eigenvector x beyond ``level``.

        Infinite for a process whose T has an eigenvalue there itself.
        """
        # Pivots of ``level - T`` from the last row to the first, then g by substitution.
        pivots = level - self.alphas
        inside = np.ones(pivots.shape[1], dtype=bool)
        for j in range(len(pivots) - 1, -1, -1):
            inside &= pivots[j] > 0.0
            pivots[j] = np.where(inside, pivots[j], np.inf)
            if j > 0:
                pivots[j - 1] -= self.betas[j - 1] ** 2 / pivots[j]
        g = total = 1.0 / pivots[0]
        for j in range(1, len(pivots)):
            g = g * self.betas[j - 1] / pivots[j]
            total = total + g
        return np.where(inside, self.betas[-1] * g + noise * total, np.inf)

    def excludes(self, level: float, noise: float) -> bool:
        """Whether A has no eigenvalue beyond ``level``."""
        return bool(np.all(self.overlaps(level, noise) < self.least))

    def bound(self, noise: float) -> float:
        """Return the least level beyond which A has no eigenvalue, to a few digits."""
        low = float(self.alphas.max())
        high, step = low, noise + float(self.betas.max())
        if not np.isfinite(low + step):
            return np.inf
        # Overlaps fall as the level grows, so that doubling ends. Without any beta and any noise
        # every vector is an eigenvector: A is a multiple of the identity.
        while step > 0.0 and not self.excludes(high, noise):
            high, step = low + step, 2.0 * step
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.excludes(middle, noise) else (middle, high)
        return high


def _asymmetry(V: Floats, W: Floats) -> float:
    """Estimate the Frobenius norm of ``A - A'`` from products with Gaussian vectors.

    It is the rounding of the products, however large cancellation makes it.
    """
    D, count = len(V), len(V.T)
    products = V.T @ W
    norm = float(np.linalg.norm(products - products.T))
    return D * norm / sqrt(max(1, count * (count - 1)))
