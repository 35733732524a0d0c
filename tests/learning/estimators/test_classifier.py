"""The classifier: its rule, its probabilities, and that it is a metric too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier

import sdpmetric
from sdpmetric import SDPMetric, SDPMetricClassifier, SDPMetricCV
from tests.support.problems import Floats, Ints

FAST = SDPMetric(n_neighbors=3, n_impostors=3, tol=1e-2)


@pytest.fixture(scope="module")
def digits() -> tuple[Floats, Floats, Ints, Ints]:
    X, y = load_digits(return_X_y=True)
    parts: tuple[Floats, Floats, Ints, Ints] = tuple(
        train_test_split(X, y, train_size=600, random_state=0, stratify=y)
    )
    return parts


@pytest.mark.parametrize("rule", ["energy", "mean"])
def test_the_mean_rule_is_that_of_three_nearest_rows(rule: str, digits: Any) -> None:
    A, B, a, b = digits
    model = SDPMetricClassifier(FAST, rule=rule).fit(A, a)
    P, Q = model.transform(A), model.transform(B)
    means = [
        np.sort(KNeighborsClassifier(3).fit(P[a == c], a[a == c]).kneighbors(Q)[0] ** 2).mean(1)
        for c in range(10)
    ]
    expected = np.argmin(means, axis=0)
    if rule == "mean":
        np.testing.assert_array_equal(model.predict(B), expected)
    votes = KNeighborsClassifier(3).fit(P, a).score(Q, b)
    assert model.score(B, b) >= votes - 0.005


def test_the_vote_is_that_of_scikit_learn(digits: Any) -> None:
    A, B, a, _ = digits
    model = SDPMetricClassifier(FAST, rule="vote", n_neighbors=5).fit(A, a)
    expected = KNeighborsClassifier(5).fit(model.transform(A), a).predict(model.transform(B))
    np.testing.assert_array_equal(model.predict(B), expected)
    p = model.predict_proba(B)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], expected)
    assert model.rule_ == "vote"


def strips(rng: np.random.Generator, n: int) -> tuple[Floats, Ints]:
    """Long thin classes side by side: one near row tells more than the mean of three."""
    y = np.arange(n) % 4
    X = np.column_stack([0.3 * y + 0.02 * rng.normal(size=n), 30.0 * rng.uniform(size=n)])
    return X, y


def test_auto_takes_the_rule_that_is_right_on_held_out_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = strips(rng, 150)
    new, expected = strips(rng, 1000)
    # The metric is Euclidean distance, by which few rows have a near row of their own class.
    metric = SDPMetric(prior_weight=1.0, coordinates="raw")
    scores = {
        rule: SDPMetricClassifier(metric, rule=rule).fit(X, y).score(new, expected)
        for rule in ("energy", "mean", "vote")
    }
    model = SDPMetricClassifier(metric, rule="auto").fit(X, y)
    assert scores[model.rule_] == max(scores.values()) > scores["energy"]
    assert model.score(new, expected) == scores[model.rule_]
    # Only for clearly more rows: where all rules are right the first one stays.
    X, y = load_wine(return_X_y=True)
    assert SDPMetricClassifier(FAST, rule="auto").fit(X, y).rule_ == "energy"


def test_auto_fits_three_times_with_the_settings_of_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = load_wine(return_X_y=True)
    search = SDPMetricCV([5.0], n_neighbors=2, n_impostors=4, n_rounds=1, prior_weight=0.0, cv=2)
    fitted: list[Any] = []
    original = SDPMetric.fit

    def fit(self: SDPMetric, X: Any, y: Any) -> SDPMetric:
        fitted.append((len(X), self))
        return original(self, X, y)

    monkeypatch.setattr(SDPMetric, "fit", fit)
    model = SDPMetricClassifier(search, rule="auto").fit(X, y)
    assert [n for n, _ in fitted] == [178, 118, 119, 119]
    chosen = model.metric_.best_params_
    for _, metric in fitted[1:]:
        assert chosen.items() <= metric.get_params().items()
        assert metric.tol == 1e-2


@pytest.mark.filterwarnings("ignore:2 class")
def test_auto_with_too_few_rows_to_hold_out() -> None:
    X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), [0, 0, 1, 1]
    assert SDPMetricClassifier(FAST, rule="auto").fit(X, y).rule_ == "energy"


def test_auto_fits_folds_with_the_labels_that_class_weight_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The folds had codes 0, 1, ... as labels: names were refused, numbers were swapped."""
    X, y = load_wine(return_X_y=True)
    names = np.array(["barolo", "grignolino", "barbera"])[y]
    weights = {"barolo": 1.0, "grignolino": 2.0, "barbera": 1.0}
    seen: list[set[str]] = []
    original = SDPMetric.fit

    def fit(self: SDPMetric, X: Any, y: Any) -> SDPMetric:
        seen.append(set(y))
        return original(self, X, y)

    monkeypatch.setattr(SDPMetric, "fit", fit)
    metric = SDPMetric(n_neighbors=3, n_impostors=3, tol=1e-2, class_weight=weights)
    SDPMetricClassifier(metric, rule="auto").fit(X, names)
    assert seen == [set(weights)] * 4


