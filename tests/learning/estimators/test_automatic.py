"""The parameter ``coordinates``: what "auto" chooses, and what a fit in coordinates returns."""

from __future__ import annotations

import warnings
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import ortho_group
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import sdpmetric
from sdpmetric import SDPMetric, SDPMetricCV, TripletSDPMetric, TripletSDPMetricCV, knn_triplets
from sdpmetric.datasets import make_balance
from sdpmetric.learning.estimators.coordinates import COORDINATES, Coordinates
from sdpmetric.learning.selection.label_split import LabelCandidate
from sdpmetric.learning.selection.triplet_split import TripletCandidate
from tests.support.problems import Floats, Ints

X, y = load_wine(return_X_y=True)
FAST: dict[str, Any] = {"n_neighbors": 3, "n_impostors": 3, "n_rounds": 1}


def triplets() -> Ints:
    return knn_triplets(X / X.std(axis=0), y, 2, 2)


ESTIMATORS = [(SDPMetric(**FAST), y), (TripletSDPMetric(), triplets())]


@pytest.mark.parametrize("kind", COORDINATES)
@pytest.mark.parametrize(("estimator", "target"), ESTIMATORS)
def test_a_fit_in_coordinates_is_a_fit_of_mapped_rows(
    estimator: Any, target: Ints, kind: str
) -> None:
    inside = Coordinates(kind).fit(X, target)
    expected = clone(estimator).set_params(coordinates="raw").fit(inside.transform(X), target)
    metric = clone(estimator).set_params(coordinates=kind).fit(X, target)
    for name in ("objective_", "upper_bound_", "rho_", "scale_", "gap_", "retained_"):
        assert getattr(metric, name) == getattr(expected, name), name
    np.testing.assert_array_equal(metric.eigenvalues_, expected.eigenvalues_)
    M = metric.get_mahalanobis_matrix()
    assert np.trace(M) == pytest.approx(1.0, abs=1e-12)
    mapped = expected.pairwise_distances(inside.transform(X[:20]))
    ratio = metric.pairwise_distances(X[:20])[0, 1:] / mapped[0, 1:]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-7)
    assert metric.coordinates_.kind == kind


def test_columns_of_different_units_are_standardised() -> None:
    metric = SDPMetric(**FAST).fit(X, y)
    assert metric.coordinates_.kind == "standard"
    votes = KNeighborsClassifier(3).fit(metric.transform(X[::2]), y[::2])
    assert votes.score(metric.transform(X[1::2]), y[1::2]) > 0.95  # 0.89 in raw columns
    assert TripletSDPMetric().fit(X, triplets()).coordinates_.kind == "standard"


@pytest.mark.parametrize("sparse", [False, True])
def test_pixels_stay_raw(sparse: bool) -> None:
    """Their deviations differ by a factor of 200, and yet standardising does harm."""
    pixels, digit = load_digits(return_X_y=True)
    rows = sp.csr_array(pixels[:400]) if sparse else pixels[:400]
    assert SDPMetric(**FAST, tol=1e-2).fit(rows, digit[:400]).coordinates_.kind == "raw"


def test_columns_of_one_unit_stay_raw() -> None:
    """On a grid of whole numbers standardising breaks ties, and nothing else."""
    rows, tips = make_balance()
    assert SDPMetric(**FAST, tol=1e-1).fit(rows[::2], tips[::2]).coordinates_.kind == "raw"


def test_units_do_not_matter_where_columns_are_standardised() -> None:
    units = 10.0 ** np.linspace(-130, 130, 13)
    expected = SDPMetric(**FAST).fit(X, y)
    metric = SDPMetric(**FAST).fit(X * units, y)
    assert metric.coordinates_.kind == "standard"
    assert metric.objective_ == pytest.approx(expected.objective_, abs=1e-4)
    M = (metric.components_ * units).T @ (metric.components_ * units)
    want = expected.get_mahalanobis_matrix()
    np.testing.assert_allclose(M / np.trace(M), want, atol=1e-3)


