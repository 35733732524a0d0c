"""The definitions of the objective and of its bound in long doubles, from rows of any size.

Nothing here calls the library. A long double has 64 bits of mantissa on x86, and 53, as float64,
on some other machines; rows are scaled by a power of two, so that their squares are in range there
too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tests.support.problems import Floats, Ints
from tests.support.truth import Long, loss_terms, span_basis

__all__ = ["LongProblem", "long_rows", "squared_lengths"]


def long_rows(X: Any) -> tuple[Long, int]:
    """Rows as long doubles of ordinary size, less the first row, and the power of two they lost."""
    dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X).astype(np.longdouble)
    exponent = int(np.frexp(np.abs(dense).max())[1])
    rows = np.ldexp(dense, -exponent)
    rows = rows - rows[0]
    # Once more: what is left may be much smaller than the first row was.
    rest = int(np.frexp(np.abs(rows).max())[1])
    return np.ldexp(rows, -rest), exponent + rest


def squared_lengths(differences: Long, components: Floats) -> Long:
    """``||components d||^2`` of each row d."""
    mapped = differences @ components.astype(np.longdouble).T
    return np.asarray(np.sum(mapped * mapped, axis=-1))


@dataclass(frozen=True, eq=False)
class LongProblem:
    """A problem as the user poses it; ``M0`` is a prior of trace one, or None."""

    X: Any
    triplets: Ints
    weights: Floats | None
    loss: str
    C: float
    h: float
    M0: Floats | None = None
    t: float = 0.0

    @cached_property
    def rows(self) -> Long:
        return long_rows(self.X)[0]

    @cached_property
    def counted(self) -> Ints:
        """The comparisons that have weight in float64, relative to the largest."""
        if self.weights is None:
            return self.triplets
        return np.asarray(self.triplets[self.weights / self.weights.max() > 0.0])

    @cached_property
    def near(self) -> Long:
        return np.asarray(self.rows[self.counted[:, 0]] - self.rows[self.counted[:, 1]])

    @cached_property
    def far(self) -> Long:
        a, b = (0, 2) if self.triplets.shape[1] == 3 else (2, 3)
        return np.asarray(self.rows[self.counted[:, a]] - self.rows[self.counted[:, b]])

    @cached_property
    def coefficients(self) -> Long:
        given = np.ones(len(self.triplets)) if self.weights is None else self.weights
        s = (given / given.max()).astype(np.longdouble)
        s = s[s > 0.0]
        return np.asarray(np.longdouble(self.C) * s / s.sum())

    @cached_property
    def scale(self) -> Long:
        share = self.coefficients / self.coefficients.sum()
        return np.longdouble(self.rows.shape[1] / (share @ np.sum(self.far**2, axis=1)))

    def margins(self, components: Floats) -> Long:
        far, near = (squared_lengths(d, components) for d in (self.far, self.near))
        return np.asarray(self.scale * (far - near))

    def best(self, components: Floats) -> float:
        """F(M), at the best rho: the root of a decreasing function, by bisection."""
        z = self.margins(components)
        if self.loss == "hinge":  # linear between the margins
            return max(self._f(z, rho) for rho in (np.longdouble(0.0), *z[z > 0]))
        low, high = np.longdouble(0.0), np.longdouble(1.0)
        if not self._rises(z, low):
            return self._f(z, low)
        while self._rises(z, high):
            high = 2.0 * high
        for _ in range(100):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._rises(z, middle) else (low, middle)
        return max(self._f(z, low), self._f(z, high))

    def _f(self, z: Long, rho: Long) -> float:
        return float(rho - self.coefficients @ self._terms(z - rho)[0])

    def _rises(self, z: Long, rho: Long) -> bool:
        return bool(1.0 + self.coefficients @ self._terms(z - rho)[1] > 0.0)

    def _terms(self, t: Long) -> tuple[Long, Long]:
        return loss_terms(self.loss, np.longdouble(self.h), t)

    def slopes(self, components: Floats, rho: float) -> Long:
        """``w_r = c_r |loss'|``; at the kink of the hinge, its right side."""
        t = self.margins(components) - np.longdouble(rho)
        steep = t < 0 if self.loss == "hinge" else -self._terms(t)[1]
        return self.coefficients * steep

    def gradient(self, w: Long) -> Long:
        """``G = sum_r w_r (far_r far_r' - near_r near_r')``, rescaled."""
        G = (self.far * w[:, None]).T @ self.far - (self.near * w[:, None]).T @ self.near
        return np.asarray(self.scale * G)

    def size(self, w: Long) -> float:
        """The size of the terms that G is a sum of: what rounding is relative to."""
        squares = np.sum(self.far**2, axis=1) + np.sum(self.near**2, axis=1)
        return float(self.scale * (w @ squares))

    def steepest(self, G: Long) -> tuple[Long, Floats]:
        """A lower bound of lambda_max(G) within the span of the differences, and its direction.

        The direction is computed in float64. Its Rayleigh quotient in long doubles is a lower bound
        whatever the rounding of the direction was.
        """
        differences = np.vstack([self.far, self.near]).astype(np.float64)
        varied = np.any(differences != 0.0, axis=0)
        inner = span_basis(differences[:, varied])
        basis = np.zeros((self.far.shape[1], inner.shape[1]))
        basis[varied] = inner
        inside = basis.T.astype(np.longdouble) @ G @ basis.astype(np.longdouble)
        unit = max(float(np.abs(inside).max()), np.finfo(np.float64).tiny)
        V = np.linalg.eigh((inside / unit).astype(np.float64))[1]
        v = basis @ V[:, -1]
        long = v.astype(np.longdouble)
        return np.longdouble(long @ G @ long / (long @ long)), v / np.linalg.norm(v)
