"""The certificate is never below the truth: against dense ``eigvalsh`` and the raw definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import ortho_group

from sdpmetric.linalg.items import items_of
from sdpmetric.problem.loss_arguments import as_loss
from sdpmetric.problem.prior import as_prior
from sdpmetric.problem.units import Problem
from sdpmetric.spectraplex.oracle import Oracle
from tests.support.lanes import some
from tests.support.planted import planted
from tests.support.problems import (
    SMOOTH,
    SOLVERS,
    Case,
    Floats,
    consistent,
    random_case,
    random_triplets,
)
from tests.support.reference import ACCURACY, reference


@dataclass(frozen=True)
class Whole:
    """A scatter that spans everything."""

    n_features: int
    cache: dict[Any, Any] = field(default_factory=dict)

    def scatter(self, V: Floats) -> Floats:
        return np.asarray(V)

    @property
    def n_edges(self) -> int:
        return self.n_features

    def scatter_roots(self) -> list[Floats]:
        return [np.eye(self.n_features)]


@dataclass(frozen=True)
class Matrix:
    A: Floats

    def times(self, V: Floats) -> Floats:
        return np.asarray(self.A @ V)


@dataclass(frozen=True)
class Diagonal:
    """What rotations of it would be, too: the first block is Gaussian."""

    e: Floats

    def times(self, V: Floats) -> Floats:
        return self.e[:, None] * V


def spectrum(kind: str, D: int, tol: float, rng: np.random.Generator) -> Floats:
    """Eigenvalues; most kinds crowd at the top."""
    e = rng.normal(size=D)
    top = float(e.max())
    k = int(rng.integers(2, 12))
    spread = 10.0 ** rng.uniform(-12, -1)
    if kind == "cluster":
        e[:k] = top * (1 + spread * rng.uniform(size=k))
    elif kind == "pair":
        e[:2] = top * np.array([1.0 + spread, 1.0 + 2 * spread])
    elif kind == "equal":
        e[:k] = top
    elif kind == "negative":
        e = -np.abs(e) - 0.1
    elif kind == "shoulder":  # as wide as what Lanczos is asked for
        e = rng.uniform(-1.0, 0.5, size=D)
        e[:20] = 1.0 + 10 * tol * rng.uniform(size=20)
    elif kind == "crowd":
        e = 1.0 - spread * rng.uniform(size=D)
    return e


KINDS = ("random", "cluster", "pair", "equal", "negative", "crowd", "shoulder")


@pytest.mark.parametrize("tol", some([0.0, 1e-7, 1e-5, 1e-3], 1))
@pytest.mark.parametrize("kind", some(KINDS, 1))
@pytest.mark.parametrize("dense_limit", [1, 1024])
def test_bound_on_prescribed_spectra(kind: str, dense_limit: int, tol: float) -> None:
    """The tolerances are those that the solvers ask for: a tenth of theirs."""
    rng = np.random.default_rng([KINDS.index(kind), dense_limit])
    for _ in range(20):
        D = int(rng.integers(100, 140)) if kind != "shoulder" else 300
        Q = np.linalg.qr(rng.normal(size=(D, D)))[0]
        A = (Q * spectrum(kind, D, tol, rng)) @ Q.T
        A = 0.5 * (A + A.T)
        expected = float(np.linalg.eigvalsh(A)[-1])
        size = float(np.abs(A).max()) * D
        oracle = Oracle(Whole(D), dense_limit=dense_limit)
        found_by = [oracle.leading(Matrix(A), 1, tol=tol), oracle.leading(Matrix(A), 8, tol=tol)]
        found_by += [oracle.arpack(Matrix(A))] if tol == 0.0 else []
        for found in found_by:
            assert found.bound >= expected - 1e-13 * size
            assert found.bound <= expected + 0.5 * size
            assert found.values[0] <= expected + 1e-13 * size


@pytest.mark.slow
@pytest.mark.parametrize("below", [1e-3, 1e-2, 0.3])
@pytest.mark.parametrize("kind", KINDS)
def test_bound_as_exact_as_the_gap_needs(kind: str, below: float) -> None:
    """Far from the optimum it costs less, is known to a share of the gap, and is still a bound."""
    rng = np.random.default_rng(KINDS.index(kind))
    eager = patient = 0
    for k in (1, 8, 64):
        D = 1500
        e = spectrum(kind, D, below, rng)
        top = float(e.max())
        size = float(np.abs(e).max())
        loose, exact = Oracle(Whole(D), dense_limit=1), Oracle(Whole(D), dense_limit=1)
        found = loose.leading(Diagonal(e), k, tol=1e-5, reached=top - below * size)
        exact.leading(Diagonal(e), k, tol=1e-5)
        assert found.bound >= top - 1e-13 * size
        assert found.bound <= max(top, 0.0) + (0.06 * below + 1e-6) * size
        eager, patient = eager + loose.products, patient + exact.products
    assert eager <= patient
    if below == 0.3 and kind in ("random", "cluster", "pair"):
        assert eager < patient


@pytest.mark.parametrize("dense_limit", [1, 1024])
def test_leading_eigenvectors_are_columns(dense_limit: int) -> None:
    rng = np.random.default_rng(0)
    D = 40
    Q = ortho_group.rvs(D, random_state=rng)
    e = np.arange(D, dtype=float)
    oracle = Oracle(Whole(D), dense_limit=dense_limit)
    found = oracle.leading(Matrix((Q * e) @ Q.T), 5)
    np.testing.assert_allclose(found.values, [39.0, 38.0, 37.0, 36.0, 35.0], atol=1e-10)
    overlaps = np.abs(np.sum(found.vectors * Q[:, :-6:-1], axis=0))
    np.testing.assert_allclose(overlaps, np.ones(5), atol=1e-10)
    assert oracle.products >= 5


def test_nothing_pulls() -> None:
    found = Oracle(Whole(120), dense_limit=1).leading(Matrix(np.zeros((120, 120))), 8)
    assert found.bound == 0.0
    assert np.linalg.norm(found.vectors) > 0.0


def objective_of(case: Case) -> Any:
    return Problem.from_triplets(
        items_of(case.X),
        case.triplets,
        case.weights,
        loss=as_loss(case.loss, case.h),
        C=case.C,
        prior=as_prior(case.prior, case.t, case.X.shape[1]),
    ).objective


def tall_case(seed: int, D: int = 110) -> Case:
    """Enough dimensions that the Krylov method is used, in a few lines of data."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(D + 10, D)) * rng.uniform(0.2, 2.0, size=D)
    triplets = random_triplets(rng, len(X), 200)
    if seed % 2:
        triplets = consistent(triplets, X, np.diag(np.arange(D) < 5).astype(float))
    return Case(X, triplets, loss=SMOOTH[seed % 3], C=float(rng.uniform(2, 30)))