def test_sparse_rows_and_constant_columns() -> None:
    rows = np.column_stack([np.ones(len(X)), X, np.zeros(len(X))])
    expected = SDPMetric(**FAST).fit(X, y)
    for given in (rows, sp.csr_array(rows)):
        metric = SDPMetric(**FAST).fit(given, y)
        assert metric.coordinates_.kind == "standard"
        np.testing.assert_allclose(metric.components_[:, [0, -1]], 0.0, atol=1e-15)
        # Padding with columns of zeros changes the scale, and so h, a little.
        assert metric.triplet_accuracy(given, triplets()) == pytest.approx(
            expected.triplet_accuracy(X, triplets()), abs=0.02
        )


def test_a_given_prior_is_one_of_raw_rows() -> None:
    A = np.random.default_rng(0).normal(size=(13, 13)) / X.std(axis=0)
    M0 = A.T @ A
    for kind in COORDINATES:
        metric = SDPMetric(coordinates=kind, prior=M0, prior_weight=1.0).fit(X, y)
        found = metric.get_mahalanobis_matrix()
        unit = np.outer(X.std(axis=0), X.std(axis=0))
        expected = M0 / np.trace(M0)
        size = np.abs(expected * unit).max()
        np.testing.assert_allclose(found * unit / size, expected * unit / size, atol=1e-9)


@pytest.mark.parametrize("kind", ["standard", "within"])
def test_a_warm_start_goes_on_from_the_same_metric(kind: str) -> None:
    metric = SDPMetric(**FAST, coordinates=kind, warm_start=True).fit(X, y)
    objective, cold = metric.objective_, metric.n_iter_
    metric.fit(X, y)
    assert metric.n_iter_ < cold / 3
    assert metric.objective_ == pytest.approx(objective, abs=1e-6)


def test_the_cut_is_made_in_the_coordinates_of_the_fit() -> None:
    metric = SDPMetric(2, **FAST, coordinates="standard").fit(X, y)
    Z = X / X.std(axis=0)
    expected = SDPMetric(2, **FAST, coordinates="raw").fit(Z, y)
    assert metric.components_.shape == (2, 13)
    assert metric.retained_ == pytest.approx(expected.retained_, rel=1e-9)
    assert metric.retained_ < 1.0
    ratio = metric.pairwise_distances(X[:9])[0, 1:] / expected.pairwise_distances(Z[:9])[0, 1:]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


@pytest.mark.parametrize("suffix", ["json", "safetensors"])
def test_a_loaded_metric_has_its_coordinates(tmp_path: Path, suffix: str) -> None:
    metric = SDPMetric(**FAST, warm_start=True).fit(X, y)
    metric.save(tmp_path / f"m.{suffix}")
    again = sdpmetric.load(tmp_path / f"m.{suffix}")
    np.testing.assert_array_equal(again.coordinates_.map_, metric.coordinates_.map_)
    assert again.coordinates == "auto"
    assert again.fit(X, y).n_iter_ == metric.fit(X, y).n_iter_


def test_files_of_version_1_were_fitted_to_raw_rows() -> None:
    files = Path(sdpmetric.__file__).parents[2] / "tests" / "files"
    assert sdpmetric.load(files / "version-1-metric.json").coordinates == "raw"


