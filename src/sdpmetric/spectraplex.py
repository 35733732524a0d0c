"""The spectraplex ``{M psd, trace M = 1}`` and its one verb: the leading eigenvector.

A linear function ``<G, M>`` is largest over the spectraplex at ``v v'``, v the leading eigenvector
of G, where it is lambda_max(G). That makes every step of Frank-Wolfe and every certificate.

M lives in the span of the compared differences, and so does the eigenvector: a constant column
changes nothing. G vanishes outside that span, so this matters only where lambda_max <= 0: there
the zeros from outside would hide it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import eigh, qr
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ._typing import Floats

__all__ = ["DENSE_LIMIT", "Leading", "Oracle", "project", "random_point"]

DENSE_LIMIT = 1024  # up to here the whole matrix is decomposed; above it, Lanczos
_COLUMNS = 64  # unit vectors multiplied at once: X times all of them would be another X
_SMALL = 32  # below this ARPACK is not worth its call


class Operator(Protocol):
    def times(self, V: Floats, /) -> Floats: ...


class Scattered(Protocol):
    @property
    def n_features(self) -> int: ...
    def scatter(self, V: Floats, /) -> Floats: ...


@dataclass(frozen=True)
class Leading:
    """Leading eigenpairs, largest first; ``bound`` is a number that lambda_max does not exceed."""

    values: Floats
    vectors: Floats
    bound: float


class Oracle:
    """Leading eigenvectors of operators on the span of the compared differences.

    A Ritz value under-estimates lambda_max, so ``bound`` adds the norm of its residual. Up to
    ``dense_limit`` the matrix is decomposed whole. ``products`` counts columns multiplied by G.
    """

    def __init__(
        self, objective: Scattered, *, dense_limit: int = DENSE_LIMIT, seed: int = 0
    ) -> None:
        self.objective = objective
        self.dimension = objective.n_features
        self.dense = self.dimension <= dense_limit
        self.seed = seed
        self.products = 0

    def leading(self, G: Operator, k: int = 1, *, tol: float = 0.0) -> Leading:
        """The k leading eigenpairs; above the dense limit with a relative residual of ``tol``."""
        if self.dense:
            return self._decompose(G, k)
        return self._lanczos(G, k, tol, None)

    def arpack(self, G: Operator, *, start: Floats | None = None, tol: float = 0.0) -> Leading:
        """The leading eigenpair by ARPACK in any dimension, as in the paper."""
        if self.dimension <= _SMALL:
            return self._decompose(G, 1)
        found = self._lanczos(G, 1, tol, start)
        return self._decompose(G, 1) if found.values[0] <= 0.0 and self.dense else found

    def directions(self, k: int) -> Floats:
        """k random directions inside the span, the same ones every time."""
        V = np.random.default_rng(self.seed).standard_normal((self.dimension, k))
        return self.objective.scatter(V)

    @cached_property
    def _basis(self) -> Floats | None:
        """An orthonormal basis of the span, or None where it is the whole space."""
        return span_basis(self._matrix(self.objective.scatter))

    def _matrix(self, times: Callable[[Floats], Floats]) -> Floats:
        """A symmetric operator as an array, from products with a few unit vectors at a time."""
        D = self.dimension
        A = np.empty((D, D))
        for first in range(0, D, _COLUMNS):
            some = np.eye(D, min(_COLUMNS, D - first), -first)
            A[:, first : first + some.shape[1]] = times(some)
        self.products += D
        return 0.5 * (A + A.T)

    def _decompose(self, G: Operator, k: int) -> Leading:
        A = self._matrix(G.times)
        found = _top(A, k)
        if found.values[0] > 0.0 or self._basis is None:
            return found
        B = self._basis
        inside = _top(B.T @ A @ B, k)
        return Leading(inside.values, B @ inside.vectors, inside.bound)

    def _lanczos(self, G: Operator, k: int, tol: float, start: Floats | None) -> Leading:
        n = self.dimension

        def apply(v: Floats) -> Floats:
            self.products += 1
            return G.times(v.reshape(n, 1)).ravel()

        if start is None:
            start = self.directions(1).ravel()
        start = apply(start)  # into the range of G: Lanczos then stays there
        if not np.any(start):
            return Leading(np.zeros(1), self.directions(1), 0.0)
        operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
        try:
            values, V = eigsh(operator, k=k, which="LA", v0=start, tol=tol, ncv=max(2 * k + 1, 32))
        except ArpackNoConvergence as stopped:
            values, V = stopped.eigenvalues, stopped.eigenvectors
            if len(values) == 0:
                raise
        order = np.argsort(values)[::-1]
        values, V = values[order], V[:, order]
        residual = float(np.linalg.norm(apply(V[:, 0]) - values[0] * V[:, 0]))
        return Leading(values, V, float(values[0]) + residual)


def _top(A: Floats, k: int) -> Leading:
    n = len(A)
    values, V = eigh(A, subset_by_index=[max(0, n - k), n - 1])
    values, V = values[::-1], V[:, ::-1]
    residual = float(np.linalg.norm(A @ V[:, 0] - values[0] * V[:, 0]))
    return Leading(values, V, float(values[0]) + residual)


def span_basis(S: Floats) -> Floats | None:
    """An orthonormal basis of the range of a scatter matrix, or None where it is everything.

    The rank is read off the correlations, which do not depend on the units of the columns: a
    column in millimetres beside one in light years is still a direction.
    """
    D = len(S)
    deviation = np.sqrt(np.maximum(np.diag(S), 0.0))
    live = np.flatnonzero(deviation > 0.0)
    correlation = S[np.ix_(live, live)] / np.outer(deviation[live], deviation[live])
    values, V = eigh(correlation)
    kept = values > 64 * D * np.finfo(float).eps
    if kept.sum() == D:
        return None
    basis = np.zeros((D, int(kept.sum())))
    if kept.all():
        basis[live, np.arange(len(live))] = 1.0
    else:
        basis[live] = qr(deviation[live, None] * V[:, kept], mode="economic")[0]
    return basis


def project(A: Floats) -> Floats:
    """The point of the spectraplex nearest to a symmetric matrix.

    >>> import numpy as np
    >>> project(np.diag([3.0, 1.0])).round(6).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    values, V = eigh(A)
    descending = values[::-1]
    steps = (np.cumsum(descending) - 1.0) / np.arange(1, len(values) + 1)
    shift = steps[np.flatnonzero(descending > steps)[-1]]
    nearest: Floats = (V * np.maximum(values - shift, 0.0)) @ V.T
    return nearest


def random_point(dimension: int, rank: int, rng: np.random.Generator) -> Floats:
    """A random M of the given rank in the spectraplex."""
    P = rng.standard_normal((dimension, rank))
    return P @ P.T / np.vdot(P, P)
