"""Intervals for triplet accuracy: against the binomial law, and by how often they hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm, t
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sdpmetric import Responses, TripletSDPMetric, accuracy_interval, sign_flip_test
from tests.support.problems import Floats, consistent, random_triplets

X = np.array([[0.0], [1.0], [3.0]])
RIGHT, WRONG = [0, 1, 2], [0, 2, 1]


def answers(right: Any, who: Any = None, weights: Any = None) -> Responses:
    T = np.where(np.asarray(right, dtype=bool)[:, None], RIGHT, WRONG)
    return Responses(T, weights, who)


def test_by_hand() -> None:
    r = answers([1, 1, 0, 1], ["Ada", "Ada", "Bo", "Bo"], [1.0, 2.0, 3.0, 4.0])
    found = accuracy_interval(X, r)
    assert found.accuracy == 7 / 10
    assert found.n_units == 2
    assert found.low == pytest.approx(4 / 7)  # Bo twice
    assert found.high == 1.0  # Ada twice
    assert str(found) == "0.700 [0.571, 1.000]"
    assert accuracy_interval(X, r, by="answer").n_units == 4


def test_the_binomial_law() -> None:
    """Single answers of weight one: as many as right ones are drawn from P."""
    P, k = 60, 42
    found = accuracy_interval(X, answers(np.arange(P) < k), n_resamples=200_000, confidence=0.9)
    tail = norm.cdf(math.sqrt(P / (P - 1)) * t.ppf(0.05, P - 1))
    expected = binom.ppf([tail, 1 - tail], P, k / P) / P
    assert (found.low, found.high) == pytest.approx(expected, abs=1.01 / P)
    assert found.accuracy == k / P


def test_many_answers_of_few_people_are_few() -> None:
    """Half of ten people are always right: an interval by answers would be far too narrow."""
    right, who = np.repeat([0, 1], 500), np.repeat(np.arange(10), 100)
    people = accuracy_interval(X, answers(right, who))
    alone = accuracy_interval(X, answers(right, who), by="answer")
    assert people.high - people.low > 5 * (alone.high - alone.low)


@pytest.mark.slow
@pytest.mark.parametrize("P", [8, 25])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_coverage(P: int, confidence: float) -> None:
    """People differ (Beta) and answer 5 to 40 questions each; the truth is their mean."""
    rng = np.random.default_rng([P, int(100 * confidence)])
    trials, held = 400, 0
    for _ in range(trials):
        sizes = rng.integers(5, 41, size=P)
        skill = np.repeat(rng.beta(7, 3, size=P), sizes)
        r = answers(rng.random(len(skill)) < skill, np.repeat(np.arange(P), sizes))
        found = accuracy_interval(X, r, confidence=confidence, n_resamples=500)
        held += found.low <= 0.7 <= found.high
    # Three standard errors of 400 trials, and what a quantile method lacks with eight people.
    slack = 3 * math.sqrt(confidence * (1 - confidence) / trials) + 0.3 / P
    assert held / trials == pytest.approx(confidence, abs=slack)


@pytest.fixture
def learned() -> tuple[Floats, Responses, TripletSDPMetric]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) * [1.0, 2.0, 3.0, 4.0]
    T = consistent(random_triplets(rng, 30, 300), X, np.diag([1.0, 0.1, 0.0, 0.0]))
    r = Responses(T, rng.uniform(0.5, 2.0, 300), rng.integers(0, 12, 300))
    return X, r, TripletSDPMetric(coordinates="raw").fit(X, r.triplets[:150])


def test_accuracy_is_the_score(learned: tuple[Floats, Responses, TripletSDPMetric]) -> None:
    X, r, metric = learned
    found = accuracy_interval(X, r, metric)
    assert found.accuracy == pytest.approx(metric.score(X, r.triplets, r.weights))
    assert found.low < found.accuracy < found.high
    assert found.accuracy > accuracy_interval(X, r).high  # Euclidean distance is worse
    model = make_pipeline(StandardScaler(), TripletSDPMetric()).fit(X, r.triplets)
    expected = model.score(X, r.triplets, sample_weight=r.weights)
    assert accuracy_interval(X, r, model).accuracy == pytest.approx(expected)


def test_seeds_and_blocks(
    learned: tuple[Floats, Responses, TripletSDPMetric], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, r, metric = learned
    first = accuracy_interval(X, r, metric)
    assert first == accuracy_interval(X, r, metric)
    assert first != accuracy_interval(X, r, metric, random_state=1)
    monkeypatch.setattr("sdpmetric.evaluation.bootstrap.RESULT_BYTES", 1_000)
    assert accuracy_interval(X, r, metric) == first


def test_a_tie_is_not_right() -> None:
    assert accuracy_interval(np.zeros((3, 1)), answers([1, 0])).accuracy == 0.0


def test_people_without_weight_do_not_count() -> None:
    r = answers([1, 0, 1], ["Ada", "Bo", "Cy"], [1.0, 1.0, 0.0])
    assert accuracy_interval(X, r).n_units == 2


def test_errors() -> None:
    r = answers([1, 0])
    with pytest.raises(ValueError, match="found 1 unit to resample"):
        accuracy_interval(X, answers([1, 0], ["Ada", "Ada"]))
    for bad in (0.0, 1.0, 95, "high"):
        with pytest.raises(ValueError, match="confidence must be"):
            accuracy_interval(X, r, confidence=bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_resamples"):
        accuracy_interval(X, r, n_resamples=0)
    with pytest.raises(ValueError, match="metric must be None or have a transform"):
        accuracy_interval(X, r, "euclidean")
    with pytest.raises(ValueError, match="responses must be Responses, got ndarray"):
        accuracy_interval(X, r.triplets)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"triplets: row 0 .* below the number of items, 2"):
        accuracy_interval(X[:2], r)
    with pytest.raises(ValueError, match="X contains NaN"):
        accuracy_interval([[0.0], [np.nan], [1.0]], r)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**1020])
def test_weights_of_any_size_give_the_same_interval_and_test(unit: float) -> None:
    rng = np.random.default_rng(7)
    X, T = rng.normal(size=(9, 2)), random_triplets(rng, 9, 40)
    weights, who = rng.uniform(0.5, 2.0, size=40), np.arange(40) % 8
    tame, wild = (Responses(T, weights * u, participants=who) for u in (1.0, unit))
    assert accuracy_interval(X, wild) == accuracy_interval(X, tame)
    first = FunctionTransformer(lambda rows: rows[:, :1])
    assert sign_flip_test(X, wild, first) == sign_flip_test(X, tame, first)
