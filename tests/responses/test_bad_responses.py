"""Bad tables of answers: one clear sentence that names the row in the user's words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdpmetric import Responses

ANIMALS = ["cat", "dog", "cow", "eel"]
OK = {"anchor": ["cat", "dog"], "positive": ["dog", "cat"], "negative": ["cow", "eel"]}
triplets, odd, afc = Responses.from_triplets, Responses.from_odd_one_out, Responses.from_2afc
rankings, clicks = Responses.from_rankings, Responses.from_clicks


def refused(match: str, read: Any, *arguments: Any, **settings: Any) -> None:
    with pytest.raises(ValueError, match=match) as caught:
        read(*arguments, **settings)
    assert re.search(r"expected|must", str(caught.value))


@pytest.mark.parametrize("missing", list(OK))
@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_missing_column(make: Any, missing: str) -> None:
    table = make({name: column for name, column in OK.items() if name != missing})
    refused(r"table has the columns .*expected 'anchor' or 'query'", triplets, table, ids=ANIMALS)


def test_columns_that_are_not_there() -> None:
    refused("table has no column 'odd', it has 'anchor'", odd, OK, columns=("anchor", "odd", "b"))
    refused("no column 'who'", triplets, OK, ids=ANIMALS, participants="who")
    refused("columns has .*'anchor', 'positive'", triplets, OK, columns=("anchor", "positive"))
    refused("columns has .*three", odd, OK, columns=("anchor", "positive"))
    both = OK | {"query": ["cat", "dog"]}
    refused("'anchor' or 'query'", triplets, both, ids=ANIMALS)
    refused("row 1 is .*entry 'b'", odd, [{"a": 0, "b": 1, "c": 2}, {"a": 0, "c": 2}])


def test_ragged() -> None:
    refused(
        "column 'positive' has 1 entries and 'anchor' has 2", triplets, OK | {"positive": ["a"]}
    )
    refused("row 1 has 2 entries, expected 3", triplets, [[0, 1, 2], [0, 1]])
    refused(r"shape \(2, 2\)", triplets, np.zeros((2, 2), dtype=int))
    refused("row 1 is 'abc'", triplets, [[0, 1, 2], "abc"])
    refused(
        "participants has 1 entries, expected one per row of table, 2",
        triplets,
        OK,
        ids=ANIMALS,
        participants=[1],
    )
    refused("weights has 3", triplets, OK, ids=ANIMALS, weights=[1, 1, 1])
    refused("odd has 2 entries", odd, [[0, 1, 2]], odd=[0, 1])


@pytest.mark.parametrize("table", [[], {name: [] for name in OK}, pd.DataFrame(columns=list(OK))])
def test_empty(table: Any) -> None:
    refused("table holds no answer", triplets, table)


@pytest.mark.parametrize("table", [None, 3, "file.csv"])
def test_not_a_table(table: Any) -> None:
    refused(f"table is {table!r}", triplets, table)


def test_a_record_is_not_a_table() -> None:
    refused("anchor is 'cat', expected a column", triplets, {n: c[0] for n, c in OK.items()})


def test_unknown_ids() -> None:
    table = OK | {"negative": ["yak", "gnu"]}
    refused(
        "negative: 2 of 2 ids are unknown: 'yak', 'gnu'; expected some of the 4",
        triplets,
        table,
        ids=ANIMALS,
    )
    many = [["cat", "dog", f"x{i}"] for i in range(9)]
    refused("negative: 9 of 9 ids are unknown: 'x0', .* 'x4', ...;", triplets, many, ids=ANIMALS)
    refused("ranking: 1 of 3 ids", rankings, [("cat", ["dog", "cow", "yak"])], ids=ANIMALS)
    refused("odd: 1 of 1 ids are unknown: 'yak'", odd, [ANIMALS[:3]], ["yak"], ids=ANIMALS)


def test_mixed_kinds() -> None:
    refused(
        "anchor holds strings .'cat'. and whole numbers .3.",
        triplets,
        OK | {"anchor": ["cat", 3]},
        ids=ANIMALS,
    )
    refused("anchor holds strings .'cat'., expected row numbers", triplets, OK)
    refused(
        "anchor holds whole numbers .0. but ids are strings", triplets, [[0, 1, 2]], ids=ANIMALS
    )
    refused("ids holds strings", triplets, OK, ids=["cat", "dog", 3, 4])
    refused("participants holds strings", triplets, OK, ids=ANIMALS, participants=["Ada", 7])
    refused("anchor: row 0 is True", triplets, [[True, 1, 2]])
    refused("positive: row 0 is 1.5", triplets, [[0, 1.5, 2]])
    refused("positive: row 0 is -1", triplets, [[0, -1, 2]])
    refused("positive: row 0 is -1", triplets, np.array([[0, -1, 2]]))
    refused("anchor: row 0 is 1267650600228229401496703205376", triplets, [[2**100, 1, 2]])


def test_ids_must_be_ids() -> None:
    refused("ids: 'cat' stands at rows 0 and 2", triplets, OK, ids=["cat", "dog", "cat"])
    refused("ids is empty", triplets, OK, ids=[])
    refused("ids: row 1 is missing", triplets, OK, ids=["cat", None])
    refused("ids is 'cat'", triplets, OK, ids="cat")


def test_missing_entries() -> None:
    refused("positive: row 1 is missing", triplets, OK | {"positive": ["dog", None]}, ids=ANIMALS)
    refused("negative: row 0 is missing", triplets, OK | {"negative": ["", "eel"]}, ids=ANIMALS)
    table = OK | {"negative": ["cow", None], "negative_1": ["eel", float("nan")]}
    refused("table: row 1 is 'dog', 'cat', .* at least one negative", triplets, table, ids=ANIMALS)
    refused("ranking: row 1 is missing", rankings, [(0, [1, 2]), (0, [1, None])])
    refused("participants: row 0 is missing", triplets, OK, ids=ANIMALS, participants=[None, "Bo"])


@pytest.mark.parametrize(
    "row", [["cat", "cat", "dog"], ["cat", "dog", "cat"], ["cat", "dog", "dog"]]
)
def test_items_that_are_the_same(row: list[str]) -> None:
    """The second row is bad and is quoted as the user wrote it."""
    table = [["cat", "dog", "cow"], row]
    quoted = ", ".join(map(repr, row))
    for read in (triplets, odd, afc):
        refused(f"table: row 1 is {quoted}; expected", read, table, ids=ANIMALS)


def test_choices_that_were_not_offered() -> None:
    refused("row 0 is 0, 1, 2, 3; expected one of the three as odd", odd, [[0, 1, 2]], [3])
    refused("row 0 is 0, 1, 2, 0; expected one of the two alternatives", afc, [[0, 1, 2]], [0])


def test_rankings() -> None:
    refused(
        "row 1 is 0, .1.; expected a ranking of at least two", rankings, [(0, [1, 2]), (0, [1])]
    )
    refused("row 0 is 0, .1, 2, 1.; expected each item once", rankings, [(0, [1, 2, 1])])
    refused("row 0 is 1, .1, 2.; expected items other than the anchor", rankings, [(1, [1, 2])])
    refused("pairs must be one of", rankings, [(0, [1, 2])], pairs="some")


def test_clicks_above() -> None:
    def above(table: Any, **settings: Any) -> Responses:
        return clicks(table, rule="skip-above", **settings)

    refused(
        "row 1 is 0, .3., .1, 2.; expected clicked items among",
        above,
        [(0, 2, [1, 2]), (0, [3], [1, 2])],
    )
    refused("row 0 is 0, .1., .2, 2, 1.; expected each item once", above, [(0, [1], [2, 2, 1])])
    refused(
        "none of 2 rows has an item that was shown above", above, [(0, 1, [1, 2]), (0, [], [1])]
    )
    refused(
        "row 0 is 0, .1., .0, 1.; expected items that differ from the", above, [(0, [1], [0, 1])]
    )
    refused("has no column 'shown'", above, {"query": [0], "clicked": [1], "skipped": [2]})
    refused("shown: row 1 is 1.5", above, [(0, 2, [1, 2]), (0, 2, [1.5, 2])])
    refused("rule must be one of", clicks, [(0, 1, 2)], rule="all")


def test_clicks() -> None:
    refused("none of 2 rows has a clicked and a skipped", clicks, [(0, [1], []), (0, [], [2])])
    refused("row 0 is 0, .1., .1, 2.; expected items that differ", clicks, [(0, [1], [1, 2])])
    refused("row 0 is 0, .0., .2.; expected items that differ", clicks, [(0, [0], [2])])


@pytest.mark.parametrize("bad", [-1, 1.5, "two", None, True, float("nan"), 2**40])
def test_counts(bad: Any) -> None:
    refused("counts: row 1 is", triplets, OK, ids=ANIMALS, counts=[1, bad])


def test_weights_and_zero_counts() -> None:
    refused("counts is zero everywhere", triplets, OK, ids=ANIMALS, counts=[0, 0])
    refused("weights: entry 1 is -1", triplets, OK, ids=ANIMALS, weights=[1, -1])
    refused("weights is zero everywhere", triplets, OK, ids=ANIMALS, weights=[0, 0])
    refused("weights must hold numbers", triplets, OK, ids=ANIMALS, weights=["much", "more"])


def test_made_by_hand() -> None:
    refused(r"triplets has shape \(1, 4\)", Responses, [[0, 1, 0, 2]])
    refused("triplets: row 0 is .0, 0, 2.", Responses, [[0, 0, 2]])
    refused(
        "participants has 2 entries, expected one per triplet, 1",
        Responses,
        [[0, 1, 2]],
        None,
        ["a", "b"],
    )
    r = Responses(np.array([[0, 1, 2]]))
    refused("by is 'participant' but participants is None", r.balanced)
    refused("by must be one of", r.balanced, "item")


def test_a_few_bytes_that_stand_for_billions_of_triplets() -> None:
    """Refused before they are made: 48 GB of row numbers from one count."""
    refused(
        "counts stands for 4,000,000,000 triplets, expected at most 100,000,000",
        *(odd, [[0, 1, 2]]),
        counts=[2_000_000_000],
    )
    long = list(range(1, 20_000))
    refused("table stands for 199,970,001 triplets", rankings, [(0, long)])
    assert len(rankings([(0, long)], pairs="adjacent")) == len(long) - 1
    half = long[:10_000], long[10_000:]
    many = [(0, *half)] * 2
    refused("table stands for 199,980,000 triplets", clicks, many)
    shown = [(0, long[10_000:], long)] * 2
    refused("table stands for 199,980,000 triplets", clicks, shown, rule="skip-above")


@pytest.mark.parametrize("columns", [True, 3, "anchor", [["a"], "b", "c"], {"a": 1}, np.array("a")])
@pytest.mark.parametrize("read", [triplets, odd, afc, rankings, clicks])
def test_names_of_columns_that_are_none(read: Any, columns: Any) -> None:
    refused("columns is .* expected a list of names", read, [[0, 1, 2]], columns=columns)


def test_a_single_number_is_no_column_and_no_list() -> None:
    refused("anchor is array", triplets, OK | {"anchor": np.array(3)})
    assert rankings([(0, [1, 2])], columns=["a", "b"]).triplets.tolist() == [[0, 1, 2]]
    refused("row 0 is array.1., expected", rankings, [(0, np.array(1))])


def test_a_negative_with_thousands_of_digits_is_another_column() -> None:
    table = {"anchor": [0], "positive": [1], "negative_" + "9" * 5000: [2]}
    refused("expected 'anchor' or 'query'", triplets, table)
