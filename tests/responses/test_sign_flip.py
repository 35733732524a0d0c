"""The sign-flip test: against all flips one by one, the sign test, and its own promise."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.preprocessing import FunctionTransformer

from sdpmetric import Responses, sign_flip_test
from tests.support.problems import Floats, Ints

# Two metrics that disagree on the first question, and agree on the others: one rightly, one not.
X = np.array([[0.0, 0.0], [1.0, 5.0], [2.0, 0.0], [9.0, 9.0]])
FIRST = FunctionTransformer(lambda X: X[:, :1])
MINE, THEIRS, BOTH, NONE = [0, 1, 2], [0, 2, 1], [0, 1, 3], [0, 3, 1]


def answers(kinds: Ints, weights: Floats | None = None, who: Ints | None = None) -> Responses:
    given: Any = weights  # None: all alike
    return Responses(np.array([MINE, THEIRS, BOTH, NONE])[kinds], given, who)


def every_flip(d: Floats) -> float:
    """P(sum of s_u d_u >= sum of d_u), one flip after another."""
    sums = np.array([np.dot(signs, d) for signs in product([-1, 1], repeat=len(d))])
    return float(np.mean(sums >= d.sum() - 1e-9))


def random_answers(seed: int, *, people: int = 10, alike: bool = True) -> tuple[Responses, Floats]:
    """Answers of some people, and by how much the first metric is better in each of them.

    If weights are alike many people differ by the same amount, or by nothing but rounding.
    """
    rng = np.random.default_rng(seed)
    kinds, who = rng.integers(0, 4, size=60), rng.integers(0, people, size=60)
    weights = rng.choice([1.0, 2.0, 0.3, 0.1], size=60) if alike else rng.uniform(0.5, 2.0, 60)
    gain = np.array([1.0, -1.0, 0.0, 0.0])[kinds] * weights
    return answers(kinds, weights, who), np.bincount(who, gain, people).astype(np.float64)


@pytest.mark.parametrize("seed", range(5))
def test_every_flip(seed: int) -> None:
    r, d = random_answers(seed)
    found = sign_flip_test(X, r, FIRST)
    assert found.exact
    assert found.p_value == pytest.approx(every_flip(d), abs=1e-12)
    assert found.n_units == np.count_nonzero(np.abs(d) > 1e-12)
    share = found.accuracy - found.baseline_accuracy
    assert share == pytest.approx(d.sum() / r.weights.sum())
    reverse = sign_flip_test(X, r, None, FIRST)
    assert reverse.p_value == pytest.approx(every_flip(-d), abs=1e-12)
    assert reverse.accuracy == found.baseline_accuracy


@pytest.mark.parametrize("seed", range(3))
def test_drawn_flips_come_near(seed: int) -> None:
    """With fewer flips than there are sums they are drawn."""
    r, d = random_answers(seed, people=14, alike=False)
    expected = every_flip(d)
    found = sign_flip_test(X, r, FIRST, n_flips=500)
    assert not found.exact
    assert found.p_value == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 500))
    assert 0.05 < expected < 0.95
    assert found == sign_flip_test(X, r, FIRST, n_flips=500)
    # k + 1 of n + 1: never zero.
    assert (found.p_value * 501) == pytest.approx(round(found.p_value * 501))


def test_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    r, d = random_answers(1, people=14, alike=False)
    monkeypatch.setattr("sdpmetric.responses.sign_flip.RESULT_BYTES", 1_000)
    found = sign_flip_test(X, r, FIRST, n_flips=600)
    assert found.p_value == pytest.approx(every_flip(d), abs=4 * np.sqrt(0.25 / 600))


@pytest.mark.parametrize(("mine", "theirs"), [(12, 8), (900, 820), (5, 5), (3, 9), (40, 0)])
def test_single_answers_are_a_sign_test(mine: int, theirs: int) -> None:
    """Exact however many there are, with a p-value far below one over the number of flips."""
    kinds = np.repeat([0, 1, 2], [mine, theirs, 7])
    found = sign_flip_test(X, answers(kinds), FIRST)
    expected = binomtest(mine, mine + theirs, alternative="greater").pvalue
    assert found.exact
    assert found.p_value == pytest.approx(expected, rel=1e-9)
    assert found.n_units == mine + theirs


def test_the_same_metric_is_not_better() -> None:
    found = sign_flip_test(X, answers(np.array([0, 1, 0])), FIRST, FIRST)
    assert (found.p_value, found.n_units, found.exact) == (1.0, 0, True)


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
def test_rounding_is_no_difference(scale: float) -> None:
    """0.1 + 0.2 is not 0.3 to a computer; in any units of weight."""
    weights = scale * np.array([0.1, 0.2, 0.3, 1.0])
    r = answers(np.array([0, 0, 1, 0]), weights, np.array([0, 0, 0, 1]))
    found = sign_flip_test(X, r, FIRST)
    assert (found.n_units, found.p_value) == (1, 0.5)


def test_people_are_flipped_whole() -> None:
    """A hundred answers of two people can never say more than p = 1/4."""
    r = answers(np.zeros(100, dtype=int), None, np.arange(100) % 2)
    assert sign_flip_test(X, r, FIRST).p_value == 0.25
    assert sign_flip_test(X, r, FIRST, by="answer").p_value < 1e-20


@pytest.mark.slow
def test_its_promise() -> None:
    """Neither is better: at most a share a of p-values is at most a."""
    rng = np.random.default_rng(7)
    p = np.empty(500)
    for trial in range(500):
        lean = np.repeat(rng.uniform(size=8), 10)  # people differ, to either side alike
        kinds = (rng.random(80) > lean).astype(int)
        p[trial] = sign_flip_test(
            X, answers(kinds, None, np.repeat(np.arange(8), 10)), FIRST
        ).p_value
    for a in (0.05, 0.2, 0.5):
        assert np.mean(p <= a) <= a + 3 * np.sqrt(a * (1 - a) / 500)
    assert np.mean(p <= 0.2) > 0.1  # and it is not asleep


def test_errors() -> None:
    r = answers(np.array([0, 1]))
    with pytest.raises(ValueError, match="baseline must be None or have a transform"):
        sign_flip_test(X, r, None, "prior")
    with pytest.raises(ValueError, match="n_flips"):
        sign_flip_test(X, r, None, n_flips=0)
    with pytest.raises(ValueError, match="participants is None"):
        sign_flip_test(X, r, FIRST, by="participant")
