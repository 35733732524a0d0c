"""Answers that name a column or a place mean the item that stood there."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

from sdpmetric import Responses

IDS = ["cat", "cow", "dog", "elk"]
THREE = {"a": ["cat", "cow", "dog"], "b": ["cow", "dog", "elk"], "c": ["elk", "cat", "cow"]}
ODD = ["cow", "cow", "cow"]  # in the columns b, a, c
EXPECTED = Responses.from_odd_one_out(THREE, ODD, ids=IDS).triplets.tolist()


@pytest.mark.parametrize(
    "said",
    [
        ["b", "a", "c"],
        [2, 1, 3],
        ["2", "1", "3"],
        [2.0, 1.0, 3.0],
        ["2.0", "1.0", "3.0"],  # pandas writes integers with gaps so
        ["2", "1.0", " 3.0"],
    ],
    ids=str,
)
def test_odd_one_out_by_column_or_place(said: Any) -> None:
    frame = pd.DataFrame(THREE | {"odd": said})
    assert Responses.from_odd_one_out(frame, "odd", ids=IDS).triplets.tolist() == EXPECTED


@pytest.mark.parametrize("said", [["right", "left"], [2, 1]], ids=str)
def test_2afc_by_column_or_place(said: Any) -> None:
    table = {"anchor": ["cat", "cat"], "left": ["cow", "dog"], "right": ["elk", "cow"]}
    columns = ("anchor", "left", "right")
    found = Responses.from_2afc(table, said, columns=columns, ids=IDS)
    assert found.triplets.tolist() == [[0, 3, 1], [0, 2, 1]]


def test_an_answer_that_is_an_item_is_never_taken_for_a_place() -> None:
    """Rows called 1, 2, 3 and answers 1, 2, 3: the items win as soon as one of them was offered."""
    found = Responses.from_odd_one_out([[1, 2, 3], [3, 1, 2]], odd=[3, 3])
    assert found.triplets[:, 2].tolist() == [3, 3, 3, 3]
    with pytest.raises(ValueError, match=r"row 1 is 5, 6, 7, 1; expected one of the three"):
        Responses.from_odd_one_out([[1, 2, 3], [5, 6, 7]], odd=[3, 1])


def test_places_count_from_one() -> None:
    with pytest.raises(ValueError, match=r"odd"):
        Responses.from_odd_one_out(THREE, [0, 1, 2], ids=IDS)


def test_items_that_are_numbers_may_be_chosen_with_a_decimal_point() -> None:
    table, ids = [["7", "8", "9"], ["8", "9", "1"]], ["1", "7", "8", "9"]
    found = Responses.from_odd_one_out(table, ["7.0", "1.0"], ids=ids)
    assert [ids[i] for i in found.triplets[:, 2]] == ["7", "7", "1", "1"]
    with pytest.raises(ValueError, match=r"odd"):  # not the first item: 1 would be one
        Responses.from_odd_one_out(table[:1], ["1.0"], ids=ids)


def test_items_called_by_version_numbers_stay_what_they_are() -> None:
    ids = ["1.0", "2.0", "3.0", "4.0"]
    found = Responses.from_odd_one_out([ids[1:]], ["2.0"], ids=ids)
    assert found.triplets[:, 2].tolist() == [1, 1]
    with pytest.raises(ValueError, match=r"expected one of the three as odd"):
        Responses.from_odd_one_out([ids[1:]], ["1.0"], ids=ids)


@pytest.mark.parametrize("said", ["emu", "4", "d", 4])
def test_the_error_says_how_to_answer(said: Any) -> None:
    ways = "the item, or in all rows its column (a, b, c), or in all rows its place, 1 to 3."
    with pytest.raises(ValueError, match=re.escape(ways)):
        Responses.from_odd_one_out(THREE, [said, "cow", "cow"], ids=[*IDS, "emu"])


def test_where_items_are_numbers_the_error_offers_no_places() -> None:
    ways = "one of the two as chosen: the item, or in all rows its column (a, b)."
    with pytest.raises(ValueError, match=re.escape(f"row 0 is 5, 6, 7, 1; expected {ways}")):
        Responses.from_2afc([[5, 6, 7]], [1])