def lopsided(seed: int, n_comparisons: int, judged: slice) -> tuple[Floats, Any]:
    """Items with one column in a unit 16,000 times smaller, and answers by some columns."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 6))
    T = np.array([rng.choice(60, 3, replace=False) for _ in range(n_comparisons)])
    d = [np.linalg.norm((rows[T[:, 0]] - rows[T[:, i]])[:, judged], axis=1) for i in (1, 2)]
    T[d[0] > d[1]] = T[d[0] > d[1]][:, [0, 2, 1]]
    return rows * [16_000.0, 1.0, 1.0, 1.0, 1.0, 1.0], T


@pytest.mark.parametrize("seed", range(5))
def test_few_comparisons_do_not_prove_that_one_wide_column_is_all_that_counts(seed: int) -> None:
    X_wide, T = lopsided(seed, 12, slice(None))
    assert TripletSDPMetric().fit(X_wide, T).coordinates_.kind == "standard"


def test_a_wide_column_that_decides_every_answer_stays_wide() -> None:
    X_wide, T = lopsided(0, 200, slice(0, 1))
    assert TripletSDPMetric().fit(X_wide, T).coordinates_.kind == "raw"


def test_comparisons_of_weight_zero_do_not_choose() -> None:
    rng = np.random.default_rng(0)
    rows = ortho_group.rvs(4, random_state=0)[rng.integers(0, 4, 60)] + rng.normal(size=(60, 4))
    Z = rows * [1.0, 1.0, 1.0, 50.0]
    T = np.array([rng.choice(60, 3, replace=False) for _ in range(400)])
    far = np.linalg.norm(rows[T[:, 0]] - rows[T[:, 2]], axis=1)
    wrong = np.linalg.norm(rows[T[:, 0]] - rows[T[:, 1]], axis=1) > far
    T[wrong] = T[wrong][:, [0, 2, 1]]
    assert TripletSDPMetric().fit(Z, T).coordinates_.kind == "standard"
    both = np.vstack([T, np.repeat(T[:, [0, 2, 1]], 3, axis=0)])
    weights = np.r_[np.ones(len(T)), np.zeros(3 * len(T))]
    assert TripletSDPMetric().fit(Z, both, weights).coordinates_.kind == "standard"


def test_a_memory_map_is_not_copied(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert SDPMetric(**FAST).fit(mapped, y).coordinates_.kind == "raw"


def _spread() -> Floats:
    spread: Floats = StandardScaler().fit_transform(X)[:, :4]
    return spread


@pytest.mark.parametrize("name", [f.name for f in fields(LabelCandidate)] + ["C"])
def test_an_estimator_takes_every_setting_that_a_search_may_choose(name: str) -> None:
    values: dict[str, Any] = {"coordinates": "within", "triplets": "all", "prior_weight": 0.3}
    values |= {"n_neighbors": 2, "n_impostors": 4, "n_rounds": 2, "h": 0.1, "C": 3.0}
    grid = {"Cs" if name == "C" else name: [values[name]]}
    rest: dict[str, Any] = {"n_neighbors": 3, "n_impostors": 3, "n_rounds": 1}
    rest |= {"prior_weight": 0.0, "Cs": [5.0]}
    rows = _spread()
    search = SDPMetricCV(**(rest | grid), cv=2, doubt=0.0).fit(rows, y)
    # The prior alone may win: the settings of the row that learns are tried as well.
    for params in (search.best_params_, search.best_params_ | {name: values[name]}):
        metric = SDPMetric(**params).fit(rows, y)
        assert metric.get_params()[name] == params[name]
    expected = SDPMetric(**search.best_params_).fit(rows, y).components_
    np.testing.assert_array_equal(search.components_, expected)


@pytest.mark.parametrize("name", [f.name for f in fields(TripletCandidate)] + ["C"])
def test_and_one_for_comparisons_does_too(name: str) -> None:
    values: dict[str, Any] = {"coordinates": "within", "prior_weight": 0.3, "h": 0.1, "C": 3.0}
    grid = {"Cs" if name == "C" else name: [values[name]]}
    T = knn_triplets(_spread(), y, 2, 2)
    rest: dict[str, Any] = {"prior_weight": 0.0, "Cs": [5.0]}
    search = TripletSDPMetricCV(**(rest | grid), cv=2, doubt=0.0).fit(_spread(), T)
    expected = TripletSDPMetric(**search.best_params_).fit(_spread(), T).components_
    np.testing.assert_array_equal(search.components_, expected)
    changed = TripletSDPMetric(**search.best_params_ | {name: values[name]}).fit(_spread(), T)
    assert changed.get_params()[name] == values[name]


@pytest.mark.parametrize("estimator", [SDPMetric(), TripletSDPMetric()])
def test_bad_coordinates_are_refused_before_anything_changes(estimator: Any) -> None:
    metric = clone(estimator).set_params(coordinates="polar")
    target = y if isinstance(metric, SDPMetric) else triplets()
    with pytest.raises(ValueError, match="coordinates must be one of"):
        metric.fit(X, target)
    with pytest.raises(ValueError, match="needs a dense X"):
        metric.set_params(coordinates="within").fit(sp.csr_array(X), target)
    assert not hasattr(metric, "components_")


def test_a_memory_map_in_units_far_apart_warns(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.c_[X[:, :4], 1e5 * X[:, 4]])
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    with pytest.warns(UserWarning, match=r"Column 4 of X spans 9\.2e\+06.*coordinates='standard'"):
        SDPMetric(**FAST).fit(mapped, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SDPMetric(**FAST, coordinates="raw").fit(mapped, y)  # the user has decided