@pytest.mark.slow
@pytest.mark.parametrize("dense_limit", [1, 1024])
def test_bound_at_random_points(dense_limit: int) -> None:
    """Five hundred random problems, each at a random metric."""
    for seed in range(250):
        case = tall_case(seed) if seed % 5 == 0 else random_case(seed, SMOOTH[seed % 3])
        objective = objective_of(case)
        D = objective.n_features
        rng = np.random.default_rng(seed)
        point = objective.at(rng.normal(size=(D, int(rng.integers(1, 6)))))
        A = point.times(np.eye(D))
        expected = float(np.linalg.eigvalsh(0.5 * (A + A.T))[-1])
        oracle = Oracle(objective, dense_limit=dense_limit)
        room = 1e-13 * D * float(np.abs(A).max())
        for tol in (0.0, 1e-5, 1e-3):
            assert oracle.leading(point, tol=tol).bound >= min(expected, 0.0) - room
            if expected > 0.0:
                assert oracle.leading(point, tol=tol).bound >= expected - room
                assert oracle.arpack(point).bound >= expected - room


@pytest.mark.parametrize("tol", some([0.0, 1e-6, 1e-5, 1e-4, 1e-3], 1))
@pytest.mark.parametrize("seed", some(range(6), 1))
def test_bound_where_the_top_of_G_clusters(seed: int, tol: float) -> None:
    """At an optimum of rank r the top r eigenvalues of G are equal but for the gap."""
    case = tall_case(seed)
    result = case.solve(tol=1e-4)
    objective = objective_of(case)
    point = objective.at(result.factor)
    D = objective.n_features
    values = np.linalg.eigvalsh(point.times(np.eye(D)))
    expected = float(values[-1])
    assert np.sum(values > expected * (1 - 1e-2)) >= 3
    room = 1e-13 * D * float(np.abs(values).max())
    oracle = Oracle(objective, dense_limit=1)
    assert oracle.leading(point, tol=tol).bound >= expected - room
    assert oracle.leading(point, 8, tol=tol).bound >= expected - room
    assert Oracle(objective).leading(point).bound >= expected - room
    assert oracle.arpack(point).bound >= expected - room


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("solver", "max_iter"), [("low-rank", 3000), ("frank-wolfe", 60)])
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("seed", some(range(12), 3))
def test_gap_by_its_definition(seed: int, loss: str, solver: str, max_iter: int) -> None:
    case = random_case(seed, loss)
    result = case.solve(solver=solver, max_iter=max_iter)
    M = result.get_mahalanobis_matrix()
    expected = case.relative_gap(M, result.rho)
    assert result.gap >= expected - 1e-9
    inside = np.linalg.matrix_rank(np.vstack([case.near, case.far])) == case.X.shape[1]
    if inside or expected > 1e-9:
        assert result.gap == pytest.approx(max(expected, 0.0), abs=1e-7, rel=1e-6)
    weighted_far = float(case.slopes(M, result.rho) @ case.form(case.far, M))
    assert result.upper_bound - result.objective <= (result.gap + 1e-9) * weighted_far


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("tol", some([1e-1, 1e-3], 1))
@pytest.mark.parametrize("options", [{}, {"dense_limit": 1}])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", some(range(3), 1))
def test_upper_bound_is_not_below_the_optimum(
    seed: int, solver: str, options: dict[str, Any], tol: float
) -> None:
    """Every bound on the way counts, as the best one is reported; loose eigenvectors included."""
    for D in (20, 110):
        problem = planted(seed, SMOOTH[seed], D)
        expected = problem.objective
        result = problem.case.solve(solver=solver, solver_options=options, tol=tol, max_iter=60)
        assert result.upper_bound >= expected - 1e-9
        assert result.objective <= expected + 1e-9
        gap = problem.case.relative_gap(result.get_mahalanobis_matrix(), result.rho)
        assert result.gap >= gap - 1e-9


