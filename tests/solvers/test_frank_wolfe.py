"""The paper's solver: feasible at every step, Wolfe's conditions, and its options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdpmetric import Progress, Result, Status, knn_triplets
from sdpmetric.solvers.frank_wolfe import _Terms
from tests.support.lanes import some
from tests.support.problems import LOSSES, Case, Floats, Ints, random_case

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fit(case: Case, *, tol: float = 1e-6, max_iter: int = 40, **settings: Any) -> Result:
    return case.solve(solver="frank-wolfe", tol=tol, max_iter=max_iter, **settings)


@pytest.mark.parametrize("loss", some(LOSSES, 3))
def test_trace_one_and_psd_at_every_step(loss: str) -> None:
    case = random_case(8, loss, prior=None, t=0.0)
    assert case.X.shape[1] > 1
    objectives = []  # with a fresh rho at every step F itself must rise
    for steps in range(1, 16):
        result = fit(case, max_iter=steps, solver_options={"J": 1})
        values = np.linalg.eigvalsh(result.get_mahalanobis_matrix())
        assert values.sum() == pytest.approx(1.0, abs=1e-12)
        assert values[0] >= -1e-14
        objectives.append(result.objective)
    if loss != "hinge":
        assert np.all(np.diff(objectives) >= -1e-12)


def test_terms_are_the_mixed_matrix() -> None:
    """Through shrinking to nothing, a full step and the compression of many terms."""
    rng = np.random.default_rng(0)
    v = rng.normal(size=(4, 1))
    terms = _Terms(v / np.linalg.norm(v))
    expected = v @ v.T / float(np.sum(v**2))
    for alpha in (*rng.uniform(0.0, 0.5, 20), 1 - 1e-13, 0.3, 1.0, 0.25, *rng.uniform(0, 1, 30)):
        v = rng.normal(size=(4, 1))
        v /= np.linalg.norm(v)
        terms.mix(float(alpha), v)
        expected = (1 - alpha) * expected + alpha * v @ v.T
        P = terms.factor()
        np.testing.assert_allclose(P @ P.T, expected, atol=1e-9)
        assert len(terms.columns) <= 9


@pytest.mark.parametrize(("K", "J", "expected"), [(1, 3, 3), (4, 2, 8), (None, 5, 40)])
def test_rounds_and_steps_are_limited(K: int | None, J: int, expected: int) -> None:
    result = fit(random_case(8), solver_options={"K": K, "J": J})
    assert result.status is Status.ITERATION_LIMIT
    assert result.n_iter == expected


def test_fresh_rho_every_step_certifies_every_step() -> None:
    rows = [len(fit(random_case(8), solver_options={"J": J}).history) for J in (1, 10)]
    assert rows[0] > 5 * rows[1]


def test_the_paper_starts_at_rank_one() -> None:
    ranks: list[int] = []

    def watch(now: Progress) -> None:
        ranks.append(now.rank)

    fit(random_case(8), callback=watch)
    assert ranks[0] == 1
    assert max(ranks) > 1


def test_start_is_used() -> None:
    case = random_case(8, "squared_hinge", prior=None, t=0.0)
    best = case.solve()
    result = fit(case, start=best.factor, max_iter=5)
    assert result.objective >= best.objective - 1e-6


@pytest.mark.parametrize("options", [{"c1": 0.4, "c2": 0.5}, {"c2": 0.01}])
def test_wolfe_constants_act(options: dict[str, float]) -> None:
    case = random_case(8)
    other, default = fit(case, solver_options=options), fit(case)
    assert not np.array_equal(other.components, default.components)
    assert other.objective <= default.upper_bound + 1e-9


def test_epsilon_stops_by_the_eigenvalue_or_by_the_change() -> None:
    case = random_case(8)
    at_once = fit(case, solver_options={"epsilon": 1e9})
    assert (at_once.status, at_once.n_iter) == (Status.STALLED, 0)
    later = fit(case, max_iter=5000, solver_options={"epsilon": 1e-2})
    assert later.status is Status.STALLED
    assert 0 < later.n_iter < 5000


@pytest.mark.slow
def test_the_eigenvalue_of_the_paper_does_not_go_to_zero(wine: tuple[Floats, Ints]) -> None:
    """At a certified optimum on wine lambda_max(G) is above 1; the gap is what vanishes."""
    X, y = wine
    case = Case(X, knn_triplets(X, y))
    result = fit(case, tol=1e-2, max_iter=1000)
    assert result.converged
    M = result.get_mahalanobis_matrix()
    assert case.relative_gap(M, result.rho) <= 1e-2 + 1e-9
    assert np.linalg.eigvalsh(case.gradient(M, result.rho))[-1] > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("loss", some(LOSSES, 3))
def test_loose_tolerance_is_reached(loss: str) -> None:
    for seed in (0, 2, 4):
        result = fit(random_case(seed, loss), tol=0.05, max_iter=2000)
        assert result.converged
        assert result.gap <= 0.05


def test_deterministic() -> None:
    first, second = (fit(random_case(8)) for _ in range(2))
    np.testing.assert_array_equal(first.components, second.components)
