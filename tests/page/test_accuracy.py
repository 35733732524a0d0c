"""The accuracy on the dashboard: by questions that the metric has not learned from."""

from __future__ import annotations

import numpy as np
import pytest

from sdpmetric import Responses, TripletSDPMetric, accuracy_interval
from sdpmetric.page.accuracy import FOLDS, LEAST, CrossFitted, folds_of
from sdpmetric.page.collected import Collected
from sdpmetric.page.fitting import TOL, prior_weight
from tests.support.problems import Ints

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6))


def collected(n: int, n_random: int, people: int = 6, guess: float = 0.0) -> Collected:
    """Answers by the first feature, of which some are to random questions."""
    rng = np.random.default_rng(1)
    rows = np.array([rng.choice(40, 3, replace=False) for _ in range(n)])
    x = X[rows, 0]
    odd = np.argmin([np.abs(x[:, (i + 1) % 3] - x[:, (i + 2) % 3]) for i in range(3)], axis=0)
    odd = np.where(rng.random(n) < guess, rng.integers(3, size=n), odd)
    who = rng.integers(people, size=n)
    responses = Responses.from_odd_one_out(rows, rows[np.arange(n), odd], participants=who)
    random = np.isin(responses.answers, rng.permutation(n)[:n_random])
    return Collected(responses, random, rows, n)


def test_all_triplets_of_a_question_are_in_one_fold() -> None:
    triplets: Ints = np.array([[0, 1, 2], [2, 1, 0], [1, 2, 0], [5, 9, 7]])
    folds = folds_of(triplets)
    assert len(set(folds[:3].tolist())) == 1
    many = folds_of(np.sort(RNG.integers(1000, size=(5000, 3)), axis=1))
    assert np.bincount(many, minlength=FOLDS).min() > 5000 / FOLDS * 0.85


@pytest.mark.slow
def test_answers_by_chance_have_no_accuracy() -> None:
    """A metric judged by what it learned from would be right far more often than by chance."""
    given = collected(150, 75, guess=1.0)
    wide = RNG.normal(size=(40, 25))
    found = CrossFitted(wide).accuracy(given)
    assert found is not None
    assert given.responses is not None
    inside = TripletSDPMetric().fit(wide, given.responses.triplets)
    judged = given.responses[given.random]
    assert inside.score(wide, judged.triplets) > 0.7
    assert abs(found.learned.accuracy - 0.5) < 0.12


@pytest.mark.slow
def test_it_is_that_of_a_metric_fitted_without_the_fold() -> None:
    given = collected(200, 60)
    found = CrossFitted(X).accuracy(given)
    assert given.responses is not None
    right = 0
    judged = given.responses[given.random]
    for number in range(FOLDS):
        held = given.random & (folds_of(given.responses.triplets) == number)
        train = given.responses[~held]
        weight = prior_weight(len(np.unique(train.answers)), X.shape[1])
        # Another solver path, to a tighter gap.
        metric = TripletSDPMetric(h=0.5, prior="identity", prior_weight=weight, tol=1e-5)
        metric.fit(X, train.triplets)
        test = given.responses[held].triplets
        right += round(metric.score(X, test) * len(test))
    expected = right / len(judged)
    assert found is not None
    assert found.learned.accuracy == pytest.approx(expected, abs=0.03)
    assert TOL < 0.01
    euclidean = accuracy_interval(X, judged, by="participant", n_resamples=2000)
    assert found.euclidean == euclidean
    assert found.learned.accuracy > found.euclidean.accuracy


def test_too_few_random_answers_have_no_accuracy() -> None:
    judge = CrossFitted(X)
    assert judge.accuracy(Collected(None, np.zeros(0, bool), np.zeros((0, 3), int), 0)) is None
    assert judge.accuracy(collected(40, LEAST - 1)) is None


@pytest.mark.slow
def test_one_person_alone() -> None:
    found = CrossFitted(X).accuracy(collected(60, 40, people=1))
    assert found is not None
    assert found.by == "answer"
    assert found.ceiling is None  # no question was answered twice


def test_the_prior_fades() -> None:
    weights = [prior_weight(n, 20) for n in (0, 40, 400, 10**6)]
    assert weights[:2] == [1.0, 0.5]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] < 1e-4
