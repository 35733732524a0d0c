"""The noise ceiling against counting by hand and against binomial theory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from sdpmetric import Responses, TripletSDPMetric, noise_ceiling
from tests.support.problems import Floats, consistent, random_triplets

A, B = [0, 1, 2], [0, 2, 1]  # the two answers to one question
C, D = [3, 1, 2], [3, 2, 1]


def said(triplets: list[list[int]], who: str = "", weights: list[float] | None = None) -> Responses:
    """Answers by hand; who gave them, in words."""
    given = np.ones(len(triplets)) if weights is None else np.array(weights)
    return Responses(np.array(triplets), given, np.array(who.split()) if who else None)


def test_by_hand() -> None:
    """Two questions, 3:1 and 1:1, and one that was asked once and does not count."""
    r = said([A, A, A, B, C, D, [1, 0, 2]])
    ceiling = noise_ceiling(r)
    assert ceiling.upper == (3 + 1) / 6
    # 3:1: leaving out an A the others say 2:1 for A; leaving out B, A. 1:1: the other disagrees.
    assert ceiling.lower == 3 / 6
    assert ceiling.agreement == pytest.approx((4 * 3 / 6 + 2 * 0) / 6)
    assert (ceiling.n_questions, ceiling.n_triplets) == (2, 6)


def test_weights_by_hand() -> None:
    """Ada counts thrice: her B outweighs the two A."""
    ceiling = noise_ceiling(said([B, A, A], "Ada Bo Cy", [3.0, 1.0, 1.0]))
    assert ceiling.upper == 3 / 5
    assert ceiling.lower == 0.0  # the others of Ada say A, those of Bo and Cy say B
    assert ceiling.agreement == pytest.approx(1 * 1 / (3 + 3 + 1))


def test_ties_count_half() -> None:
    ceiling = noise_ceiling(said([A, A, B]))
    assert ceiling.lower == pytest.approx((0.5 + 0.5 + 0.0) / 3)


def test_a_person_who_repeats_is_no_other() -> None:
    """Ada says A twice; only Bo's word counts against hers, and by answer her own does too."""
    r = said([A, A, B, C, C], "Ada Ada Bo Ada Ada")
    ceiling = noise_ceiling(r)
    assert (ceiling.lower, ceiling.n_questions, ceiling.n_triplets) == (0.0, 1, 3)
    assert noise_ceiling(r, by="answer").n_questions == 2
    assert noise_ceiling(r, by="answer").lower == pytest.approx((0.5 + 0.5 + 0 + 1 + 1) / 5)


def test_all_of_one_mind() -> None:
    ceiling = noise_ceiling(said([A, A, C, C]))
    assert (ceiling.upper, ceiling.lower, ceiling.agreement) == (1.0, 1.0, 1.0)
    assert ceiling.split_half == 1.0


def majority(n: int, q: float) -> float:
    """The chance that most of n answers are the likelier one, a tie counting half."""
    votes = np.arange(n + 1)
    return float(binom.pmf(votes, n, q) @ np.where(2 * votes == n, 0.5, 2 * votes > n))


def followed(n: int, q: float) -> float:
    """The chance that an answer follows the majority of n others."""
    return q * majority(n, q) + (1 - q) * (1 - majority(n, q))


@pytest.mark.slow
@pytest.mark.parametrize("q", [0.6, 0.75, 0.9])
@pytest.mark.parametrize("n", [2, 5, 8])
def test_planted_noise(n: int, q: float) -> None:
    """4,000 questions to n people each, of whom a share q answers as planted."""
    rng = np.random.default_rng([n, int(100 * q)])
    planted = random_triplets(rng, 60, 4_000)
    planted.sort(axis=1)
    planted = np.unique(planted, axis=0)
    rows = np.repeat(planted, n, axis=0)
    flip = rng.random(len(rows)) > q
    rows[flip] = rows[flip][:, [0, 2, 1]]
    ceiling = noise_ceiling(Responses(rows, participants=np.tile(np.arange(n), len(planted))))
    votes = np.arange(n + 1)
    expected = {
        "upper": float(binom.pmf(votes, n, q) @ np.maximum(votes, n - votes)) / n,
        "lower": followed(n - 1, q),
        "agreement": q**2 + (1 - q) ** 2,
        # Of odd n one half is larger, and every answer is in either of them in turn.
        "split_half": ((n // 2) * followed(n - n // 2, q) + (n - n // 2) * followed(n // 2, q)) / n,
    }
    error = 4 * 0.5 / np.sqrt(len(planted))  # four standard errors of answers that hang together
    for name, value in expected.items():
        assert getattr(ceiling, name) == pytest.approx(value, abs=error), name
    assert ceiling.lower - error < q < ceiling.upper + error


def test_no_metric_exceeds_the_upper_ceiling() -> None:
    """Nor does the best possible one: all answers of a planted metric, some turned around."""
    rng = np.random.default_rng(5)
    X: Floats = rng.normal(size=(12, 2))
    T = np.repeat(consistent(random_triplets(rng, 12, 80), X, np.diag([1.0, 0.1])), 5, axis=0)
    flip = rng.random(len(T)) < 0.25
    T[flip] = T[flip][:, [0, 2, 1]]
    r = Responses(T)
    metric = TripletSDPMetric().fit(X, *r.merged())
    assert 0.6 < metric.score(X, r.triplets) <= noise_ceiling(r).upper


def test_order_and_seed_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    T = np.array([A, B, C, D])[rng.integers(4, size=50)]
    who = rng.integers(6, size=50)
    turn = rng.permutation(50)
    a = noise_ceiling(Responses(T, participants=who))
    b = noise_ceiling(Responses(T[turn], participants=who[turn]))
    assert a.upper == pytest.approx(b.upper)
    assert a.lower == pytest.approx(b.lower)
    assert a.agreement == pytest.approx(b.agreement)
    assert a == noise_ceiling(Responses(T, participants=who))


def test_errors() -> None:
    with pytest.raises(ValueError, match="none of 2 questions was answered twice"):
        noise_ceiling(said([A, C]))
    with pytest.raises(ValueError, match="none of 1 questions"):
        noise_ceiling(said([A, B], "Ada Ada"))
    with pytest.raises(ValueError, match="by must be"):
        noise_ceiling(said([A, B]), by="question")
    with pytest.raises(ValueError, match="responses must be Responses, got list"):
        noise_ceiling([A, B])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_splits"):
        noise_ceiling(said([A, B]), n_splits=0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**1000])
def test_weights_of_any_size_overflowed_when_squared(unit: float) -> None:
    rng = np.random.default_rng(6)
    T = np.array([A, B, C, D])[rng.integers(4, size=50)]
    weights = rng.uniform(0.5, 2.0, size=50)
    expected = noise_ceiling(Responses(T, weights))
    assert noise_ceiling(Responses(T, weights * unit)) == expected


@pytest.mark.filterwarnings("error")
def test_one_weight_beside_which_all_others_vanish_was_nan() -> None:
    """1e-160 squared underflows, and the square of a sum minus the sum of squares is zero."""
    with pytest.raises(ValueError, match="one answer has all the weight"):
        noise_ceiling(Responses(np.array([A, A]), np.array([1.0, 1e-160])))
    with pytest.raises(ValueError, match="none of 1 questions was answered twice"):
        noise_ceiling(Responses(np.array([A, A]), np.array([1e300, 1e-300])))
