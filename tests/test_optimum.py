"""The optimum of another solver lies in the bracket: ``objective <= optimum <= upper_bound``."""

from __future__ import annotations

from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from scipy.linalg import orth

from problems import LOSSES, SOLVERS, Case, Floats, random_case

SEEDS = range(24)
ACCURACY = 1e-6  # of Clarabel, in units of 1 + |optimum|

# Clarabel says so where it reaches 1e-7 or so, but not its 1e-8.
pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")


def total_loss(case: Case, t: cp.Expression) -> tuple[cp.Expression, list[cp.Constraint]]:
    """``sum c_r loss(t_r)`` with the constraints of its slack variables."""
    c = case.C * case.share
    if case.loss == "squared_hinge":
        return c @ cp.square(cp.pos(-t)), []
    if case.loss == "hinge":
        return c @ cp.pos(-t), []
    if case.loss == "logistic":
        return case.h * (c @ cp.logistic(-t / case.h)), []
    # Huber is an infimal convolution of a parabola and a line.
    u, v = cp.Variable(len(c), nonneg=True), cp.Variable(len(c), nonneg=True)
    return c @ (cp.square(u) / (4 * case.h) + v), [u + v >= case.h - t, u <= 2 * case.h]


@cache
def optimum(seed: int, loss: str) -> tuple[float, float, Floats]:
    return reference(random_case(seed, loss))


def reference(case: Case) -> tuple[float, float, Floats]:
    """The optimum, rho* and M* by Clarabel, from the items themselves.

    M' lives in the span of the compared differences (design.md, "Null directions").
    """
    basis = orth(np.vstack([case.near, case.far]).T)
    N = cp.Variable((basis.shape[1], basis.shape[1]), PSD=True)
    rho = cp.Variable(nonneg=True)

    def form(d: Floats) -> cp.Expression:
        inside = d @ basis
        products = np.einsum("ri,rj->rij", inside, inside).reshape(len(d), -1)
        learned = products @ cp.vec(N, order="C")
        return case.scale * (1 - case.t) * learned + case.t * case.form(d, case.M0)

    loss_sum, constraints = total_loss(case, form(case.far) - form(case.near) - rho)
    problem = cp.Problem(cp.Maximize(rho - loss_sum), [cp.trace(N) == 1, *constraints])
    problem.solve(solver=cp.CLARABEL)
    M = (1 - case.t) * basis @ N.value @ basis.T + case.t * case.M0
    return float(problem.value), float(rho.value), np.asarray(M)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("solver", "tol", "max_iter"), [("low-rank", 1e-5, 3000), ("frank-wolfe", 1e-2, 200)]
)
def test_bracket(seed: int, loss: str, solver: str, tol: float, max_iter: int) -> None:
    result = random_case(seed, loss).solve(solver=solver, tol=tol, max_iter=max_iter)
    expected, _, _ = optimum(seed, loss)
    room = ACCURACY * (1 + abs(expected))
    assert result.objective <= result.upper_bound + 1e-12 * (1 + abs(expected))
    assert result.objective <= expected + room
    assert expected <= result.upper_bound + room
    if solver == "low-rank":
        assert result.converged


@pytest.mark.parametrize("loss", LOSSES)
def test_reported_objective_is_that_of_the_metric(loss: str) -> None:
    for seed in SEEDS[:8]:
        case = random_case(seed, loss)
        result = case.solve()
        expected_rho, expected = case.best(result.get_mahalanobis_matrix())
        assert result.objective == pytest.approx(expected, rel=1e-8, abs=1e-8)
        reached = case.f(result.get_mahalanobis_matrix(), result.rho)
        assert reached == pytest.approx(expected, rel=1e-8, abs=1e-8)
        if loss != "hinge":  # whose best rho may be an interval
            assert result.rho == pytest.approx(expected_rho, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_both_kinds_of_margin_occur(loss: str) -> None:
    rhos = np.array([optimum(seed, loss)[1] for seed in SEEDS])
    assert np.sum(rhos < 1e-7) >= 4
    assert np.sum(rhos > 1e-3) >= 4


@pytest.mark.parametrize("solver", SOLVERS)
def test_metric_is_that_of_the_reference(solver: str) -> None:
    """The squared hinge with many comparisons has one optimum, and both solvers find it."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12, 3))
    triplets = np.array([[a, b, c] for a in range(12) for b in range(4) for c in range(8, 12)])
    triplets = triplets[(triplets[:, 0] >= 4) & (triplets[:, 0] < 8)]
    case = Case(X, triplets, loss="squared_hinge", C=5.0)
    _, _, expected = reference(case)
    tol = 1e-6 if solver == "low-rank" else 5e-3
    result = case.solve(solver=solver, tol=tol, max_iter=3000)
    error = np.linalg.norm(result.get_mahalanobis_matrix() - expected)
    assert error <= 20 * np.sqrt(tol) * np.linalg.norm(expected)
