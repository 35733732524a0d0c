"""Searches among many rows: a sample of anchors, and splits that are tried at the same time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

import sdpmetric.learning.selection.base as base
import sdpmetric.learning.selection.sdp_metric_cv as search
from sdpmetric import SDPMetricCV, TripletSDPMetricCV, knn_triplets
from sdpmetric.evaluation import folds
from sdpmetric.learning.fit.labelled import LabelledRows
from sdpmetric.linalg.items import items_of
from sdpmetric.triplets.knn import cross_triplets, mine
from tests.support.problems import consistent, random_triplets

SMALL: dict[str, Any] = {"Cs": [2.0, 8.0], "n_impostors": 3, "prior_weight": 0.0}


@pytest.mark.parametrize("neighbors", ["exact", "approximate"])
def test_anchors_find_the_triplets_of_the_first_rows(neighbors: str) -> None:
    if neighbors == "approximate":
        pytest.importorskip("faiss")
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    every = knn_triplets(X, y, 3, 4, neighbors=neighbors)
    expected = every[every[:, 0] < 50]
    found = cross_triplets(*mine(items_of(X), y, 3, 4, neighbors, anchors=50))
    np.testing.assert_array_equal(found, expected)


def test_rows_alone_in_their_class_are_no_anchors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Almost all classes have one member: a plain sample could miss the only pair."""
    monkeypatch.setattr(search, "_ANCHORS", 4)
    monkeypatch.setattr(search, "_ANCHOR_SHARE", 0.0)
    train, codes = np.arange(10, 40), np.arange(40)
    codes[[12, 33]] = 7
    order, anchors = search._anchors_first(train, codes, 0)
    assert anchors == 2
    assert set(order[:2]) == {12, 33}
    assert sorted(order) == list(train)
    everything, all_rows = search._anchors_first(train[:4], codes, 0)
    assert all_rows is None
    assert everything.tolist() == [10, 11, 12, 13]


def test_fits_of_a_search_have_the_triplets_of_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_ANCHORS", 20)
    counts: list[int] = []
    prepare = vars(LabelledRows)["prepare"]

    def counted(self: Any, *given: Any) -> Any:
        found = prepare(self, *given)
        counts.append(found[1])
        return found

    monkeypatch.setattr(LabelledRows, "prepare", counted)
    X, y = load_wine(return_X_y=True)
    options = SMALL | {"n_neighbors": 2, "n_rounds": (1, 2), "cv": 2, "coordinates": "standard"}
    SDPMetricCV(**options).fit(X, y)
    assert set(counts) == {20 * 2 * 3, 178 * 2 * 3}  # the last fit has all rows
    counts.clear()
    SDPMetricCV(**options, class_weight="balanced").fit(X, y)
    assert set(counts) == {89 * 2 * 3, 178 * 2 * 3}  # a sample might have weights of zero alone


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["labels", "triplets"])
def test_any_number_of_threads_finds_the_same_bits(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "_LARGE_SPLIT", 0)
    monkeypatch.setattr(folds, "_MANY", 100)
    X, y = load_wine(return_X_y=True)
    given: Any = X, y
    make: Any = SDPMetricCV
    options = SMALL | {"n_neighbors": 3, "n_rounds": (1, 2), "coordinates": ["standard", "within"]}
    if kind == "triplets":
        X = X / X.std(axis=0)
        T = consistent(random_triplets(np.random.default_rng(0), len(X), 300), X, np.eye(13))
        make, given = TripletSDPMetricCV, (X, T)
        options = {"Cs": 2, "coordinates": ["raw", "standard"]}
    one, two = (make(**options, n_jobs=n).fit(*given) for n in (1, 2))
    assert one.best_params_ == two.best_params_
    for name in set(one.cv_results_) - {"seconds"}:
        np.testing.assert_array_equal(one.cv_results_[name], two.cv_results_[name])


def test_the_last_fit_shows_its_gap(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    X, y = load_wine(return_X_y=True)
    chosen = SDPMetricCV(**SMALL, n_rounds=1, coordinates="standard", cv=2, progress=True)
    chosen.fit(X, y)
    printed = capsys.readouterr().err
    assert "settings tried" in printed
    assert "gap " in printed
    assert chosen.best_estimator_.progress is False
