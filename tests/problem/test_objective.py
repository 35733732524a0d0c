"""F, its gradient, its operator and its lines, against dense definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sdpmetric import Huber, SquaredHinge
from sdpmetric.linalg.blocks import EDGE_NUMBERS
from sdpmetric.linalg.items import items_of
from sdpmetric.problem.edge_points import CompiledPoint
from sdpmetric.problem.scatter import scatter_sketch
from sdpmetric.solvers import Limits, LowRank
from tests.support.lanes import some
from tests.support.parts import objective_of
from tests.support.problems import SMOOTH, Case, Floats, random_case, random_triplets


def metric(P: Floats) -> Floats:
    return np.asarray(P @ P.T / np.sum(P**2))


def mixed(case: Case, learned: Floats) -> Floats:
    return (1 - case.t) * learned + case.t * case.M0


CASES = [(loss, seed) for seed in range(6) for loss in SMOOTH]


@pytest.fixture(params=some(CASES, 6), ids=lambda p: f"{p[0]}-{p[1]}")
def case(request: pytest.FixtureRequest) -> Case:
    return random_case(request.param[1], request.param[0])


# An evaluation as one compiled call, or by single ones.
both_ways = pytest.mark.parametrize("compiled_limit", [0, EDGE_NUMBERS])


def factor(case: Case, columns: int = 3, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=(case.X.shape[1], columns))


@both_ways
def test_value_margin_pull_and_far(case: Case, compiled_limit: int) -> None:
    P = factor(case)
    point = objective_of(case, compiled_limit=compiled_limit).at(P, rho=0.7)
    assert isinstance(point, CompiledPoint) == (compiled_limit > 0 and case.loss != "logistic")
    M = mixed(case, metric(P))
    expected_rho, expected = case.best(M)
    assert point.value == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert point.rho == pytest.approx(expected_rho, rel=1e-5, abs=1e-5)
    G = case.gradient(M, point.rho)
    assert point.inner_GM == pytest.approx(float(np.sum(G * metric(P))), rel=1e-9, abs=1e-9)
    expected_far = float(case.slopes(M, point.rho) @ case.form(case.far, M))
    assert point.far_weight == pytest.approx(expected_far, rel=1e-9)
    expected_prior_pull = case.t * float(np.sum(G * case.M0))
    assert point.inner_GM0 == pytest.approx(expected_prior_pull, rel=1e-9, abs=1e-9)
    assert 0.0 <= point.slack <= 1e-9
    step = 1e-5 * case.h
    slopes = (float(case.slopes(M, point.rho + e).sum()) for e in (step, -step))
    expected_curvature = (next(slopes) - next(slopes)) / (2 * step)
    assert point.curvature == pytest.approx(expected_curvature, rel=1e-3, abs=1e-6)


@both_ways
def test_times_and_gradient_are_dense_G(case: Case, compiled_limit: int) -> None:
    P, V = factor(case), factor(case, 4, seed=1)
    point = objective_of(case, compiled_limit=compiled_limit).at(P)
    G = case.gradient(mixed(case, metric(P)), point.rho)
    room = 1e-10 * np.abs(G).max()
    np.testing.assert_allclose(point.times(V), G @ V, rtol=1e-9, atol=room)
    np.testing.assert_allclose(point.gradient(), G @ P, rtol=1e-9, atol=room)


def test_gradient_by_finite_differences(case: Case) -> None:
    """``dF/dP = 2 (1 - t) (G P - <G, M> P) / ||P||^2``, Danskin's theorem included."""
    P, E = factor(case), factor(case, seed=2)
    objective = objective_of(case)
    step = 1e-6
    expected = (objective.at(P + step * E).value - objective.at(P - step * E).value) / (2 * step)
    point = objective.at(P)
    gradient = 2 * (1 - case.t) * (point.gradient() - point.inner_GM * P) / np.sum(P**2)
    assert float(np.sum(gradient * E)) == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_line_is_the_mixed_point(case: Case, alpha: float) -> None:
    P, V = factor(case), factor(case, 1, seed=3)
    line = objective_of(case).at(P).toward(V)
    M = mixed(case, (1 - alpha) * metric(P) + alpha * metric(V))
    expected_rho, expected = case.best(M)
    value, slope = line(alpha)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)
    step = 1e-6
    expected_slope = (line(alpha + step)[0] - line(alpha - step)[0]) / (2 * step)
    assert slope == pytest.approx(expected_slope, rel=1e-4, abs=1e-5)
    point = line.point(alpha)
    assert point.value == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert point.rho == pytest.approx(expected_rho, rel=1e-5, abs=1e-5)
    G = case.gradient(M, point.rho)
    W = factor(case, 2, seed=4)
    np.testing.assert_allclose(point.times(W), G @ W, rtol=1e-9, atol=1e-10 * np.abs(G).max())


