"""What must not change the metric, and what must change it in a known way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import null_space

from sdpmetric import Result, SDPMetric, solve
from tests.support.lanes import some
from tests.support.problems import LOSSES, SMOOTH, Case, consistent, random_triplets

TOL = 1e-6


def base(loss: str = "squared_hinge", **changes: Any) -> Case:
    """A problem with one optimum: as many active comparisons as M has numbers, and more."""
    rng = np.random.default_rng(21)
    X = rng.normal(size=(30, 4))
    triplets = consistent(random_triplets(rng, 30, 150), X, np.diag([1.0, 0.5, 0.2, 0.1]))
    flip = rng.random(150) < 0.1
    triplets[flip] = triplets[flip][:, [0, 2, 1]]
    return Case(X, triplets, loss=loss, C=10.0).but(**changes)


def assert_same(found: Result, expected: Result, atol: float = 5e-3) -> None:
    """Optima agree within their certificates, metrics within the root of the tolerance."""
    assert found.converged
    assert expected.converged
    room = 1e-9 * (1 + abs(expected.objective))
    assert found.objective <= expected.upper_bound + room
    assert expected.objective <= found.upper_bound + room
    assert found.objective == pytest.approx(expected.objective, abs=1e-4)
    np.testing.assert_allclose(
        found.get_mahalanobis_matrix(), expected.get_mahalanobis_matrix(), atol=atol
    )


@pytest.fixture(params=SMOOTH)
def pair(request: pytest.FixtureRequest) -> tuple[Case, Result]:
    case = base(request.param)
    return case, case.solve(tol=TOL)


@pytest.mark.parametrize("shift", [1.0, -1e3, 1e6])
def test_shifting_the_items(pair: tuple[Case, Result], shift: float) -> None:
    case, expected = pair
    moved = case.but(X=case.X + shift * np.arange(1, 5)).solve(tol=TOL)
    assert_same(moved, expected)
    assert moved.scale == pytest.approx(expected.scale, rel=1e-6)


@pytest.mark.parametrize("factor", [1e-3, 7.0, 1e5])
def test_scaling_the_items(pair: tuple[Case, Result], factor: float) -> None:
    case, expected = pair
    scaled = case.but(X=case.X * factor).solve(tol=TOL)
    assert_same(scaled, expected)
    assert scaled.rho == pytest.approx(expected.rho, abs=1e-4)
    assert scaled.scale == pytest.approx(expected.scale / factor**2, rel=1e-12)


def test_a_power_of_two_changes_no_bit(pair: tuple[Case, Result]) -> None:
    case, expected = pair
    scaled = case.but(X=case.X * 8.0).solve(tol=TOL)
    np.testing.assert_array_equal(scaled.components, expected.components)
    assert scaled.objective == expected.objective


def test_order_of_comparisons(pair: tuple[Case, Result]) -> None:
    case, expected = pair
    order = np.random.default_rng(0).permutation(len(case.triplets))
    assert_same(case.but(triplets=case.triplets[order]).solve(tol=TOL), expected)


def test_order_of_items(pair: tuple[Case, Result]) -> None:
    case, expected = pair
    order = np.random.default_rng(1).permutation(len(case.X))
    place = np.argsort(order)
    renamed = case.but(X=case.X[order], triplets=place[case.triplets])
    assert_same(renamed.solve(tol=TOL), expected)


def test_items_that_are_not_compared(pair: tuple[Case, Result]) -> None:
    case, expected = pair
    more = np.vstack([case.X, np.random.default_rng(2).normal(size=(5, 4)) * 1e3])
    result = case.but(X=more).solve(tol=TOL)
    np.testing.assert_array_equal(result.components, expected.components)


def test_rotating_the_features(pair: tuple[Case, Result]) -> None:
    case, expected = pair
    Q = np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))[0]
    turned = case.but(X=case.X @ Q).solve(tol=TOL)
    back = Q @ turned.get_mahalanobis_matrix() @ Q.T
    np.testing.assert_allclose(back, expected.get_mahalanobis_matrix(), atol=5e-3)
    assert turned.objective == pytest.approx(expected.objective, abs=1e-4)


@pytest.mark.parametrize("loss", some(LOSSES, 3))
def test_weight_two_is_the_same_given_twice(loss: str) -> None:
    case = base(loss)
    twice = np.random.default_rng(4).random(150) < 0.3
    weighted = case.but(weights=1.0 + twice)
    repeated = case.but(triplets=np.vstack([case.triplets, case.triplets[twice]]))
    tol = 1e-5
    found, expected = weighted.solve(tol=tol), repeated.solve(tol=tol)
    assert_same(found, expected, atol=2e-2)
    assert found.scale == pytest.approx(expected.scale, rel=1e-12)


@pytest.mark.parametrize("loss", some(LOSSES, 3))
def test_weight_zero_is_left_out(loss: str) -> None:
    case = base(loss)
    kept = np.random.default_rng(5).random(150) < 0.6
    found = case.but(weights=kept.astype(float)).solve()
    expected = case.but(triplets=case.triplets[kept]).solve()
    np.testing.assert_allclose(found.components, expected.components, atol=1e-9)
    assert found.scale == pytest.approx(expected.scale, rel=1e-12)


@pytest.mark.parametrize("factor", [1e-150, 3.0, 1e150])
def test_only_proportions_of_weights_matter(factor: float) -> None:
    weights = np.random.default_rng(6).uniform(0.5, 2.0, size=150)
    expected = base(weights=weights).solve(tol=TOL)
    assert_same(base(weights=factor * weights).solve(tol=TOL), expected)


@pytest.mark.parametrize("value", [0.0, 5.0, -1e3])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_constant_column(value: float, sparse: bool) -> None:
    """scale_ grows by (D + 1) / D, so C z and h must shrink by as much to pose the same problem."""
    case = base("squared_hinge")
    expected = case.solve(tol=TOL)
    X = np.insert(case.X, 2, value, axis=1)
    grown = 5 / 4
    padded = case.but(X=sp.csr_array(X) if sparse else X, C=case.C / grown)
    found = padded.solve(tol=TOL)
    M = found.get_mahalanobis_matrix()
    assert found.scale == pytest.approx(grown * expected.scale, rel=1e-9)
    assert found.objective == pytest.approx(grown * expected.objective, rel=1e-3)
    np.testing.assert_allclose(M[2], 0.0, atol=1e-9)
    inside = np.delete(np.delete(M, 2, axis=0), 2, axis=1)
    np.testing.assert_allclose(inside, expected.get_mahalanobis_matrix(), atol=5e-3)


def test_a_constant_column_does_not_hide_a_negative_optimum() -> None:
    """Where every direction hurts, a direction in which nothing differs must not be the answer."""
    X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [0.5, 0.5]])
    triplets = np.array([[0, 1, 3], [0, 2, 3]])
    expected = Case(X, triplets, loss="squared_hinge").solve(tol=TOL)
    assert expected.objective < 0.0
    padded = Case(np.insert(X, 1, 4.0, axis=1), triplets, loss="squared_hinge", C=10.0 / 1.5)
    found = padded.solve(tol=TOL)
    M = found.get_mahalanobis_matrix()[np.ix_([0, 2], [0, 2])]
    assert np.trace(M) == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(M, expected.get_mahalanobis_matrix(), atol=5e-3)


IDLE: dict[str, Any] = {
    "constant first": lambda X: np.insert(X, 0, 7.0, axis=1),
    "constant last": lambda X: np.insert(X, X.shape[1], 7.0, axis=1),
    "zeros": lambda X: np.hstack([X, np.zeros((len(X), 2))]),
    "copied column": lambda X: np.hstack([X, X[:, :1]]),
    "sum of columns": lambda X: np.hstack([X, X @ np.ones((X.shape[1], 2))]),
    "constant, sparse": lambda X: sp.csr_array(np.insert(X, 0, 7.0, axis=1)),
    "copied column, sparse": lambda X: sp.csr_array(np.hstack([X, X[:, :1]])),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("solver", "tol"), [("low-rank", 1e-4), ("frank-wolfe", 1e-2)])
@pytest.mark.parametrize("loss", some(SMOOTH, 1))
@pytest.mark.parametrize("kind", IDLE)
def test_directions_in_which_nothing_differs(kind: str, loss: str, solver: str, tol: float) -> None:
    """M has nothing outside the span of the differences, and the bracket holds inside it.

    Here every direction has a negative pull, so that a direction of pull zero would be tempting.
    """
    rng = np.random.default_rng(39)
    X = rng.normal(size=(30, 3))
    case = Case(X, random_triplets(rng, 30, 300), loss=loss)
    wide = IDLE[kind](X)
    found = case.but(X=wide).solve(solver=solver, tol=tol, max_iter=300)
    assert found.objective <= found.upper_bound + 1e-12 * (1 + abs(found.objective))
    dense = wide.toarray() if sp.issparse(wide) else wide
    outside = null_space(dense - dense.mean(axis=0))
    M = found.get_mahalanobis_matrix()
    np.testing.assert_allclose(M @ outside, 0.0, atol=1e-6)
    assert found.objective == pytest.approx(case.but(X=dense).best(M)[1], abs=1e-6)


@pytest.mark.parametrize("loss", SMOOTH)
def test_single_precision(loss: str) -> None:
    case = base(loss)
    rounded = case.X.astype(np.float32)
    expected = case.but(X=rounded.astype(np.float64)).solve(tol=1e-5)
    found = case.but(X=rounded).solve(tol=1e-5)
    assert_same(found, expected)
    M = found.get_mahalanobis_matrix()
    exact = case.but(X=rounded.astype(np.float64))
    assert found.objective == pytest.approx(exact.best(M)[1], abs=1e-6)
    assert found.gap >= exact.relative_gap(M, exact.best(M)[0]) - 1e-6


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_sparse_items(loss: str, make: Any) -> None:
    case = base(loss)
    X = np.where(np.abs(case.X) < 0.5, 0.0, case.X)
    tol = 1e-5
    expected = case.but(X=X).solve(tol=tol)
    found = solve(make(X), case.triplets, tol=tol, **case.settings)
    assert_same(found, expected, atol=2e-2)


def test_sparse_labels_problem(blobs: Any) -> None:
    X, y = blobs
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    expected = SDPMetric(tol=TOL).fit(X, y)
    found = SDPMetric(tol=TOL).fit(sp.csr_array(X), y)
    assert found.objective_ == pytest.approx(expected.objective_, abs=1e-5)
    assert found.n_triplets_ == expected.n_triplets_


def test_quadruplets_that_share_an_anchor_are_triplets(pair: tuple[Case, Result]) -> None:
    case, expected = pair
    found = case.but(triplets=case.triplets[:, [0, 1, 0, 2]]).solve(tol=TOL)
    np.testing.assert_array_equal(found.components, expected.components)


def test_pairs_have_no_direction(pair: tuple[Case, Result]) -> None:
    case, expected = pair
    found = case.but(triplets=case.triplets[:, [1, 0, 2, 0]]).solve(tol=TOL)
    np.testing.assert_array_equal(found.components, expected.components)


def test_scale_uses_the_weights() -> None:
    weights = np.zeros(150)
    weights[[3, 7]] = 1.0, 3.0
    case = base(weights=weights)
    far = np.sum(case.far**2, axis=1)
    expected = 4 / ((far[3] + 3 * far[7]) / 4)
    assert case.solve().scale == pytest.approx(expected, rel=1e-12)
