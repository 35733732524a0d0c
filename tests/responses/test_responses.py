"""Answers of people and logs as triplets: every kind, every kind of table, ids, weights, counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdpmetric import Responses, TripletSDPMetric
from tests.support.problems import consistent, random_triplets

ANIMALS = ["cat", "dog", "cow", "eel", "ant"]


def records(table: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def structured(table: dict[str, list[Any]]) -> Any:
    return pd.DataFrame(table).to_records(index=False)


TABLES: list[Callable[[dict[str, list[Any]]], Any]] = [
    dict,
    records,
    structured,
    pd.DataFrame,
    pl.DataFrame,
    pa.table,
]


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize("head", ["anchor", "query"])
def test_columns_by_name(make: Any, head: str) -> None:
    """The tenth negative comes after the second, and other columns are no hindrance."""
    table = {
        "who": ["Ada", "Bo"],
        "negative_10": ["ant", "cat"],
        "positive": ["dog", "cow"],
        "negative_2": ["cow", "eel"],
        head: ["cat", "dog"],
    }
    r = Responses.from_triplets(make(table), ids=ANIMALS, participants="who")
    assert r.triplets.tolist() == [[0, 1, 2], [0, 1, 4], [1, 2, 3], [1, 2, 0]]
    assert r.participants is not None
    assert r.participants is not None
    assert r.participants.tolist() == ["Ada", "Ada", "Bo", "Bo"]
    assert r.answers.tolist() == [0, 0, 1, 1]
    assert r.weights.tolist() == [1.0] * 4


@pytest.mark.parametrize("make", [dict, records, pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("names", [ANIMALS, [10, 20, 30, 40, 50]])
def test_missing_negatives(make: Any, names: list[Any]) -> None:
    """Frames turn integers with gaps into floats with NaN."""
    a, b, c, d, _ = names
    table = {"anchor": [a, b], "positive": [b, a], "negative_1": [c, None], "negative_2": [d, d]}
    r = Responses.from_triplets(make(table), ids=names)
    assert r.triplets.tolist() == [[0, 1, 2], [0, 1, 3], [1, 0, 3]]


def test_missing_in_nullable_columns_and_empty_fields() -> None:
    numbers = pd.DataFrame({"anchor": [0, 1], "positive": [1, 0], "negative": [2, 2]})
    numbers["negative_1"] = pd.array([3, pd.NA], dtype="Int64")
    assert len(Responses.from_triplets(numbers)) == 3
    fields = [{"query": "cat", "positive": "dog", "negative": "cow", "negative_1": ""}]
    assert Responses.from_triplets(fields, ids=ANIMALS).triplets.tolist() == [[0, 1, 2]]


def test_rows_by_position() -> None:
    T = [[0, 1, 2], [3, 2, 1]]
    for table in (T, np.array(T), [tuple(row) for row in T], np.array(T, dtype=float)):
        assert Responses.from_triplets(table).triplets.tolist() == T
    named = Responses.from_triplets([["cat", "dog", "eel"]], ids=pd.Index(ANIMALS))
    assert named.triplets.tolist() == [[0, 1, 3]]
    chosen = {"x": [4], "y": [3], "z": [2], "positive": [0]}
    assert Responses.from_triplets(chosen, columns=("z", "y", "x")).triplets.tolist() == [[2, 3, 4]]


def test_odd_one_out() -> None:
    """The odd one is far from both of the others, whichever place it has."""
    shown = [["cat", "dog", "eel"]] * 3
    for odd, expected in {
        "eel": [[0, 1, 3], [1, 0, 3]],
        "dog": [[0, 3, 1], [3, 0, 1]],
        "cat": [[1, 3, 0], [3, 1, 0]],
    }.items():
        r = Responses.from_odd_one_out(shown[:1], [odd], ids=ANIMALS)
        assert r.triplets.tolist() == expected
    last = Responses.from_odd_one_out(shown, ids=ANIMALS)
    assert last.triplets.tolist() == [[0, 1, 3], [1, 0, 3]] * 3
    assert last.answers.tolist() == [0, 0, 1, 1, 2, 2]
    frame = pl.DataFrame({"a": ["cat"], "b": ["dog"], "c": ["eel"], "picked": ["dog"]})
    named = Responses.from_odd_one_out(frame, "picked", ids=ANIMALS)
    assert named.triplets.tolist() == [[0, 3, 1], [3, 0, 1]]


def test_two_alternatives() -> None:
    frame = pd.DataFrame({"head": [0, 0], "left": [1, 1], "right": [2, 2], "winner": [2, 1]})
    r = Responses.from_2afc(frame, "winner", columns=("head", "left", "right"))
    assert r.triplets.tolist() == [[0, 2, 1], [0, 1, 2]]
    assert Responses.from_2afc([[0, 4, 2]]).triplets.tolist() == [[0, 4, 2]]


@pytest.mark.parametrize("make", [dict, records, pd.DataFrame, pl.DataFrame, pa.table])
def test_rankings(make: Any) -> None:
    table = {"anchor": ["cat", "ant"], "ranking": [["dog", "cow", "eel"], ["eel", "cow"]]}
    r = Responses.from_rankings(make(table), ids=ANIMALS)
    assert r.triplets.tolist() == [[0, 1, 2], [0, 1, 3], [0, 2, 3], [4, 3, 2]]
    assert r.answers.tolist() == [0, 0, 0, 1]
    r = Responses.from_rankings(make(table), ids=ANIMALS, pairs="adjacent")
    assert r.triplets.tolist() == [[0, 1, 2], [0, 2, 3], [4, 3, 2]]


def test_rankings_of_one_length() -> None:
    """A NumPy table of lists of one length is a cube to NumPy, not to us."""
    r = Responses.from_rankings({"anchor": np.array([0, 1]), "ranking": np.array([[1, 2], [2, 0]])})
    assert r.triplets.tolist() == [[0, 1, 2], [1, 2, 0]]


@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_clicks_above(make: Any) -> None:
    """By hand: above a click and not clicked."""
    table = {
        "query": [9, 9, 8, 7, 6, 5],
        "clicked": [[2, 4], [1], [], [3, 1, 3], 2, [1, 2]],
        "shown": [[1, 2, 3, 4, 5], [1, 2], [1, 2], [1, 2, 3], [1, 2], [1, 2]],
    }
    who = list("abcdef")
    r = Responses.from_clicks(
        make(table), rule="skip-above", participants=who, counts=[1] * 5 + [2]
    )
    expected = [[9, 2, 1], [9, 4, 1], [9, 4, 3], [7, 3, 2], [6, 2, 1]]
    assert r.triplets.tolist() == expected
    assert r.participants is not None
    assert r.participants.tolist() == ["a", "a", "a", "d", "e"]
    assert r.answers.tolist() == [0, 0, 0, 1, 2]


def test_clicks_above_against_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    rows, expected = [], []
    for query in range(100, 150):
        shown = rng.permutation(30)[: rng.integers(1, 12)].tolist()
        clicked = [item for item in shown if rng.random() < 0.3]
        rows.append((query, clicked, shown))
        for place, item in enumerate(shown):
            passed = [other for other in shown[:place] if other not in clicked]
            expected += [[query, item, other] for other in passed if item in clicked]
    assert len(expected) > 100
    assert Responses.from_clicks(rows, rule="skip-above").triplets.tolist() == expected


@pytest.mark.parametrize("make", [dict, records, pd.DataFrame, pl.DataFrame, pa.table])
def test_clicks(make: Any) -> None:
    table = {
        "query": [0, 1, 2, 0],
        "clicked": [[3, 4], [], [0], [4]],
        "skipped": [[1, 2], [0], [], [2]],
    }
    r = Responses.from_clicks(make(table), participants=["a", "b", "c", "d"])
    assert r.triplets.tolist() == [[0, 3, 1], [0, 3, 2], [0, 4, 1], [0, 4, 2], [0, 4, 2]]
    assert r.answers.tolist() == [0, 0, 0, 0, 1]
    assert r.participants is not None
    assert r.participants is not None
    assert r.participants.tolist() == ["a"] * 4 + ["d"]


def test_a_single_click() -> None:
    log = [("cat", "dog", ["cow", "eel"]), ("cat", None, ["cow"])]
    assert Responses.from_clicks(log, ids=ANIMALS).triplets.tolist() == [[0, 1, 2], [0, 1, 3]]


def test_counts_are_so_many_answers() -> None:
    table = {"a": [0, 3, 4], "b": [1, 1, 1], "c": [2, 2, 2], "n": [2, 0, 1], "w": [0.5, 1.0, 3.0]}
    r = Responses.from_odd_one_out(table, counts="n", weights="w", participants=[7, 8, 9])
    expected = Responses.from_odd_one_out(
        [[0, 1, 2], [0, 1, 2], [4, 1, 2]], weights=[0.5, 0.5, 3.0], participants=[7, 7, 9]
    )
    assert sorted(map(tuple, r.triplets)) == sorted(map(tuple, expected.triplets))
    assert np.bincount(r.answers).tolist() == [2, 2, 2]
    for answer in range(3):  # the two triplets of an answer stay together
        a, b = r.triplets[r.answers == answer]
        assert (a[0], a[1], a[2]) == (b[1], b[0], b[2])
    assert sorted(r.weights) == sorted(expected.weights)
    assert r.participants is not None
    assert r.participants is not None
    assert r.participants.tolist() == [7, 7, 7, 7, 9, 9]


def test_merged_is_the_same_fit() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    T = consistent(random_triplets(rng, 20, 40), X, np.diag([1.0, 0.2, 0.0]))
    r = Responses(T[rng.integers(40, size=200)], weights=rng.uniform(0.5, 2.0, 200))
    triplets, weights = r.merged()
    assert len(triplets) <= 40
    assert weights.sum() == pytest.approx(r.weights.sum())
    expected = TripletSDPMetric(tol=1e-7).fit(X, r.triplets, r.weights)
    metric = TripletSDPMetric(tol=1e-7).fit(X, *r.merged())
    assert metric.objective_ == pytest.approx(expected.objective_, rel=1e-6)


def test_balanced() -> None:
    T = np.array([[0, 1, 2], [1, 0, 2], [0, 2, 1], [3, 1, 2], [2, 1, 0]])
    who = np.array(["Ada", "Ada", "Ada", "Bo", "Cy"])
    r = Responses(T, np.array([1.0, 2.0, 1.0, 1.0, 0.0]), who)
    balanced = r.balanced()
    assert balanced.weights.tolist() == [0.625, 1.25, 0.625, 2.5, 0.0]  # 5 in all, Cy had none
    assert r.weights.tolist() == [1.0, 2.0, 1.0, 1.0, 0.0]
    by_question = Responses(T, participants=who).balanced("question").weights
    assert by_question.tolist() == pytest.approx([0.625] * 3 + [2.5, 0.625])
    ranked = Responses.from_rankings([(0, [1, 2, 3]), (0, [1, 2])]).balanced("answer")
    assert ranked.weights.tolist() == pytest.approx([2 / 3] * 3 + [2.0])


def test_some_of_them() -> None:
    T, weights = np.array([[0, 1, 2], [1, 0, 2], [2, 1, 0]]), np.array([1.0, 2.0, 3.0])
    r = Responses(T, weights, np.array(["a", "b", "c"]), np.array([5, 5, 9]))
    assert r.answers.tolist() == [0, 0, 1]
    for rows in (np.array([0, 2]), np.array([True, False, True]), slice(0, 3, 2)):
        some = r[rows]
        assert some.triplets.tolist() == [[0, 1, 2], [2, 1, 0]]
        assert some.weights.tolist() == [1.0, 3.0]
        assert some.participants is not None
        assert some.participants.tolist() == ["a", "c"]
        assert some.answers.tolist() == [0, 1]


def test_large_row_numbers_are_kept() -> None:
    big = 2**53 + 1
    assert Responses.from_triplets([[big, 1, 2]]).triplets[0, 0] == big
    assert Responses.from_triplets([["x", "y", "z"]], ids=["y", "z", "x"]).triplets[0, 0] == 2


def test_ids_that_are_numbers_are_not_rows() -> None:
    assert Responses.from_triplets([[2, 1, 0]], ids=[2, 0, 1]).triplets.tolist() == [[0, 2, 1]]


def test_concatenated_answers_keep_apart_and_people_stay_the_same() -> None:
    made: Any = Responses
    first = made([[0, 1, 2], [1, 0, 2]], [2.0, 1.0], ["Ada", "Ada"], [5, 5])
    second = made([[3, 1, 2], [0, 3, 2]], participants=["Ada", "Bo"], answers=[5, 6])
    found = Responses.concatenate([first, second])
    assert found.triplets.tolist() == [[0, 1, 2], [1, 0, 2], [3, 1, 2], [0, 3, 2]]
    assert found.weights.tolist() == [2.0, 1.0, 1.0, 1.0]
    assert found.answers.tolist() == [0, 0, 1, 2]
    assert found.participants is not None
    assert found.participants.tolist() == ["Ada", "Ada", "Ada", "Bo"]
    nobody = made([[0, 1, 2]])
    with pytest.raises(ValueError, match="participants are known in 1 of 2 parts"):
        Responses.concatenate([first, nobody])
    with pytest.raises(ValueError, match="participants"):
        Responses.concatenate([first, made([[0, 1, 2]], participants=[7])])
    with pytest.raises(ValueError, match=r"parts must be one or more Responses, got \[\]"):
        Responses.concatenate([])


@pytest.mark.filterwarnings("error")
def test_sums_of_weights_of_1e308_were_infinite() -> None:
    """Only ratios matter, so that all weights are multiplied by one smaller factor."""
    T, who = np.array([[0, 1, 2], [0, 1, 2], [1, 0, 2]]), np.array([1, 1, 2])
    r = Responses(T, np.full(3, 1.5e308), participants=who)
    triplets, weights = r.merged()
    assert triplets.tolist() == [[0, 1, 2], [1, 0, 2]]
    assert weights[0] / weights[1] == pytest.approx(2.0)
    balanced = r.balanced().weights
    np.testing.assert_allclose(balanced / balanced[2], [0.5, 0.5, 1.0])
    tiny = Responses(T, np.array([1e-300, 2e-300, 1e-320]), participants=who).balanced()
    np.testing.assert_allclose(tiny.weights / tiny.weights[2], [1 / 3, 2 / 3, 1.0], rtol=1e-3)