@cache
def reached(seed: int) -> float:
    """F of a good metric of `tall_case`, by its definition: the optimum cannot be below it."""
    case = tall_case(seed)
    M = case.solve(tol=1e-6).get_mahalanobis_matrix()
    assert np.trace(M) == pytest.approx(1.0, abs=1e-12)
    assert np.linalg.eigvalsh(M)[0] >= -1e-12
    rho, value = case.best(M)
    assert case.relative_gap(M, rho) <= 1e-5  # by `eigvalsh`: nothing is much better
    return value


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("tol", some([1e-1, 1e-3], 1))
@pytest.mark.parametrize("options", [{}, {"dense_limit": 1}])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", some(range(3), 1))
def test_upper_bound_is_not_below_any_metric(
    seed: int, solver: str, options: dict[str, Any], tol: float
) -> None:
    case = tall_case(seed)
    result = case.solve(solver=solver, solver_options=options, tol=tol, max_iter=60)
    assert result.upper_bound >= reached(seed) - 1e-9
    gap = case.relative_gap(result.get_mahalanobis_matrix(), result.rho)
    assert result.gap >= gap - 1e-9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_bound_that_has_no_room() -> None:
    """Every answer is wrong along every axis, so that F is linear but for its narrow bends.

    The first bound, far from the optimum, then is the optimum itself: any that is too low is seen.
    """
    D = 6
    near = np.random.default_rng(22).uniform(1.5, 4.0, size=D)
    X = np.vstack([np.zeros((1, D)), np.eye(D), np.diag(near)])
    i, zero = np.arange(1, D + 1), np.zeros(D, dtype=np.int64)
    case = Case(X, np.stack([zero, i + D, zero, i], axis=1), loss="huber", C=3.0, h=1e-3)
    expected = reference(case)[0]
    assert expected == pytest.approx(-3.0 * np.min(near**2 - 1.0), abs=2e-3)  # M* is an axis
    for max_iter in (1, 2, 3):
        result = case.solve(max_iter=max_iter, tol=1e-6)
        assert result.objective < expected - 10.0
        assert -ACCURACY <= result.upper_bound - expected <= 2e-3