@pytest.mark.filterwarnings("ignore:.*have fewer than n_impostors")
def test_a_fold_that_allows_no_fit_is_left_out() -> None:
    """All rows of a fold can be equal: the finished fit was lost with an error."""
    X = np.zeros((12, 2))
    X[0] = 1.0
    assert SDPMetricClassifier(rule="auto").fit(X, [0, 1] * 6).rule_ == "energy"


def test_a_classifier_inside_a_classifier() -> None:
    X, y = load_wine(return_X_y=True)
    inner = SDPMetricClassifier(FAST)
    assert SDPMetricClassifier(inner, rule="auto").fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("rule", ["energy", "mean"])
def test_probabilities_are_calibrated(rule: str, digits: Any) -> None:
    A, B, a, b = digits
    model = SDPMetricClassifier(FAST, rule=rule).fit(A, a)
    p = model.predict_proba(B)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(B))
    P, Q = model.transform(A), model.transform(B)
    shares = KNeighborsClassifier(10).fit(P, a).predict_proba(Q)
    assert log_loss(b, p) < log_loss(b, shares)
    # The mean confidence is near the share of rows that are right.
    assert p.max(axis=1).mean() == pytest.approx(model.score(B, b), abs=0.03)


def test_sparse_rows_are_classified_as_dense_ones(digits: Any) -> None:
    A, B, a, _ = digits
    expected = SDPMetricClassifier(FAST).fit(A, a).predict_proba(B)
    found = SDPMetricClassifier(FAST).fit(sp.csr_array(A), a).predict_proba(sp.csr_array(B))
    np.testing.assert_allclose(found, expected, atol=0.05)


def test_offsets_and_units_change_nothing() -> None:
    X, y = load_wine(return_X_y=True)
    expected = SDPMetricClassifier(FAST).fit(X, y).predict_proba(X)
    found = SDPMetricClassifier(FAST).fit(X * 2.0**400 + 2.0**410, y)
    np.testing.assert_allclose(found.predict_proba(X * 2.0**400 + 2.0**410), expected, atol=1e-4)


@pytest.mark.parametrize("suffix", ["json", "safetensors"])
def test_a_loaded_classifier_predicts_the_same(tmp_path: Path, suffix: str) -> None:
    X, y = load_wine(return_X_y=True)
    names = np.array(["barolo", "grignolino", "barbera"])[y]
    model = SDPMetricClassifier(FAST, rule="mean", n_neighbors=2).fit(X, names)
    model.set_params(rule="auto")  # what is loaded predicts by the rule of the fit
    model.save(tmp_path / f"m.{suffix}")
    again = sdpmetric.load(tmp_path / f"m.{suffix}")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.metric_.components_, model.components_)
    assert (again.metric.n_impostors, again.rule_) == (3, "mean")


def test_a_search_or_the_defaults_learn_the_metric() -> None:
    X, y = load_wine(return_X_y=True)
    search = SDPMetricCV([5.0], n_neighbors=3, n_impostors=3, n_rounds=1, prior_weight=0.0, cv=2)
    model = SDPMetricClassifier(search).fit(X, y)
    assert model.metric_.best_params_["coordinates"] in ("raw", "standard", "within")
    np.testing.assert_array_equal(model.components_, model.metric_.components_)
    assert not hasattr(search, "components_")  # the user's own estimator stays as it was
    assert cross_val_score(SDPMetricClassifier(), X, y, cv=3).mean() > 0.95


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rule": "loudest"}, "rule must be one of .*'vote', 'auto'"),
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"metric": KNeighborsClassifier()}, "metric must be None or an estimator"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_arguments(changes: dict[str, Any], message: str) -> None:
    X, y = load_wine(return_X_y=True)
    model = SDPMetricClassifier(**changes)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "metric_")
