"""Coordinates: their definitions, and the way back to raw rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from sdpmetric.learning.estimators.coordinates import COORDINATES, Coordinates

X, y = load_wine(return_X_y=True)


def test_standard_is_scikit_learns_without_the_shift() -> None:
    expected = StandardScaler().fit_transform(X)
    Z = Coordinates("standard").fit_transform(X, y)
    np.testing.assert_allclose(Z - Z.mean(axis=0), expected, atol=1e-9)


def test_within_classes_nothing_is_correlated() -> None:
    rng = np.random.default_rng(0)
    A = np.eye(5) + 0.3 * rng.normal(size=(5, 5))
    labels = rng.integers(0, 3, 20_000)
    rows = rng.normal(size=(20_000, 5)) @ A + 10.0 * rng.normal(size=(3, 5))[labels]
    Z = Coordinates("within").fit_transform(rows, labels)
    means = np.array([Z[labels == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(np.cov((Z - means[labels]).T), np.eye(5), atol=0.02)


def test_within_near_pairs_nothing_is_correlated() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5_000, 4)) @ rng.normal(size=(4, 4))
    pairs = rng.permutation(5_000).reshape(-1, 2)
    triplets = np.column_stack([pairs, np.roll(pairs[:, 0], 1)])
    Z = Coordinates("within").fit_transform(rows, triplets)
    apart = Z[pairs[:, 0]] - Z[pairs[:, 1]]
    np.testing.assert_allclose(apart.T @ apart / len(apart), np.eye(4), atol=0.05)


@pytest.mark.parametrize("kind", COORDINATES)
def test_back_to_raw_rows(kind: str) -> None:
    coordinates = Coordinates(kind).fit(X, y)
    components = np.random.default_rng(0).normal(size=(4, 13))
    components /= np.linalg.norm(components)
    mapped = coordinates.transform(X) @ components.T
    raw = X @ coordinates.back(components).T
    ratio = np.linalg.norm(mapped[0] - mapped[1:], axis=1) / np.linalg.norm(
        raw[0] - raw[1:], axis=1
    )
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-8)
    assert np.linalg.norm(coordinates.back(components)) == pytest.approx(1.0)
    # And in again, where the metric had trace one.
    inside = coordinates.inward(coordinates.back(components))
    np.testing.assert_allclose(inside, components, rtol=1e-6, atol=1e-9)


def test_sparse_stays_sparse() -> None:
    coordinates = Coordinates("standard").fit(sp.csr_array(X))
    Z = coordinates.transform(sp.csr_array(X))
    assert sp.issparse(Z)
    np.testing.assert_allclose(Z.toarray(), Coordinates("standard").fit_transform(X), rtol=1e-12)


def test_constant_columns_and_few_rows() -> None:
    rows = np.column_stack([X[:9], np.ones(9)])
    for kind in COORDINATES:
        assert np.isfinite(Coordinates(kind).fit_transform(rows, np.arange(9) % 2)).all()


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="kind must be one of"):
        Coordinates("polar").fit(X)
    with pytest.raises(ValueError, match="needs a dense X"):
        Coordinates("within").fit(sp.csr_array(X), y)
    with pytest.raises(ValueError, match="up to 4096 features"):
        Coordinates("within").fit(np.zeros((2, 5000)), [0, 1])
