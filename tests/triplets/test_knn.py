"""Triplets from labels, against a double loop in float64."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from sdpmetric import SDPMetric, knn_triplets
from sdpmetric.linalg.lower_bounds import DenseTable
from tests.support.lanes import some
from tests.support.problems import PAPER, Floats, Ints, labelled


def brute_force(X: Floats, y: Any, n_neighbors: int, n_impostors: int) -> list[list[int]]:
    """One distance at a time, ties to the lower index."""
    X = np.asarray(X, dtype=np.float64)
    triplets = []
    for a in range(len(X)):
        ranked = sorted((float(np.sum((X[a] - X[b]) ** 2)), b) for b in range(len(X)) if b != a)
        same = [b for _, b in ranked if y[b] == y[a]][:n_neighbors]
        other = [b for _, b in ranked if y[b] != y[a]][:n_impostors]
        triplets += [[a, j, k] for j in same for k in other]
    return triplets


def integers(seed: int, n: int = 60, D: int = 3, high: int = 4) -> tuple[Floats, Ints]:
    """Rows on a small grid: duplicated rows and ties everywhere."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, high, size=(n, D)).astype(float), rng.integers(0, 3, size=n)


@pytest.mark.parametrize("form", ["float64", "float32", "csr", "csr32", "int", "list"])
@pytest.mark.parametrize("block", some([7, 1, 4096], 1))
def test_exact_with_ties(form: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DenseTable, "tile", (5, block))
    forms: dict[str, Any] = {
        "float64": np.asarray,
        "float32": lambda X: X.astype(np.float32),
        "csr": sp.csr_array,
        "csr32": lambda X: sp.csr_matrix(X.astype(np.float32)),
        "int": lambda X: X.astype(int),
        "list": np.ndarray.tolist,
    }
    for seed in range(4):
        X, y = integers(seed)
        expected = brute_force(X, y, 3, 2)
        assert knn_triplets(forms[form](X), y, 3, 2).tolist() == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("offset", "factor"), [(0.0, 1.0), (1000.0, 1.0), (0.0, 1e-30)])
def test_exact_on_real_numbers(dtype: type, offset: float, factor: float) -> None:
    """Pairs whose distance differs by less than the rounding of a matrix product."""
    rng = np.random.default_rng(3)
    base = rng.normal(size=(20, 6))
    X = np.vstack([base, base + 1e-4 * rng.normal(size=base.shape), base[:5]]) * factor + offset
    X = X.astype(dtype)
    y = rng.integers(0, 3, size=len(X))
    assert knn_triplets(X, y, 4, 4).tolist() == brute_force(X, y, 4, 4)


@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_extreme_values_give_the_same_triplets(factor: float) -> None:
    X, y = labelled(np.random.default_rng(4), 30, 4)
    expected = brute_force(X, y, 3, 3)
    assert knn_triplets(X * factor, y).tolist() == expected


@pytest.mark.parametrize(("k", "per_row"), [((3, 3), 9), ((1, 1), 1), ((2, 5), 10)])
def test_counts(k: tuple[int, int], per_row: int) -> None:
    X, y = labelled(np.random.default_rng(5), 90, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        triplets = knn_triplets(X, y, *k)
    assert triplets.shape == (90 * per_row, 3)
    assert triplets.dtype == np.int64


def test_default_is_three_by_three() -> None:
    X, y = labelled(np.random.default_rng(6), 40, 3)
    np.testing.assert_array_equal(knn_triplets(X, y), knn_triplets(X, y, 3, 3))


def test_labels_of_any_kind() -> None:
    X, y = integers(9)
    expected = knn_triplets(X, y)
    names = np.array(["zebra", "ant", "cow"])
    np.testing.assert_array_equal(knn_triplets(X, names[y]), expected)
    np.testing.assert_array_equal(knn_triplets(X, names[y].astype(object)), expected)
    np.testing.assert_array_equal(knn_triplets(X, (y * 10 - 5).tolist()), expected)


def small_classes() -> tuple[Floats, Ints]:
    """Classes of 8, 3, 2, 1 and 1 rows."""
    y = np.repeat([0, 1, 2, 3, 4], [8, 3, 2, 1, 1])
    return np.random.default_rng(8).normal(size=(15, 3)), y


def test_small_classes_use_what_there_is_and_are_counted_once() -> None:
    X, y = small_classes()
    with pytest.warns(UserWarning, match=r"n_neighbors") as caught:
        triplets = knn_triplets(X, y, 3, 3)
    assert triplets.tolist() == brute_force(X, y, 3, 3)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "2 class(es) with a single member" in message
    assert "2 class(es) have fewer than n_neighbors + 1 = 4" in message
    assert caught[0].filename == __file__


def test_few_impostors_are_counted() -> None:
    X = np.random.default_rng(9).normal(size=(10, 2))
    y = np.array([0] * 8 + [1] * 2)
    with pytest.warns(UserWarning, match=r"8 row\(s\) have fewer than n_impostors = 3"):
        triplets = knn_triplets(X, y, 1, 3)
    assert triplets.tolist() == brute_force(X, y, 1, 3)


def test_the_estimator_warns_the_same() -> None:
    X, y = small_classes()
    with pytest.warns(UserWarning, match=r"single member") as caught:
        metric = SDPMetric(**PAPER).fit(X, y)
    assert [w.filename for w in caught] == [__file__]
    assert metric.n_triplets_ == len(brute_force(X, y, 3, 3))


def test_threads_do_not_change_the_triplets() -> None:
    """Digits has many ties; with a plain search they broke differently by thread."""
    X, y = load_digits(return_X_y=True)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(knn_triplets(X, y))
    np.testing.assert_array_equal(found[0], found[1])
    rng = np.random.default_rng(0)
    anchors = rng.choice(len(X), 40, replace=False)
    for a in anchors:
        d = np.sum((X - X[a]) ** 2, axis=1)
        d[a] = np.inf
        ranked = np.lexsort((np.arange(len(X)), d))
        expected_near = ranked[y[ranked] == y[a]][:3]
        expected_far = ranked[y[ranked] != y[a]][:3]
        rows = found[0][9 * a : 9 * a + 9]
        np.testing.assert_array_equal(rows[::3, 1], expected_near)
        np.testing.assert_array_equal(rows[:3, 2], expected_far)
