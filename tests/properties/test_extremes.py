"""Values, shapes and data at the ends of their ranges, against the same problem in tame units."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sdpmetric import SDPMetric, SDPMetricClassifier, TripletSDPMetric
from tests.support.lanes import some
from tests.support.problems import (
    LOSSES,
    SMOOTH,
    SOLVERS,
    Case,
    Floats,
    consistent,
    labelled,
    random_triplets,
)


def planted(n: int = 20, D: int = 3, m: int = 60) -> Case:
    rng = np.random.default_rng(31)
    X = rng.normal(size=(n, D))
    return Case(X, consistent(random_triplets(rng, n, m), X, np.diag(1.0 + np.arange(D))))


@pytest.mark.parametrize("factor", some([1e150, 1e-150, 1e101, 1e99, 1e-99, 1e-101], 2))
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_huge_and_tiny_values(factor: float, loss: str, make: Any) -> None:
    case = planted().but(loss=loss)
    expected = case.solve()
    found = case.but(X=make(case.X * factor)).solve()
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, abs=1e-3)
    assert found.objective <= expected.upper_bound + 1e-9
    assert expected.objective <= found.upper_bound + 1e-9
    assert found.scale == pytest.approx(expected.scale / factor / factor, rel=1e-9)
    np.testing.assert_allclose(
        found.get_mahalanobis_matrix(), expected.get_mahalanobis_matrix(), atol=0.05
    )


@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_huge_and_tiny_values_with_gaps(factor: float) -> None:
    """Rows of different patterns, and a constant column, keep their distances."""
    case = planted(D=8)
    X = np.where(np.random.default_rng(32).uniform(size=case.X.shape) < 0.4, case.X, 0.0)
    X[:, 3] = 1.0
    expected = case.but(X=X).solve()
    found = case.but(X=sp.csr_array(X * factor)).solve()
    assert found.objective == pytest.approx(expected.objective, abs=1e-3)
    assert found.scale == pytest.approx(expected.scale / factor / factor, rel=1e-9)


def test_values_whose_sum_overflows() -> None:
    """A sum is how NaN is looked for, and an infinite sum is not yet an infinite entry."""
    case = planted()
    X = case.X * (1.5e308 / np.abs(case.X).max())
    found = case.but(X=np.abs(X)).solve()
    expected = case.but(X=np.abs(case.X)).solve()
    assert found.objective == pytest.approx(expected.objective, abs=1e-3)


def test_choosing_coordinates_near_the_largest_number() -> None:
    """The mean of a sample overflowed before the sample was scaled."""
    X, y = labelled(np.random.default_rng(0), 60, 5)
    expected = SDPMetric(tol=1e-3).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = SDPMetric(tol=1e-3).fit(X * 2.0**1020, y)
    assert found.coordinates_.kind == expected.coordinates_.kind
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)


@pytest.mark.parametrize("factor", [1e18, 1e-18])
def test_huge_and_tiny_values_in_single_precision(factor: float) -> None:
    case = planted()
    expected = case.but(X=case.X.astype(np.float32)).solve()
    found = case.but(X=(case.X * factor).astype(np.float32)).solve()
    assert found.objective == pytest.approx(expected.objective, abs=1e-3)
    assert np.isfinite(found.components).all()


@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_a_fitted_metric_of_extreme_items(factor: float) -> None:
    """Distances, accuracy and the map scale with the items."""
    X, y = labelled(np.random.default_rng(32), 30, 3)
    tame, wild = SDPMetric().fit(X, y), SDPMetric().fit(X * factor, y)
    np.testing.assert_allclose(
        wild.get_mahalanobis_matrix(), tame.get_mahalanobis_matrix(), atol=0.02
    )
    M = wild.get_mahalanobis_matrix()
    d = X[:10] - X[10:20]
    expected = np.sqrt(np.einsum("ri,ij,rj->r", d, M, d))
    pairs = np.stack([X[:10], X[10:20]], axis=1) * factor
    np.testing.assert_allclose(wild.pair_distance(pairs) / factor, expected, rtol=1e-9)
    np.testing.assert_allclose(
        np.diag(wild.pairwise_distances(X[:10] * factor, X[10:20] * factor)) / factor, expected
    )
    T = random_triplets(np.random.default_rng(33), 30, 50)
    expected_accuracy = wild.triplet_accuracy(X, T)
    assert 0.2 < expected_accuracy < 0.9
    assert wild.triplet_accuracy(X * factor, T) == expected_accuracy


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("largest", [1e308, 1.7e308])
def test_a_classifier_of_rows_whose_sum_overflows(largest: float) -> None:
    """Their mean was infinite, and every energy NaN."""
    X, y = labelled(np.random.default_rng(34), 60, 3)
    tame = SDPMetricClassifier(SDPMetric(coordinates="raw", tol=1e-6)).fit(X, y)
    factor = largest / np.abs(X).max()
    wild = SDPMetricClassifier(SDPMetric(coordinates="raw", tol=1e-6)).fit(X * factor, y)
    assert np.isfinite([wild.unit_, wild.temperature_, *wild.centre_]).all()
    np.testing.assert_allclose(wild.predict_proba(X * factor), tame.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("offset", [1e4, 1e8])
@pytest.mark.parametrize("loss", SMOOTH)
def test_large_offsets(offset: float, loss: str) -> None:
    """At 1e8 the items themselves keep 8 digits, and the metric as many."""
    case = planted().but(loss=loss)
    rounded = (case.X + offset) - offset
    expected = case.but(X=rounded).solve()
    found = case.but(X=case.X + offset).solve()
    assert found.objective == pytest.approx(expected.objective, abs=2e-4)
    assert found.scale == pytest.approx(expected.scale, rel=1e-9)


def test_large_offsets_by_labels() -> None:
    X, y = labelled(np.random.default_rng(34), 40, 4)
    rounded = (X + 1e8) - 1e8
    expected, found = SDPMetric().fit(rounded, y), SDPMetric().fit(X + 1e8, y)
    assert found.n_triplets_ == expected.n_triplets_
    assert found.objective_ == pytest.approx(expected.objective_, abs=2e-4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_one_dimension_has_a_closed_form(loss: str, solver: str) -> None:
    """M = 1, whatever the comparisons say."""
    rng = np.random.default_rng(35)
    case = Case(rng.normal(size=(9, 1)), random_triplets(rng, 9, 20), loss=loss)
    result = case.solve(solver=solver)
    expected_rho, expected = case.best(np.ones((1, 1)))
    assert result.get_mahalanobis_matrix()[0, 0] == pytest.approx(1.0, abs=1e-14)
    assert result.objective == pytest.approx(expected, abs=1e-9)
    assert result.rho == pytest.approx(expected_rho, abs=1e-4)
    assert result.converged


@pytest.mark.parametrize("solver", SOLVERS)
def test_four_rows(solver: str) -> None:
    X = np.array([[0.0, 0.0], [0.0, 5.0], [1.0, 0.0], [1.0, 5.0]])
    metric = SDPMetric(n_neighbors=1, n_impostors=1, solver=solver, tol=1e-3).fit(X, [0, 0, 1, 1])
    expected = np.diag([1.0, 0.0])
    np.testing.assert_allclose(metric.get_mahalanobis_matrix(), expected, atol=0.02)
    assert metric.n_triplets_ == 4


@pytest.mark.parametrize("D", [10, 50, 1100])
@pytest.mark.parametrize("make", [np.asarray, np.float32, sp.csr_array])
def test_more_dimensions_than_items(D: int, make: Any) -> None:
    """The same six items turned into D dimensions: M turns along, scale_ counts D."""
    rng = np.random.default_rng(36)
    small = rng.normal(size=(6, 3))
    triplets = consistent(random_triplets(rng, 6, 20), small, np.diag([1.0, 0.1, 0.0]))
    Q = np.linalg.qr(rng.normal(size=(D, 3)))[0]
    grown = D / 3
    expected = Case(small, triplets, loss="squared_hinge", C=10.0).solve(tol=1e-5)
    wide = Case(make(small @ Q.T), triplets, loss="squared_hinge", C=10.0 / grown)
    found = wide.solve(tol=1e-4)
    M = Q.T @ found.get_mahalanobis_matrix() @ Q
    assert found.converged
    assert np.trace(M) == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(M, expected.get_mahalanobis_matrix(), atol=0.05)
    assert found.objective == pytest.approx(grown * expected.objective, rel=1e-3)
    assert found.components.shape[1] == D


def test_duplicated_rows() -> None:
    """A copy of an item stands for it."""
    case = planted()
    copies = np.vstack([case.X, case.X])
    second = np.random.default_rng(37).random(case.triplets.shape) < 0.5
    found = case.but(X=copies, triplets=case.triplets + 20 * second).solve(tol=1e-6)
    expected = case.solve(tol=1e-6)
    assert found.objective == pytest.approx(expected.objective, abs=1e-5)


def test_duplicated_rows_by_labels() -> None:
    """Near pairs at distance zero are fine."""
    X, y = labelled(np.random.default_rng(38), 20, 3, 2)
    metric = SDPMetric().fit(np.vstack([X, X]), np.concatenate([y, y]))
    assert metric.converged_


def test_constant_columns_by_labels() -> None:
    X, y = labelled(np.random.default_rng(39), 30, 3)
    padded = np.hstack([np.full((30, 1), 7.0), X, np.zeros((30, 2))])
    metric = SDPMetric().fit(padded, y)
    assert metric.converged_
    expected = np.zeros((3, 6))
    np.testing.assert_allclose(metric.get_mahalanobis_matrix()[[0, 4, 5]], expected, atol=1e-12)


@pytest.mark.parametrize("units", [np.array([1e-6, 1.0, 1e6]), np.array([1e-3, 1.0, 1e3])])
def test_columns_in_different_units(units: Floats) -> None:
    case = planted()
    result = case.but(X=case.X * units).solve()
    assert result.converged
    M = result.get_mahalanobis_matrix()
    scaled = case.but(X=case.X * units)
    assert result.objective == pytest.approx(scaled.best(M)[1], abs=1e-6)


def test_a_single_comparison_has_a_closed_form() -> None:
    """The leading eigenvector of ``far far' - near near'``."""
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]])
    metric = TripletSDPMetric(tol=1e-6).fit(X, [[0, 1, 2]])
    G = np.outer(X[2], X[2]) - np.outer(X[1], X[1])
    v = np.linalg.eigh(G)[1][:, -1]
    expected = np.outer(v, v)
    np.testing.assert_allclose(metric.get_mahalanobis_matrix(), expected, atol=5e-3)
