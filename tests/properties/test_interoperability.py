"""Pipelines, searches, copies, files, data frames: what people do with an estimator."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sdpmetric import Huber, SDPMetric, SquaredHinge, TripletSDPMetric
from tests.support.problems import PAPER, UserLoss


def test_pipeline_with_nearest_neighbours(blobs: tuple[Any, Any]) -> None:
    """The last feature is loud noise that only the learned metric silences."""
    X, y = blobs
    X = X * np.array([1.0, 1.0, 1.0, 1.0, 10.0])
    plain = KNeighborsClassifier(3).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    model = make_pipeline(SDPMetric(), KNeighborsClassifier(3)).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > plain + 0.1


@pytest.mark.slow
def test_grid_search_over_a_pipeline(blobs: tuple[Any, Any]) -> None:
    X, y = blobs
    model = make_pipeline(StandardScaler(), SDPMetric(tol=1e-2), KNeighborsClassifier(3))
    grid = {
        "sdpmetric__C": [2.0, 20.0],
        "sdpmetric__loss": ["huber", SquaredHinge(), Huber(0.1)],
        "sdpmetric__n_components": [None, 2],
    }
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 12
    assert search.best_score_ > 0.5


def test_triplets_are_the_last_step_of_a_pipeline(triplets: tuple[Any, Any]) -> None:
    X, T = triplets
    model = make_pipeline(StandardScaler(), TripletSDPMetric()).fit(X, T)
    expected = TripletSDPMetric().fit(StandardScaler().fit_transform(X), T)
    np.testing.assert_array_equal(model[-1].components_, expected.components_)
    assert model.score(X, T) == expected.score(StandardScaler().fit_transform(X), T) > 0.9


@pytest.mark.parametrize("loss", ["squared_hinge", Huber(0.3), UserLoss()])
def test_clone(loss: Any, blobs: tuple[Any, Any]) -> None:
    X, y = blobs
    metric = SDPMetric(2, loss=loss, C=3.0, prior=np.eye(5), prior_weight=0.1).fit(X, y)
    twin = clone(metric)
    assert not hasattr(twin, "components_")
    assert twin.get_params()["C"] == 3.0
    np.testing.assert_array_equal(twin.fit(X, y).components_, metric.components_)


@pytest.mark.parametrize("options", [{}, {"loss": Huber(0.2)}, {"loss": "hinge", "tol": 1e-2}])
@pytest.mark.parametrize("how", ["pickle", "skops"])
def test_round_trip(how: str, options: dict[str, Any], blobs: tuple[Any, Any]) -> None:
    X, y = blobs
    metric = SDPMetric(**options).fit(X, y)
    if how == "pickle":
        back = pickle.loads(pickle.dumps(metric))
    else:
        data = skops.io.dumps(metric)
        unknown = skops.io.get_untrusted_types(data=data)
        assert all(name.startswith(("sdpmetric.", "numpy.")) for name in unknown)
        back = skops.io.loads(data, trusted=unknown)
    np.testing.assert_array_equal(back.transform(X), metric.transform(X))
    assert back.get_params() == metric.get_params()
    assert back.status_ == metric.status_
    assert (back.gap_, back.objective_) == (metric.gap_, metric.objective_)
    np.testing.assert_array_equal(back.history_["gap"], metric.history_["gap"])
    assert back.set_params(warm_start=True).fit(X, y).converged_


@pytest.mark.slow
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_in_and_out(frame: Any, blobs: tuple[Any, Any]) -> None:
    X, y = blobs
    names = list("abcde")
    table = frame({name: X[:, i] for i, name in enumerate(names)})
    kind = "pandas" if frame is pd.DataFrame else "polars"
    labels = pd.Series(y) if kind == "pandas" else pl.Series(y)
    expected = SDPMetric().fit(X, y)
    metric = SDPMetric().set_output(transform=kind).fit(table, labels)
    # Columns lie side by side in a frame, rows in an array: sums over them round differently.
    np.testing.assert_allclose(metric.components_, expected.components_, rtol=1e-9, atol=1e-12)
    assert metric.feature_names_in_.tolist() == names
    mapped = metric.transform(table)
    assert isinstance(mapped, frame)
    out = metric.get_feature_names_out().tolist()
    assert list(mapped.columns) == out == [f"sdpmetric{i}" for i in range(len(out))]
    np.testing.assert_allclose(mapped.to_numpy(), expected.transform(X))
    # Arrays stay arrays where set_output has no say.
    assert isinstance(metric.pairwise_distances(table), np.ndarray)
    renamed = frame({("z" if name == "a" else name): table[name] for name in names})
    with pytest.raises(ValueError, match=r"feature names"):
        metric.transform(renamed)


def test_frames_of_triplets(triplets: tuple[Any, Any]) -> None:
    X, T = triplets
    expected = TripletSDPMetric().fit(X, T)
    columns = ["anchor", "near", "far"]
    for frame in (pd.DataFrame(T, columns=columns), pl.DataFrame(T, schema=columns)):
        metric = TripletSDPMetric().fit(X, frame)
        np.testing.assert_array_equal(metric.components_, expected.components_)
    assert TripletSDPMetric().fit(X, T.tolist()).n_triplets_ == 200


def test_feature_names_of_triplet_metric(triplets: tuple[Any, Any]) -> None:
    metric = TripletSDPMetric(2).fit(*triplets)
    assert metric.get_feature_names_out().tolist() == ["tripletsdpmetric0", "tripletsdpmetric1"]


@pytest.mark.parametrize("dtype", [str, object])
def test_string_labels(dtype: Any, blobs: tuple[Any, Any]) -> None:
    X, y = blobs
    names = np.array(["setosa", "virginica", "versicolor"])[y].astype(dtype)
    expected = SDPMetric().fit(X, y).components_
    np.testing.assert_array_equal(SDPMetric().fit(X, names).components_, expected)
    weighted = SDPMetric(class_weight={"setosa": 3.0, "virginica": 1.0, "versicolor": 1.0})
    expected = SDPMetric(class_weight={0: 3.0}).fit(X, y).components_
    np.testing.assert_array_equal(weighted.fit(X, names).components_, expected)


def test_warm_start_goes_on(blobs: tuple[Any, Any]) -> None:
    X, y = blobs
    metric = SDPMetric(warm_start=True, tol=1e-6, **PAPER).fit(X, y)
    first = metric.n_iter_
    again = metric.fit(X, y).n_iter_
    assert again < first / 3
    assert metric.converged_
    cold = SDPMetric(tol=1e-6, **PAPER).fit(X, y).fit(X, y)
    assert cold.n_iter_ == first


def test_warm_start_along_a_path(triplets: tuple[Any, Any]) -> None:
    X, T = triplets
    metric = TripletSDPMetric(warm_start=True)
    for C in (2.0, 4.0, 8.0):
        metric.set_params(C=C).fit(X, T)
        expected = TripletSDPMetric(C=C).fit(X, T)
        assert metric.objective_ <= expected.upper_bound_ + 1e-9
        assert expected.objective_ <= metric.upper_bound_ + 1e-9


def test_warm_start_with_other_features_is_an_error(triplets: tuple[Any, Any]) -> None:
    X, T = triplets
    metric = TripletSDPMetric(warm_start=True).fit(X, T)
    with pytest.raises(ValueError, match=r"warm_start"):
        metric.fit(X[:, :3], T)


@pytest.mark.parametrize(
    "method", ["transform", "get_metric", "pair_distance", "pairwise_distances", "triplet_accuracy"]
)
def test_not_fitted(method: str, triplets: tuple[Any, Any]) -> None:
    arguments = {"get_metric": (), "triplet_accuracy": triplets}.get(method, triplets[:1])
    with pytest.raises(NotFittedError):
        getattr(SDPMetric(), method)(*arguments)
