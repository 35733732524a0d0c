"""The paper's solver: feasible at every step, Wolfe's conditions, and its options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from problems import LOSSES, Case, Floats, Ints, random_case
from sdpmetric import Progress, Result, Status, knn_triplets
from sdpmetric.solvers.frank_wolfe import _Terms
from sdpmetric.solvers.line_search import best_step, wolfe_step

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fit(case: Case, *, tol: float = 1e-6, max_iter: int = 40, **settings: Any) -> Result:
    return case.solve(solver="frank-wolfe", tol=tol, max_iter=max_iter, **settings)


@pytest.mark.parametrize("loss", LOSSES)
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


def parabola(peak: float) -> Any:
    return lambda alpha: (-((alpha - peak) ** 2), -2 * (alpha - peak))


def kink(peak: float, up: float, down: float) -> Any:
    """A smooth roof: steep on both sides of a narrow top."""
    width = 1e-3

    def line(alpha: float) -> tuple[float, float]:
        u = (alpha - peak) / width
        mean, half = (up - down) / 2, (up + down) / 2
        return mean * u * width - half * width * np.logaddexp(u, -u), mean - half * np.tanh(u)

    return line


@pytest.mark.parametrize("c1", [1e-4, 0.05])
@pytest.mark.parametrize("c2", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(
    "line",
    [
        *(parabola(p) for p in (1e-4, 0.1, 0.3, 0.6, 0.9)),
        *(kink(p, 1.0, 30.0) for p in (0.01, 0.3, 0.7)),
        kink(0.4, 30.0, 1.0),
    ],
)
def test_both_wolfe_conditions_hold(line: Any, c1: float, c2: float) -> None:
    value, slope = line(0.0)
    alpha = wolfe_step(line, value, slope, c1, c2)
    reached, flat = line(alpha)
    assert 0.0 < alpha <= 1.0
    assert reached >= value + c1 * alpha * slope
    assert abs(flat) <= c2 * slope


def test_halving_alone_would_jump_over_the_second_condition() -> None:
    line, c2 = parabola(0.7), 0.1
    value, slope = line(0.0)
    halvings = [0.5**i for i in range(40)]
    assert not any(abs(line(a)[1]) <= c2 * slope for a in halvings)
    alpha = wolfe_step(line, value, slope, 1e-4, c2)
    assert abs(line(alpha)[1]) <= c2 * slope


@pytest.mark.parametrize(
    ("peak", "expected"), [(-0.5, 0.0), (0.0, 0.0), (2.0, 1.0), (1.0, 1.0), (0.25, 0.25)]
)
def test_best_step(peak: float, expected: float) -> None:
    assert best_step(parabola(peak)) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(("peak", "expected"), [(-0.5, 0.0), (0.0, 0.0), (2.0, 1.0)])
def test_wolfe_step_at_the_ends(peak: float, expected: float) -> None:
    line = parabola(peak)
    assert wolfe_step(line, *line(0.0), 1e-4, 0.9) == expected


def test_wolfe_step_gives_up_where_nothing_rises() -> None:
    """A slope that rounding made up: no trial is accepted, and the step is none at all."""
    assert wolfe_step(kink(-1.0, 1.0, 1.0), 0.0, 1e-3, 1e-4, 0.9) == 0.0


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


def test_the_eigenvalue_of_the_paper_does_not_go_to_zero(wine: tuple[Floats, Ints]) -> None:
    """At a certified optimum on wine lambda_max(G) is above 1; the gap is what vanishes."""
    X, y = wine
    case = Case(X, knn_triplets(X, y))
    result = fit(case, tol=1e-2, max_iter=1000)
    assert result.converged
    M = result.get_mahalanobis_matrix()
    assert case.relative_gap(M, result.rho) <= 1e-2 + 1e-9
    assert np.linalg.eigvalsh(case.gradient(M, result.rho))[-1] > 0.5


@pytest.mark.parametrize("loss", LOSSES)
def test_loose_tolerance_is_reached(loss: str) -> None:
    for seed in (0, 2, 4):
        result = fit(random_case(seed, loss), tol=0.05, max_iter=2000)
        assert result.converged
        assert result.gap <= 0.05


def test_deterministic() -> None:
    first, second = (fit(random_case(8)) for _ in range(2))
    np.testing.assert_array_equal(first.components, second.components)
