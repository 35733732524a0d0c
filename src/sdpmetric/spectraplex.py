"""The spectraplex ``{M psd, trace M = 1}`` and its one verb: the leading eigenvector.

A linear function ``<G, M>`` is largest over the spectraplex at ``v v'``, v the leading eigenvector
of G, where it is lambda_max(G). That makes every step of Frank-Wolfe and every certificate.

M lives in the span of the compared differences, and so does the eigenvector: a constant column
changes nothing. G vanishes outside that span, so this matters only where lambda_max <= 0: there
the zeros from outside would hide it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import eigh, qr, svd
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ._typing import Floats

__all__ = ["DENSE_LIMIT", "Leading", "Oracle", "project", "random_point"]

DENSE_LIMIT = 1024  # up to here the whole matrix is decomposed; above it, Lanczos
_COLUMNS = 64  # unit vectors multiplied at once: X times all of them would be another X
_CLEAR = 1e-8  # an eigenvalue below this share of the matrix may be a rounded zero from outside
_BLOCK = 24  # columns of a Krylov block
_KRYLOV = 160  # columns between restarts
_RESTARTS = 60
_SHARE = 0.05  # of a gap, to which it need be known
_SMALL = 32  # below this ARPACK is not worth its call


class Operator(Protocol):
    def times(self, V: Floats, /) -> Floats: ...


class Scattered(Protocol):
    @property
    def n_features(self) -> int: ...
    def scatter(self, V: Floats, /) -> Floats: ...
    @property
    def n_edges(self) -> int: ...
    def scatter_roots(self) -> Iterable[Floats]: ...


@dataclass(frozen=True)
class Leading:
    """Leading eigenpairs, largest first; ``bound`` is a number that lambda_max does not exceed."""

    values: Floats
    vectors: Floats
    bound: float


class Oracle:
    """Leading eigenvectors of operators on the span of the compared differences.

    A Ritz value under-estimates lambda_max, so ``bound`` adds the norm of its residual. Up to
    ``dense_limit`` the matrix is decomposed whole; above it a block Krylov method is used, because
    at an optimum of rank r the top r eigenvalues are all but equal and single vectors cannot tell
    them apart. ``products`` counts columns multiplied by G.
    """

    def __init__(
        self, objective: Scattered, *, dense_limit: int = DENSE_LIMIT, seed: int = 0
    ) -> None:
        self.objective = objective
        self.dimension = objective.n_features
        self.dense = self.dimension <= dense_limit
        self.seed = seed
        self.products = 0
        self.confined: Floats | None = None

    def leading(
        self, G: Operator, k: int = 1, *, tol: float = 0.0, reached: float = np.inf
    ) -> Leading:
        """The k leading eigenpairs; above the dense limit ``bound`` may exceed by a share tol.

        Where ``reached``, what M makes of G, is far below the bound, a share of that distance is
        exact enough: a gap of 0.2 need not be known to 1e-7.
        """
        if self.dense or self.dimension <= 4 * _BLOCK:
            return self._decompose(G, k)
        return self._krylov(G, k, tol, reached)

    def arpack(self, G: Operator, *, tol: float = 0.0) -> Leading:
        """The leading eigenpair by ARPACK, as in the paper: for steps, ``bound`` is an estimate."""
        n = self.dimension
        if n <= _SMALL:
            return self._decompose(G, 1)
        first = self.directions(1)
        start = self._apply(G, first)  # in the range of G: Lanczos then stays there
        scale = float(np.linalg.norm(start) / np.linalg.norm(first))
        if scale == 0.0:
            return Leading(np.zeros(1), first / np.linalg.norm(first), 0.0)
        operator = LinearOperator(
            (n, n), matvec=lambda v: self._apply(G, v.reshape(n, 1)).ravel(), dtype=np.float64
        )
        try:
            values, V = eigsh(
                operator, k=1, which="LA", v0=start.ravel(), tol=tol, ncv=_SMALL, maxiter=100
            )
        except ArpackNoConvergence:
            return self.leading(G)
        if self.dense and values[0] <= _CLEAR * scale:
            return self._decompose(G, 1)
        residual = float(np.linalg.norm(self._apply(G, V) - values[0] * V))
        return Leading(values, V, float(values[0]) + residual)

    def directions(self, k: int) -> Floats:
        """k random directions inside the span, the same ones every time."""
        V = np.random.default_rng(self.seed).standard_normal((self.dimension, k))
        return self.objective.scatter(V)

    def confine(self, V: Floats) -> Floats:
        """V without what lies outside the span, once lambda_max <= 0 has made that matter."""
        return V if self.confined is None else self.confined @ (self.confined.T @ V)

    @cached_property
    def _basis(self) -> Floats | None:
        """An orthonormal basis of the span, or None where it is the whole space."""
        basis = None
        for R in self.objective.scatter_roots():
            basis = span_basis(R, self.objective.n_edges)
            if basis is None:  # some of the differences span everything: all of them do
                break
        return basis

    def _apply(self, G: Operator, V: Floats) -> Floats:
        self.products += V.shape[1]
        return G.times(V)

    def _decompose(self, G: Operator, k: int) -> Leading:
        D = self.dimension
        A = np.empty((D, D))
        for first in range(0, D, _COLUMNS):
            some = np.eye(D, min(_COLUMNS, D - first), -first)
            A[:, first : first + some.shape[1]] = self._apply(G, some)
        A = 0.5 * (A + A.T)
        found = _top(A, k)
        if found.values[0] > _CLEAR * float(np.abs(A).max()) or self._basis is None:
            return found
        self.confined = self._basis
        inside = _top(self._basis.T @ A @ self._basis, k)
        return Leading(inside.values, self._basis @ inside.vectors, inside.bound)

    def _krylov(self, G: Operator, k: int, tol: float, reached: float) -> Leading:
        """Block Krylov with thick restarts; a block as wide as the top cluster sees all of it."""
        goal = max(0.01 * tol, 1e-12)
        width = max(2 * k, _BLOCK)
        V = orthonormal(self.directions(width))
        W = self._apply(G, V)
        for _ in range(_RESTARTS):
            while V.shape[1] < _KRYLOV:
                new = orthonormal(W[:, -width:], V)
                if new.shape[1] == 0:
                    break  # V is invariant: what follows is exact
                V, W = np.hstack([V, new]), np.hstack([W, self._apply(G, new)])
            T = V.T @ W
            values, Y = eigh(0.5 * (T + T.T))
            values, Y = values[::-1], Y[:, ::-1]
            scale = float(np.abs(values).max())
            if scale == 0.0:
                return Leading(values[:k], (V @ Y)[:, :k], 0.0)
            X = V @ Y[:, :width]
            R = W @ Y[:, :width] - X * values[:width]
            # Any of the k may turn out to be the leading one.
            beyond = float(np.max(values[:k] + np.linalg.norm(R[:, :k], axis=0))) - values[0]
            enough = max(goal * scale, _SHARE * (values[0] - reached))
            if beyond <= enough or new.shape[1] == 0:
                break
            crowded = int(np.sum(values > values[0] - 0.02 * scale)) > width // 2
            V, W = X, W @ Y[:, :width]
            if crowded and width < _KRYLOV // 3:
                width *= 2
        # Where G vanishes on a part of the span, the true value is 0 though all seen are negative.
        bound = max(float(values[0]), 0.0) + beyond + goal * scale
        return Leading(values[:k], X[:, :k], bound)


def orthonormal(A: Floats, V: Floats | None = None) -> Floats:
    """An orthonormal basis of what the columns of A add to those of V."""
    least = 1e-12 * float(np.linalg.norm(A))
    for _ in range(2):  # the second time against rounding: what shrinks then was rounding
        if V is not None:
            A = A - V @ (V.T @ A)
        Q, R, _ = qr(A, mode="economic", pivoting=True)
        A = Q[:, np.abs(np.diag(R)) > least]
        least = 0.5
    return A


def _top(A: Floats, k: int) -> Leading:
    n = len(A)
    values, V = eigh(A, subset_by_index=[max(0, n - k), n - 1])
    values, V = values[::-1], V[:, ::-1]
    # A itself is a rounded sum; its eigenvalues may be off by as much as its entries together.
    rounding = n * np.finfo(float).eps * float(np.linalg.norm(A))
    residual = float(np.linalg.norm(A @ V[:, 0] - values[0] * V[:, 0]))
    return Leading(values, V, float(values[0]) + residual + rounding)


def span_basis(R: Floats, n_rows: int) -> Floats | None:
    """An orthonormal basis of the row space of R, or None where it is everything.

    ``R' R`` is the scatter of ``n_rows`` differences. The rank is that of R with columns of unit
    length, so that it does not depend on the units of the features: a column in millimetres beside
    one in light years is still a direction. Of R and not of R' R, whose rounding would hide
    directions below 1e-8 of the others; a bound that forgets one is no bound.
    """
    D = R.shape[1]
    lengths = np.linalg.norm(R, axis=0)
    live = np.flatnonzero(lengths > 0.0)
    _, s, Vt = svd(R[:, live] / lengths[live], full_matrices=False)
    kept = s > max(n_rows, D) * np.finfo(float).eps * s[0]
    if kept.sum() == D:
        return None
    basis = np.zeros((D, int(kept.sum())))
    if kept.sum() == len(live):
        basis[live, np.arange(len(live))] = 1.0
    else:
        basis[live] = qr(lengths[live, None] * Vt[kept].T, mode="economic")[0]
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
