"""The optimum of another solver lies in the bracket: ``objective <= optimum <= upper_bound``."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.support.lanes import some
from tests.support.planted import planted
from tests.support.problems import LOSSES, SMOOTH, SOLVERS, Case, Floats, random_case
from tests.support.reference import ACCURACY, reference

SEEDS = range(24)


@cache
def optimum(seed: int, loss: str) -> tuple[float, float, Floats]:
    return reference(random_case(seed, loss))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", some(SEEDS, 2))
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.parametrize("D", [1, 7, 110])
@pytest.mark.parametrize("loss", SMOOTH)
def test_closed_form(loss: str, D: int) -> None:
    """In more dimensions than Clarabel can solve."""
    expected = planted(0, loss, D)
    result = expected.case.solve(tol=1e-7)
    M = result.get_mahalanobis_matrix()
    assert result.objective == pytest.approx(expected.objective, abs=1e-9)
    assert result.upper_bound == pytest.approx(expected.objective, abs=1e-6)
    assert result.rho == pytest.approx(expected.rho, abs=1e-4)
    lengths = np.einsum("id,de,ie->i", expected.axes, M, expected.axes)
    np.testing.assert_allclose(lengths, expected.lengths, atol=1e-4 / D)


@pytest.mark.parametrize("loss", SMOOTH)
def test_closed_form_is_that_of_the_reference(loss: str) -> None:
    for seed in range(3):
        problem = planted(seed, loss, 4)
        expected, rho, _ = reference(problem.case)
        assert problem.objective == pytest.approx(expected, abs=ACCURACY)
        assert problem.rho == pytest.approx(rho, abs=1e-4)
