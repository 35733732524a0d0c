"""F, its gradient, its operator and its lines, against dense definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from problems import SMOOTH, Case, Floats, random_case
from sdpmetric import Comparisons, Huber, Logistic, Loss, SquaredHinge
from sdpmetric.objective import Laplacian, Objective
from sdpmetric.solvers import low_rank


def objective_of(case: Case, X: Any = None) -> Objective:
    """An Objective built by hand: coefficients, scale and prior distances from the test."""
    losses: dict[str, Loss] = {
        "squared_hinge": SquaredHinge(),
        "huber": Huber(case.h),
        "logistic": Logistic(case.h),
    }
    comparisons = Comparisons.from_indices(case.triplets, case.weights)
    edges = case.X[comparisons.edges[:, 0]] - case.X[comparisons.edges[:, 1]]
    prior = case.form(edges, case.M0) if case.t > 0 else None
    return Objective(
        case.X if X is None else X,
        comparisons,
        case.C * case.share,
        case.scale,
        losses[case.loss],
        prior,
        case.t,
    )


def metric(P: Floats) -> Floats:
    return np.asarray(P @ P.T / np.sum(P**2))


def mixed(case: Case, learned: Floats) -> Floats:
    return (1 - case.t) * learned + case.t * case.M0


CASES = [(loss, seed) for loss in SMOOTH for seed in range(6)]


@pytest.fixture(params=CASES, ids=lambda p: f"{p[0]}-{p[1]}")
def case(request: pytest.FixtureRequest) -> Case:
    return random_case(request.param[1], request.param[0])


def factor(case: Case, columns: int = 3, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=(case.X.shape[1], columns))


def test_value_margin_pull_and_far(case: Case) -> None:
    P = factor(case)
    point = objective_of(case).at(P, rho=0.7)
    M = mixed(case, metric(P))
    expected_rho, expected = case.best(M)
    assert point.value == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert point.rho == pytest.approx(expected_rho, rel=1e-5, abs=1e-5)
    G = case.gradient(M, point.rho)
    assert point.pull == pytest.approx(float(np.sum(G * metric(P))), rel=1e-9, abs=1e-9)
    expected_far = float(case.slopes(M, point.rho) @ case.form(case.far, M))
    assert point.far == pytest.approx(expected_far, rel=1e-9)
    expected_prior_pull = case.t * float(np.sum(G * case.M0))
    assert point.prior_pull == pytest.approx(expected_prior_pull, rel=1e-9, abs=1e-9)
    assert 0.0 <= point.slack <= 1e-9


def test_times_and_gradient_are_dense_G(case: Case) -> None:
    P, V = factor(case), factor(case, 4, seed=1)
    point = objective_of(case).at(P)
    G = case.gradient(mixed(case, metric(P)), point.rho)
    room = 1e-10 * np.abs(G).max()
    np.testing.assert_allclose(point.times(V), G @ V, rtol=1e-9, atol=room)
    np.testing.assert_allclose(point.gradient(), G @ P, rtol=1e-9, atol=room)


def test_gradient_by_finite_differences(case: Case) -> None:
    """``dF/dP = 2 (1 - t) (G P - pull P) / ||P||^2``, Danskin's theorem included."""
    P, E = factor(case), factor(case, seed=2)
    objective = objective_of(case)
    step = 1e-6
    expected = (objective.at(P + step * E).value - objective.at(P - step * E).value) / (2 * step)
    point = objective.at(P)
    gradient = 2 * (1 - case.t) * (point.gradient() - point.pull * P) / np.sum(P**2)
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
    objective = objective_of(case).replace(pinned=0.37)
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
    point = objective_of(case).replace(pinned=rho).at(P)
    expected = rho * max(0.0, float(case.slopes(M, rho).sum()) - 1.0)
    assert point.slack == pytest.approx(expected, rel=1e-9, abs=1e-9)
    top = max(0.0, float(np.linalg.eigvalsh(case.gradient(M, rho))[-1]))
    bound = point.value + (1 - case.t) * (top - point.pull) + point.slack
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
    first = low_rank(objective, tol=1e-3)
    (sketch,) = objective.memory.values()
    varied = objective.replace(loss=SquaredHinge(), comparisons=objective.comparisons)
    warm = low_rank(varied, tol=1e-3, start=first.factor)
    assert list(varied.memory.values()) == [sketch]
    alone = low_rank(objective_of(case).replace(loss=SquaredHinge()), tol=1e-3, start=first.factor)
    np.testing.assert_array_equal(warm.factor, alone.factor)
    kept = np.arange(len(objective.comparisons)) % 2 == 0
    some = objective.comparisons.subset(kept)
    assert not objective.replace(comparisons=some).memory
    assert not objective.replace(scale=2.0 * objective.scale).memory
    assert not objective.replace(X=objective.X.copy()).memory
    low_rank(varied, tol=1e-3, seed=1)
    assert len(objective.memory) == 2


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
    assert (other.rounded, dense.rounded) == (other.X.dtype == np.float32, False)


def test_laplacian_is_a_sum_of_outer_products() -> None:
    rng = np.random.default_rng(0)
    edges = np.array([[0, 1], [0, 3], [1, 4], [2, 3], [3, 4]])
    weights = rng.normal(size=5)
    weights[2] = 0.0
    expected = np.zeros((6, 6))
    for (a, b), w in zip(edges, weights, strict=True):
        e = np.eye(6)[a] - np.eye(6)[b]
        expected += w * np.outer(e, e)
    found = Laplacian(edges, weights, 6) @ np.eye(6)
    np.testing.assert_allclose(found, expected, atol=1e-15)


@pytest.mark.parametrize("block", [1, 7, 1 << 24])
def test_blocks_do_not_change_products(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The block sizes are crossed by making them small."""
    from sdpmetric import products

    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 4)).astype(np.float32)
    a, b = rng.integers(0, 30, size=(2, 50))
    monkeypatch.setattr(products.blocks, "__defaults__", (block,))
    exact = X.astype(np.float64)
    expected = np.sum((exact[a] - exact[b]) ** 2, axis=1)
    np.testing.assert_allclose(products.squared_differences(X, a, b), expected, rtol=1e-14)
    np.testing.assert_allclose(products.edge_distances(exact, np.stack([a, b], 1)), expected)
    V, S = rng.normal(size=(4, 2)), rng.normal(size=(30, 2))
    np.testing.assert_allclose(products.forward(X, V, exact=True), exact @ V, rtol=1e-13)
    np.testing.assert_allclose(products.backward(X, S, exact=True), exact.T @ S, rtol=1e-12)


def test_compiled_distances_are_those_of_the_plain_function() -> None:
    from sdpmetric import products
    from sdpmetric.kernels.rows import squared_distance

    rng = np.random.default_rng(2)
    X = rng.normal(size=(6, 9)) * (rng.uniform(size=(6, 9)) < 0.4)
    a, b = np.triu_indices(6)
    for rows in (X, sp.csr_array(X)):
        at = products.stored(rows)
        plain = [squared_distance(at, i, at, j) for i, j in zip(a, b, strict=True)]
        np.testing.assert_allclose(products.squared_differences(rows, a, b), plain, rtol=1e-14)
        np.testing.assert_allclose(plain, np.sum((X[a] - X[b]) ** 2, axis=1), rtol=1e-14)
        across = products.squared_differences(rows[:3], a % 3, b, Y=rows)
        np.testing.assert_allclose(across, np.sum((X[a % 3] - X[b]) ** 2, axis=1), rtol=1e-14)