def test_scatter_is_the_mean_over_edges(case: Case) -> None:
    objective = objective_of(case)
    edges = objective.comparisons.edges
    d = case.X[edges[:, 0]] - case.X[edges[:, 1]]
    expected = case.scale * d.T @ d / len(d)
    found = objective.scatter(np.eye(case.X.shape[1]))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_pinned_rho_is_kept(case: Case) -> None:
    P = factor(case)
    objective = objective_of(case).replace(fixed_rho=0.37)
    point = objective.at(P, rho=5.0)
    assert point.rho == 0.37
    M = mixed(case, metric(P))
    assert point.value == pytest.approx(case.f(M, 0.37), rel=1e-10)
    V = factor(case, 2, seed=5)
    expected = case.gradient(M, 0.37) @ V
    np.testing.assert_allclose(point.times(V), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("off", [0.0, 0.05, 0.5])
def test_slack_pays_for_a_margin_that_is_too_large(case: Case, off: float) -> None:
    """``rho (sum w - 1)``: with it even a wrong rho gives a bound that no metric exceeds."""
    P = factor(case)
    M = mixed(case, metric(P))
    rho = case.best(M)[0] + off
    point = objective_of(case).replace(fixed_rho=rho).at(P)
    expected = rho * max(0.0, float(case.slopes(M, rho).sum()) - 1.0)
    assert point.slack == pytest.approx(expected, rel=1e-9, abs=1e-9)
    top = max(0.0, float(np.linalg.eigvalsh(case.gradient(M, rho))[-1]))
    bound = point.value + (1 - case.t) * (top - point.inner_GM) + point.slack
    assert bound >= case.solve(tol=1e-5).objective - 1e-6


def test_replace_shares_items_and_edges() -> None:
    objective = objective_of(random_case(4))
    other = objective.replace(loss=SquaredHinge(), coefficients=2.0 * objective.coefficients)
    assert other.X is objective.X
    assert other.comparisons is objective.comparisons
    assert isinstance(other.loss, SquaredHinge)
    assert isinstance(objective.loss, Huber)


def test_what_the_items_and_comparisons_determine_is_made_once() -> None:
    case = random_case(4)
    objective = objective_of(case)
    first = LowRank()(objective, None, Limits(tol=1e-3))
    (sketch,) = objective.cache.values()
    varied = objective.replace(loss=SquaredHinge(), comparisons=objective.comparisons)
    warm = LowRank()(varied, first.factor, Limits(tol=1e-3))
    assert list(varied.cache.values()) == [sketch]
    alone = LowRank()(
        objective_of(case).replace(loss=SquaredHinge()), first.factor, Limits(tol=1e-3)
    )
    np.testing.assert_array_equal(warm.factor, alone.factor)
    kept = np.arange(len(objective.comparisons)) % 2 == 0
    some = objective.comparisons.subset(kept)
    assert not objective.replace(comparisons=some).cache
    assert not objective.replace(scale=2.0 * objective.scale).cache
    assert not objective.replace(X=items_of(case.X)).cache
    LowRank()(varied, None, Limits(tol=1e-3, seed=1))
    assert len(objective.cache) == 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fits_agree_whichever_way_they_are_evaluated(case: Case, dtype: Any) -> None:
    """Within their brackets, and in about as many evaluations: weights and priors by the seed."""
    limits = Limits(tol=1e-4)
    single, whole = (
        LowRank()(objective_of(case, dtype(case.X), compiled_limit=limit), None, limits)
        for limit in (0, EDGE_NUMBERS)
    )
    assert max(single.gap, whole.gap) <= 1e-4
    assert max(single.objective, whole.objective) <= min(single.upper_bound, whole.upper_bound)
    # Rounding can turn a step: not more than that.
    assert whole.n_iter == pytest.approx(single.n_iter, rel=0.2, abs=10)


def test_one_call_up_to_the_work_that_needs_no_threads(case: Case) -> None:
    """Numbers along edges count once a column, comparisons once; both limits are crossed."""
    whole = objective_of(case)
    m, most = whole.n_comparisons, max(len(whole.X), whole.n_edges)
    P = factor(case)
    for limit, expected in [
        (max(4 * m, 3 * most), True),
        (4 * m - 1, False),
        (3 * most - 1, False),
    ]:
        point = objective_of(case, compiled_limit=limit).at(P)
        assert isinstance(point, CompiledPoint) == (expected and case.loss != "logistic")
        assert point.value == pytest.approx(whole.at(P).value, rel=1e-12)


@pytest.mark.parametrize("k", [2, 6])
def test_the_sketch_of_the_scatter(k: int) -> None:
    """Whole if it has all directions; else its leading ones, and the least variance elsewhere."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 6)) * [9.0, 5.0, 0.3, 0.2, 0.1, 0.1]
    case = Case(X, random_triplets(rng, 40, 200))
    objective = objective_of(case)
    sketch = scatter_sketch(objective, Limits().oracle(objective), k)
    values, V = np.linalg.eigh(objective.scatter(np.eye(6)))
    expected = V @ np.diag(np.maximum(values, values[-k])) @ V.T
    found = sketch.spread(np.eye(6)) * 6
    np.testing.assert_allclose(found, expected, atol=1e-3 * values[-1] if k < 6 else 1e-9)
    assert sketch.whole == (k == 6)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("make", [sp.csr_array, np.float32, lambda X: sp.csr_array(np.float32(X))])
def test_every_kind_of_items(make: Any, exact: bool) -> None:
    """Single precision has its own rounding, but not in what is asked for exactly."""
    case = random_case(6, "squared_hinge")
    case = case.but(X=case.X.astype(np.float32).astype(np.float64))
    P, V = factor(case), factor(case, 2, seed=6)
    dense, other = objective_of(case), objective_of(case, make(case.X))
    expected, point = dense.at(P), other.at(P, exact=exact)
    rounding = 1e-11 if exact or other.X.dtype == np.float64 else 1e-4
    assert point.value == pytest.approx(expected.value, rel=rounding, abs=rounding)
    room = 10 * rounding * np.abs(expected.times(V)).max()
    np.testing.assert_allclose(point.times(V), expected.times(V), atol=room)
    np.testing.assert_allclose(point.gradient(), expected.gradient(), atol=1e-4)
    assert (other.needs_exact, dense.needs_exact) == (other.X.dtype == np.float32, False)
