"""Which questions are asked: shares, repeats, catch questions, nothing twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from sdpmetric._support.typing import Ints
from sdpmetric.page.questions import Chooser, Question, Rows, Seen

N = 30


def offered(n: int = 400) -> Ints:
    rng = np.random.default_rng(1)
    every = np.array(list(combinations(range(N), 3)))
    return every[rng.permutation(len(every))[:n]]


def asked(chooser: Chooser, n: int, others: Sequence[Rows] = ()) -> list[Question]:
    own: list[Question] = []
    for _ in range(n):
        own.append(chooser.choose(Seen(own, others)))
    return own


def test_shares() -> None:
    """Four in five by the metric, one in five random; one in twenty is asked again."""
    chooser = Chooser(N, "odd-one-out", 10_000, seed=0)
    chooser.offer(offered(4000))
    found = Counter(question.source for question in asked(chooser, 2000))
    expected = {"active": 0.95 * 0.8, "random": 0.95 * 0.2, "repeat": 0.05}
    for source, share in expected.items():
        sigma = np.sqrt(share * (1 - share) / 2000)
        assert abs(found[source] / 2000 - share) < 5 * sigma


def test_no_question_twice_but_repeats() -> None:
    chooser = Chooser(N, "odd-one-out", 1000, seed=0)
    chooser.offer(offered())
    own = [q for q in asked(chooser, 300) if q.source != "repeat"]
    assert len({frozenset(q.rows) for q in own}) == len(own)


def test_repeats_are_random_questions_from_some_time_ago() -> None:
    chooser = Chooser(N, "odd-one-out", 1000, active=False, seed=0)
    own = asked(chooser, 300)
    again = [i for i, q in enumerate(own) if q.source == "repeat"]
    assert again
    for i in again:
        [first] = [j for j in range(i) if frozenset(own[j].rows) == frozenset(own[i].rows)]
        assert own[first].source == "random"
        assert i - first > 5


def test_what_others_answered_is_repeated_first() -> None:
    others = [(0, 1, 2), (3, 4, 5)]
    chooser = Chooser(N, "odd-one-out", 1000, active=False, seed=0)
    again = [q for q in asked(chooser, 200, others) if q.source == "repeat"]
    assert {frozenset(q.rows) for q in again[:2]} == {frozenset(rows) for rows in others}


def test_without_offers_questions_are_random() -> None:
    found = asked(Chooser(N, "odd-one-out", 100, seed=0), 50)
    assert {q.source for q in found} <= {"random", "repeat"}


def test_the_least_sure_one_comes_first() -> None:
    chooser = Chooser(N, "odd-one-out", 100, seed=0)
    chooser.offer(offered(5))
    [first] = [q for q in asked(chooser, 30) if q.source == "active"][:1]
    assert sorted(first.rows) == offered(5)[0].tolist()


def test_catch_questions_are_spread_over_the_target() -> None:
    catch = [Question((0, 1, 2), "catch", 2), Question((3, 4, 5), "catch", 4)]
    own = asked(Chooser(N, "odd-one-out", 30, catch=catch, seed=0), 30)
    places = [i for i, q in enumerate(own) if q.source == "catch"]
    assert places == [10, 20]
    assert {(frozenset(own[i].rows), own[i].expected) for i in places} == {
        (frozenset({0, 1, 2}), 2),
        (frozenset({3, 4, 5}), 4),
    }


@pytest.mark.parametrize("kind", ["odd-one-out", "2afc"])
def test_places_are_random_and_an_anchor_stays(kind: str) -> None:
    chooser = Chooser(N, kind, 1000, seed=0)
    firsts: Counter[Rows] = Counter()
    for _ in range(600):
        chooser.offer(np.array([[7, 8, 9]]))
        question = chooser.choose(Seen())
        if question.source == "active":
            firsts[question.rows] += 1
    orders = 6 if kind == "odd-one-out" else 2
    assert len(firsts) == orders
    assert min(firsts.values()) > 0.6 * sum(firsts.values()) / orders
    if kind == "2afc":
        assert {rows[0] for rows in firsts} == {7}


def test_three_items_have_one_question() -> None:
    """It is asked again and again, rather than never ending the search for another one."""
    assert {frozenset(q.rows) for q in asked(Chooser(3, "odd-one-out", 9, seed=0), 9)} == {
        frozenset({0, 1, 2})
    }


def test_practice() -> None:
    assert Chooser(N, "2afc", 9, seed=0).practice(Seen()).source == "practice"
