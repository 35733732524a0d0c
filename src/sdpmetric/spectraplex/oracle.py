"""The linear oracle of the spectraplex ``{M psd, trace M = 1}``: leading eigenvectors.

A linear function ``<G, M>`` is largest over the spectraplex at ``v v'``, v the leading eigenvector
of G, where it is lambda_max(G). Every step of Frank-Wolfe and every certificate uses
this (eq. 12 of the paper).

M and the eigenvector are in the span of the compared differences; a constant column, for example,
is outside. G is zero outside that span. That matters only if lambda_max <= 0 inside: then the zeros
from outside would hide it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from .._support.deadline import GRACE, Deadline, OutOfTimeError
from .._support.typing import Floats
from .formed import LIMIT, Forming, top_of_spectrum
from .krylov import BLOCK, certified_pairs
from .span import span_basis

__all__ = ["DENSE_LIMIT", "Leading", "Oracle"]

DENSE_LIMIT = 1024  # up to here the whole matrix is decomposed; above it, a block Krylov method
_COLUMNS = 64  # unit vectors multiplied at once: X times all of them would be another X
_LOOSE = 256  # columns left to multiply by G where a loose bound takes less time
_CLEAR = 1e-8  # an eigenvalue below this share of the matrix may be a rounded zero from outside
_EPS = float(np.finfo(np.float64).eps)
# The leading eigenpairs of a matrix take less time than all of them if they are less than one in
# four. Of 64, 128 and 256 the eigenpairs, LAPACK takes 0.27, 1.1 and 6.5 ms for all of them, and
# 0.37, 1.6 and 6.9 ms for a quarter.
_PART = 4
_SMALL = 32  # up to here ARPACK is not worth its call; above, its number of Lanczos vectors


class _OverBudgetError(Exception):
    """The Krylov method has multiplied more columns than it may."""


class Operator(Protocol):
    """A symmetric matrix G that is applied and never formed."""

    def times(self, V: Floats, /) -> Floats:
        """``G V``."""


class Scattered(Protocol):
    """The members of an objective that define the span of the compared differences."""

    @property
    def n_features(self) -> int: ...
    def scatter(self, V: Floats, /) -> Floats: ...
    @property
    def n_edges(self) -> int: ...
    @property
    def cache(self) -> dict[Any, Any]: ...
    def scatter_roots(self) -> Iterable[Floats]: ...


@dataclass(frozen=True)
class Leading:
    """Leading eigenpairs, largest first; ``bound`` is a number that lambda_max does not exceed.

    ``rough``: the time limit ended the search for a closer bound.
    """

    values: Floats
    vectors: Floats
    bound: float
    rough: bool = False

    def without_zeros(self, clear: float) -> Leading:
        """Leave out eigenvalues of size ``clear`` or less, whose vectors may be outside the span.

        If there are no others, all stay.
        """
        kept = np.abs(self.values) > clear
        if kept.all() or not kept.any():
            return self
        return replace(self, values=self.values[kept], vectors=self.vectors[:, kept])


class Oracle:
    """Leading eigenvectors of operators on the span of the compared differences.

    Up to ``dense_limit`` the matrix is decomposed whole, and ``bound`` is the largest eigenvalue
    plus rounding. Above it a block Krylov method finds the eigenvectors, because at an optimum of
    rank r the top r eigenvalues are all but equal and single vectors cannot tell them apart. The
    bound is then one of the whole matrix, with a probability of at most `krylov.FAILURE` that it
    is too low, whatever the data: the probability is that of the random vectors of ``seed``.
    ``stage`` tells several oracles of one fit apart, so that no random vector serves twice.

    The Krylov method takes long if r is in the hundreds. Up to ``formed_limit`` it may multiply a
    limited number of columns. If they are not enough, a matrix that may be formed is formed and
    decomposed, now and in all later calls. Its bound is proven by a factorisation (see `formed`).

    A bound may be made after ``deadline``, but in a quarter of its limit. If that is too short for
    a close bound, a loose one must do, with the same probability.

    ``products`` counts columns multiplied by G.
    """

    def __init__(
        self,
        objective: Scattered,
        *,
        dense_limit: int = DENSE_LIMIT,
        formed_limit: int = LIMIT,
        seed: int = 0,
        stage: tuple[int, ...] = (),
        deadline: Deadline | None = None,
    ) -> None:
        self.objective = objective
        self.dimension = objective.n_features
        self.dense_limit = dense_limit
        self.dense = self.dimension <= dense_limit
        self.forming = Forming(self.dimension, formed_limit)
        self.seed, self.stage = seed, stage
        self.deadline = deadline or Deadline()
        self.products = 0
        self.confined: Floats | None = None

    @cached_property
    def proofs(self) -> np.random.Generator:
        """The random numbers of proofs; matrices that are decomposed whole need none."""
        # Another stream than that of `directions`: a proof needs vectors that nothing else used.
        key = (0, *self.stage)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

    def leading(
        self,
        G: Operator,
        k: int = 1,
        *,
        most: int = 0,
        tol: float = 0.0,
        reached: float = np.inf,
        near: Floats | None = None,
    ) -> Leading:
        """Return the k leading eigenpairs and a bound of lambda_max.

        Up to ``most`` pairs if the matrix is decomposed, which costs the same for any number.

        Above the dense limit the bound may exceed lambda_max by a share ``tol``. ``reached`` is
        ``<G, M>``: if it is far below the bound, a share of that difference is exact enough. A gap
        of 0.2 need not be known to 1e-7. ``near`` are columns that may be close to eigenvectors,
        such as a factor of M; they save time.
        """
        deadline, most = self.deadline.extended(GRACE), max(k, most)
        found = self._decompose(G, most, deadline) if self.dense else None
        if found is not None:
            return found
        start = self.directions(max(2 * k if near is None else k, BLOCK))
        if near is not None:
            start = np.hstack([_unit_columns(near), _unit_columns(start)])
        goal, forming, pairs = max(0.01 * tol, 1e-12), self.forming, None

        def search(budget: float) -> tuple[Floats, Floats, float]:
            times, proofs = self._limited(G, self.products + budget), self.proofs
            return certified_pairs(
                times, start, k, proofs, goal=goal, reached=reached, deadline=deadline
            )

        if not forming.active and forming.allows(G) and not deadline.over:
            try:
                pairs = search(forming.budget)
            except _OverBudgetError:
                forming.active = True
        if forming.active:
            pairs = self._formed(G, most, tol, deadline)
        # If a matrix takes too long, the Krylov method makes the bound that it can make in time.
        pairs = search(np.inf) if pairs is None else pairs
        found = Leading(*pairs, rough=deadline.over)
        return found.without_zeros(_CLEAR * float(np.abs(found.values).max()))

    def _limited(self, G: Operator, last: float) -> Callable[[Floats], Floats]:
        """`_apply`, as long as there are no more than ``last`` products."""

        def times(V: Floats) -> Floats:
            if self.products + V.shape[1] > last:
                raise _OverBudgetError
            return self._apply(G, V)

        return times

    def _formed(
        self, G: Operator, k: int, tol: float, deadline: Deadline
    ) -> tuple[Floats, Floats, float] | None:
        """Leading pairs of a matrix that is formed, if possible."""
        pairs = self.forming.pairs(G, k, tol, deadline)
        self.products += 0 if pairs is None else self.dimension
        return pairs

    def arpack(self, G: Operator, *, tol: float = 0.0) -> Leading:
        """Return the leading eigenpair by ARPACK, for steps; ``bound`` is only an estimate.

        At the deadline it is a direction in the span, and the pair is ``rough``.
        """
        n = self.dimension
        if n <= _SMALL:
            return self.leading(G)
        first = self.directions(1)
        start = self._apply(G, first)  # in the range of G: Lanczos then stays there
        scale = float(np.linalg.norm(start) / np.linalg.norm(first))
        if scale == 0.0:
            return Leading(np.zeros(1), first / np.linalg.norm(first), 0.0)

        def matvec(v: Floats) -> Floats:
            self.deadline.check()
            return self._apply(G, v.reshape(n, 1)).ravel()

        operator = LinearOperator((n, n), matvec=matvec, dtype=np.float64)
        try:
            values, V = eigsh(
                operator, k=1, which="LA", v0=start.ravel(), tol=tol, ncv=_SMALL, maxiter=100
            )
        except ArpackNoConvergence:
            return self.leading(G)
        except OutOfTimeError:
            return Leading(np.array([scale]), start / np.linalg.norm(start), np.inf, rough=True)
        if values[0] <= _CLEAR * scale:  # it may be a rounded zero from outside the span
            return self._leading_inside(G)
        residual = float(np.linalg.norm(self._apply(G, V) - values[0] * V))
        return Leading(values, V, float(values[0]) + residual)

    def _leading_inside(self, G: Operator) -> Leading:
        """Return the leading eigenpair inside the span, where lambda_max <= 0."""
        if self.dense:
            return self.leading(G)
        self.stay_inside()
        basis = self.confined
        if basis is None:  # the span is not known: several pairs, of which zeros are left out
            return self.leading(G, BLOCK)
        inside = _top(basis.T @ self._apply(G, basis), 1, 0.0)
        return replace(inside, vectors=basis @ inside.vectors)

    def directions(self, k: int) -> Floats:
        """Return k random directions inside the span, the same ones in every call."""
        V = np.random.default_rng(self.seed).standard_normal((self.dimension, k))
        return self.objective.scatter(V)

    def stay_inside(self) -> None:
        """Let `confine` project from now on, if the dimension allows it."""
        if self.dimension <= max(DENSE_LIMIT, self.dense_limit):
            self.confined = self._basis

    def confine(self, V: Floats) -> Floats:
        """Project V on the span, if `stay_inside` was called or lambda_max <= 0 was met."""
        return V if self.confined is None else self.confined @ (self.confined.T @ V)

    @property
    def _basis(self) -> Floats | None:
        """An orthonormal basis of the span, or None if it is the whole space."""
        cache, basis = self.objective.cache, None
        if "span" not in cache:
            for R in self.objective.scatter_roots():
                basis = span_basis(R, self.objective.n_edges)
                if basis is None:  # some of the differences span everything: all of them do
                    break
            cache["span"] = basis
        found: Floats | None = cache["span"]
        return found

    def _apply(self, G: Operator, V: Floats) -> Floats:
        self.products += V.shape[1]
        return G.times(V)

    def _decompose(self, G: Operator, k: int, deadline: Deadline) -> Leading | None:
        """Form G and decompose it; inside the span alone if lambda_max <= 0. None: out of time."""
        D = self.dimension
        A = np.empty((D, D))
        for first in range(0, D, _COLUMNS):
            # The other way multiplies some 150 columns: fewer are not worth it.
            if D - first > _LOOSE and deadline.over:
                return None
            some = np.eye(D, min(_COLUMNS, D - first), -first)
            A[:, first : first + some.shape[1]] = self._apply(G, some)
        # A itself is a rounded sum; its eigenvalues may be off by as much as its entries together.
        # It is symmetric except for rounding, which can be large where differences cancel.
        rounding = D * _EPS * float(np.linalg.norm(A)) + float(np.linalg.norm(A - A.T))
        A = 0.5 * (A + A.T)  # eigh reads one triangle
        found = _top(A, k, rounding)
        clear = _CLEAR * float(np.abs(A).max())
        if found.values[0] > clear:
            return found.without_zeros(clear)
        self.stay_inside()
        basis = self._basis
        if basis is None:
            return found
        inside = _top(basis.T @ A @ basis, k, rounding)
        return Leading(inside.values, basis @ inside.vectors, inside.bound)


def _unit_columns(A: Floats) -> Floats:
    """Scale columns to length one, so that none is taken for rounding beside another."""
    lengths = np.linalg.norm(A, axis=0)
    return A / np.where(lengths > 0.0, lengths, 1.0)


def _top(A: Floats, k: int, rounding: float) -> Leading:
    """Return the k leading eigenpairs of a symmetric array, and a bound of lambda_max."""
    n = len(A)
    part = n > _PART * max(k, _PART)
    found = top_of_spectrum(A, k, check_finite=True) if part else None
    values, V = np.linalg.eigh(A) if found is None else found
    values, V = values[: -k - 1 : -1], V[:, : -k - 1 : -1]
    residual = float(np.linalg.norm(A @ V[:, 0] - values[0] * V[:, 0]))
    return Leading(values, V, float(values[0]) + residual + rounding)
