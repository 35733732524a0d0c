"""Rows times a power of two, which rounds nothing: every public answer stays the same.

Squares of such rows leave the range of their type, from about 1e154 on and below 1e-154 in float64.
No NumPy warning is allowed on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sdpmetric as s
from sdpmetric import deployment, displays
from sdpmetric.learning.estimators.coordinates import Coordinates
from tests.support.lanes import some
from tests.support.problems import PAPER, Floats, labelled

pytest.importorskip("matplotlib").use("Agg")
plt: Any = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("faiss")  # before warnings are errors: Faiss 1.9 uses an old name of NumPy's
pytestmark = pytest.mark.filterwarnings("error")

RNG = np.random.default_rng(40)
X, Y = labelled(RNG, 30, 4)
X = np.round(1024.0 * X) / 1024.0  # few digits: the smallest units keep them all
T = s.knn_triplets(X, Y, 2, 2)
METRIC = s.SDPMetric(tol=1e-3).fit(X, Y)
PAIRS = {"query": np.arange(15), "positive": np.arange(15, 30)}
GRIDS: Any = {"Cs": 2, "prior_weight": [0.0, 0.5], "cv": 3, "search_tol": 1e-2, "tol": 1e-3}

Answer = Callable[[Any, float], Any]


def searched(coordinates: str, **settings: Any) -> Answer:
    grids = GRIDS | {"n_neighbors": 2, "n_impostors": 2, "n_rounds": 2} | settings
    return lambda Z, unit: s.SDPMetricCV(coordinates=coordinates, **grids).fit(Z, Y).components_


def searched_by_triplets(coordinates: str) -> Answer:
    return lambda Z, unit: (
        s.TripletSDPMetricCV(coordinates=coordinates, **GRIDS).fit(Z, T).components_
    )


def adapted(Z: Any, unit: float) -> Any:
    settings = GRIDS | {"Cs": [5.0], "n_negatives": 5, "n_resamples": 50, "test_size": 0.3}
    adapter = s.EmbeddingAdapter(**settings).fit(Z, PAIRS)
    assert adapter.report_ is not None
    return [*adapter.components_.ravel(), adapter.evaluate(Z, PAIRS)["mrr"].after.mean]


def scored(**settings: Any) -> Answer:
    return lambda Z, unit: [*s.retrieval_scores(Z, Y, k=[1, 3], **settings).means.values()]


def reranked(Z: Any, unit: float) -> Any:
    distances, nearest = deployment.rerank(METRIC, Z[:4], Z, np.tile(np.arange(30), (4, 1)), 5)
    return [*(distances / unit).ravel(), *nearest.ravel()]


def shown(Z: Any, unit: float) -> Any:
    drawn = displays.MapDisplay.from_estimator(METRIC, Z, Y).plot()
    pictures = displays.NeighborsDisplay.from_estimator(METRIC, Z, shape=(2, 2)).plot()
    weights = displays.FeaturesDisplay.from_estimator(METRIC, Z).plot().weights
    for display in (drawn, pictures):
        display.figure_.canvas.draw()
    plt.close("all")
    return [*np.concatenate(drawn.shares), *pictures.after.rows.ravel(), *weights]


DENSE: dict[str, Answer] = {
    "adapter": adapted,
    "approximate neighbours": lambda Z, unit: s.knn_triplets(Z, Y, neighbors="approximate"),
    "augmented queries": lambda Z, unit: deployment.augment_queries(METRIC, Z)[:, :-1] / unit,
    "displays": shown,
    "rerank": reranked,
    "rerank recall": lambda Z, unit: list(
        deployment.rerank_recall(METRIC, Z[:5], Z, 3, [3, 10]).values()
    ),
    "search, within": searched("within"),
    "search of triplets, within": searched_by_triplets("within"),
    "within": lambda Z, unit: Coordinates("within").fit_transform(Z, Y),
    "within pairs": lambda Z, unit: Coordinates("within").fit_transform(Z, T),
}
BOTH: dict[str, Answer] = {
    "accuracy": lambda Z, unit: METRIC.triplet_accuracy(Z, T),
    "all triplets": lambda Z, unit: (
        s.SDPMetric(**PAPER, triplets="all", C=0.5, tol=1e-3).fit(Z, Y).components_
    ),
    "fit in rounds": lambda Z, unit: s.SDPMetric(n_rounds=2, tol=1e-3).fit(Z, Y).components_,
    "interval": lambda Z, unit: s.accuracy_interval(Z, s.Responses(T), METRIC).low,
    "metric": lambda Z, unit: METRIC.get_metric()(rows(Z)[0], rows(Z)[1]) / unit,
    "pair distance": lambda Z, unit: METRIC.pair_distance(rows(Z).reshape(15, 2, 4)) / unit,
    "pairwise": lambda Z, unit: METRIC.pairwise_distances(Z) / unit,
    "retrieval": scored(),
    "retrieval under a metric": scored(metric=METRIC),
    "search": searched("raw"),
    "search by triplets": searched("raw", scoring="triplets"),
    "search, standard": searched("standard"),
    "search of all triplets": searched("raw", triplets="all"),
    "search of triplets": searched_by_triplets("raw"),
    "search of triplets, standard": searched_by_triplets("standard"),
    "sign flips": lambda Z, unit: s.sign_flip_test(Z, s.Responses(T), METRIC).p_value,
    "standard": lambda Z, unit: rows(Coordinates("standard").fit_transform(Z)),
    "suggestions": lambda Z, unit: s.suggest_triplets(Z, None, 5),
    "suggestions of a metric": lambda Z, unit: s.suggest_triplets(Z, METRIC, 5),
    "transform": lambda Z, unit: METRIC.transform(Z) / unit,
    "triplets": lambda Z, unit: s.knn_triplets(Z, Y),
}
EXPECTED: dict[tuple[str, Any], Any] = {}


def rows(Z: Any) -> Floats:
    return np.asarray(Z.toarray() if sp.issparse(Z) else Z, dtype=np.float64)


def check(name: str, answer: Answer, make: Any, exponent: int) -> None:
    """The answer in extreme units, against the answer in ordinary ones."""
    if (name, make) not in EXPECTED:
        EXPECTED[name, make] = answer(make(X), 1.0)
    unit = 2.0**exponent
    found = answer(make(X * unit), unit)
    np.testing.assert_allclose(found, EXPECTED[name, make], rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [-1000, -535, 515, 1015])
@pytest.mark.parametrize("name", DENSE | BOTH)
def test_dense_rows(name: str, exponent: int) -> None:
    check(name, (DENSE | BOTH)[name], np.asarray, exponent)


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [-1000, 1015])
@pytest.mark.parametrize("name", BOTH)
def test_sparse_rows(name: str, exponent: int) -> None:
    check(name, BOTH[name], sp.csr_array, exponent)


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [-110, 120])
@pytest.mark.parametrize("name", DENSE | BOTH)
def test_single_precision(name: str, exponent: int) -> None:
    check(name, (DENSE | BOTH)[name], np.float32, exponent)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize("name", some(["transform", "pairwise", "accuracy", "retrieval"], 4))
def test_a_few_in_the_fast_lane(name: str, make: Any) -> None:
    check(name, BOTH[name], make, 120 if make is np.float32 else -1000)


def test_a_search_on_rows_of_1e_160_had_zero_components() -> None:
    """Back from standard coordinates, squares of 1e160 overflowed in a norm."""
    grids = GRIDS | {"n_neighbors": 2, "n_impostors": 2, "n_rounds": 1}
    found = s.SDPMetricCV(coordinates="standard", **grids).fit(X * 1e-160, Y)
    assert np.linalg.norm(found.components_) == pytest.approx(1.0)


def test_a_search_on_rows_of_1e155_said_that_far_pairs_coincide() -> None:
    found = s.SDPMetricCV(**GRIDS, n_neighbors=2, n_impostors=2, n_rounds=1).fit(X * 1e155, Y)
    assert np.linalg.norm(found.components_) == pytest.approx(1.0)


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**1000])
def test_scale_was_infinite_or_zero_and_so_was_the_file(unit: float, tmp_path: Path) -> None:
    metric = s.SDPMetric().fit(X * unit, Y)
    assert 0.0 < metric.scale_ < np.inf
    metric.save(tmp_path / "m.json")
    assert s.load(tmp_path / "m.json").scale_ == metric.scale_
    with pytest.raises(ValueError, match=r"scale_ is .* ordinary size"):
        displays.MarginsDisplay.from_estimator(metric, X * unit, Y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("end", [0.9, -0.9])
def test_squares_that_cannot_be_stored_were_zero_or_infinite(dtype: Any, end: float) -> None:
    """An augmented row holds its squared length, so no power of two can help."""
    info = np.finfo(dtype)
    unit = 2.0 ** int(end * (info.maxexp if end > 0 else -info.minexp))
    with pytest.raises(ValueError, match=r"X: rows under the metric .* cannot hold their squares"):
        deployment.augment_rows(METRIC, (X * unit).astype(dtype))


def test_margins_of_rows_that_are_extreme_but_in_range() -> None:
    tame, wild = (
        displays.MarginsDisplay.from_estimator(s.SDPMetric(tol=1e-3).fit(X * unit, Y), X * unit, Y)
        for unit in (1.0, 2.0**480)
    )
    np.testing.assert_allclose(wild.after, tame.after, rtol=1e-9)
    np.testing.assert_allclose(wild.before, tame.before, rtol=1e-9)


@pytest.mark.parametrize("kind", ["standard", "within"])
def test_columns_in_units_far_apart_were_taken_for_constant_ones(kind: str) -> None:
    """Each column has a power of two of its own."""
    units = 2.0 ** np.array([-900.0, 0.0, 900.0, 300.0])
    expected = Coordinates(kind).fit_transform(X, Y)
    np.testing.assert_allclose(Coordinates(kind).fit_transform(X * units, Y), expected, rtol=1e-9)


def test_classes_of_equal_rows_divided_by_zero() -> None:
    """Nothing differs within a class: columns of unit deviation are left."""
    Z = X[Y]
    found = Coordinates("within").fit_transform(Z, Y)
    np.testing.assert_allclose(found, Z / Z.std(axis=0), rtol=1e-9)


def test_a_huge_constant_column_overflowed_in_the_search_for_neighbours() -> None:
    wide = np.column_stack([X, np.full(len(X), 1.5e308)])
    expected = s.knn_triplets(X, Y)
    np.testing.assert_array_equal(s.knn_triplets(wide, Y), expected)
    np.testing.assert_array_equal(s.knn_triplets(sp.csr_array(wide), Y), expected)


def test_pairs_of_very_different_sizes_stand_beside_each_other() -> None:
    pairs = X.reshape(15, 2, 4)
    units = 2.0 ** np.linspace(-1000, 1000, 15).astype(int)
    expected = METRIC.pair_distance(pairs)
    found = METRIC.pair_distance(pairs * units[:, None, None])
    np.testing.assert_allclose(found / units, expected, rtol=1e-12)


def test_a_distance_beyond_the_range_is_infinite_without_a_warning() -> None:
    u, v = np.full(4, 1.7e308), np.full(4, -1.7e308)
    assert METRIC.get_metric()(u, v) > 1e308
    assert METRIC.pair_distance([[u, u]])[0] == 0.0
    assert not np.isnan(METRIC.pairwise_distances([u, v])).any()


def test_the_only_far_pair_with_a_tiny_weight_overflowed() -> None:
    """In units of the mean far distance, 1e-300, all other distances are 1e300."""
    Z = np.array([[1.0], [-2.0], [-2.0], [-3.0]])
    triplets, weights = [[1, 2, 0, 3], [0, 3, 1, 2]], [1e-300, 3.0]
    with pytest.raises(ValueError, match="X: the mean squared distance of far pairs"):
        s.solve(Z, triplets, sample_weight=weights)
    assert s.solve(Z, triplets, sample_weight=[1e-20, 3.0]).components == pytest.approx(1.0)
