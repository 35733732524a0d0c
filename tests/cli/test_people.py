"""The report's tables about people, against sums by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdpmetric import Responses
from sdpmetric.cli.people import at_odds, participants

LINE = np.array([[0.0], [1.0], [3.0], [10.0]])
NAMES = ["a", "b", "c", "d"]


def made(triplets: Any, **others: Any) -> Responses:
    return Responses(triplets, **others)


def test_accuracy_of_each_participant_is_weighted_and_the_worst_comes_first() -> None:
    answers = made(
        [[0, 1, 2], [0, 2, 1], [0, 1, 3], [0, 1, 3]],
        weights=[1.0, 3.0, 1.0, 0.0],
        participants=["Ada", "Ada", "Bo", "Cy"],
    )
    right = np.array([True, False, True, True])
    found = participants(answers, {"other": ~right, "learned": right})
    assert [(p.name, p.n_comparisons, p.accuracy) for p in found] == [
        ("Ada", 2, {"other": 0.75, "learned": 0.25}),
        ("Bo", 1, {"other": 0.0, "learned": 1.0}),
    ]
    assert participants(made([[0, 1, 2]]), {"learned": np.array([True])}) == []


def test_the_answers_most_at_odds_are_those_with_the_clearest_contrary() -> None:
    # Relative margins: (1 - 3) / 4, (1 - 10) / 11, right, and twice the same odd one out.
    answers = made(
        [[0, 2, 1], [0, 3, 1], [0, 1, 2], [2, 3, 1], [1, 3, 2]],
        participants=["p", "q", "r", "s", "s"],
        answers=[0, 1, 2, 3, 3],
    )
    i, j, k = answers.triplets.T
    right = np.abs(LINE[i] - LINE[j]).ravel() < np.abs(LINE[i] - LINE[k]).ravel()
    found = at_odds(answers, LINE, NAMES, right, 10)
    assert [(o.participant, o.anchor, o.near, o.far) for o in found] == [
        ("q", "a", "d", "b"),
        ("s", "b", "d", "c"),
        ("p", "a", "c", "b"),
    ]
    assert (found[0].near_distance, found[0].far_distance) == (10.0, 1.0)
    assert len(at_odds(answers, LINE, NAMES, right, 1)) == 1
