"""Which alternative was chosen: answers name the item, its column, or its place from 1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from .tables import Column

_WHOLE = re.compile(r"\s*(\d+)\.0+\s*")


def chosen_items(choice: Column, names: Sequence[str], cells: Sequence[Column]) -> Column:
    """The items that were chosen, whichever of three ways a file says it.

    Columns and places are understood only if no answer is an item of its own row, and places only
    if items are not numbers themselves: 3 would be the third item, or the item 3. The text "3.0" is
    read as "3", unless an item is called "3.0": pandas writes integers with gaps so.

    Parameters
    ----------
    choice : (n,) answers
    names : names of the columns of the alternatives
    cells : these columns, (n,) each

    >>> left, right = np.array(["cat", "cow"]), np.array(["dog", "elk"])
    >>> chosen_items(np.array(["right", "left"]), ["left", "right"], [left, right]).tolist()
    ['dog', 'cow']
    >>> chosen_items(np.array([1, 2]), ["left", "right"], [left, right]).tolist()
    ['cat', 'elk']
    """
    answers = choice.astype(object)
    if len(choice) == 0 or _items_of_their_rows(answers, cells):
        return choice
    whole = np.fromiter(map(_whole, answers), dtype=object)
    if _items_of_their_rows(whole, cells):
        return whole
    places = [str(place) for place in range(1, len(names) + 1)] if _named(cells) else []
    for known, given in ((list(names), answers), (places, whole)):
        texts = [_text(answer) for answer in given]
        if set(texts) <= set(known):
            which = [known.index(one) for one in texts]
            items = np.stack([column.astype(object) for column in cells])
            picked: Column = items[which, np.arange(len(texts))]
            return picked
    return choice


def ways_to_answer(names: Sequence[str], cells: Sequence[Column]) -> str:
    """How an answer may say which item was chosen, for messages; arguments of `chosen_items`."""
    ways = f"the item, or in all rows its column ({', '.join(names)})"
    return f"{ways}, or in all rows its place, 1 to {len(names)}" if _named(cells) else ways


def _named(cells: Sequence[Column]) -> bool:
    """Whether items have names, so that a number can only be a place."""
    return any(not _text(_whole(item)).isdecimal() for column in cells for item in column)


def _items_of_their_rows(answers: Column, cells: Sequence[Column]) -> bool:
    """Whether any answer is an item of its own row."""
    return any(np.any(np.asarray(column.astype(object) == answers)) for column in cells)


def _whole(answer: Any) -> Any:
    """The text "3.0" as "3"; anything else as it is."""
    found = _WHOLE.fullmatch(answer) if isinstance(answer, str) else None
    return answer if found is None else found[1]


def _text(answer: Any) -> str:
    # pandas turns a column of integers with gaps into floats.
    whole = isinstance(answer, (float, np.floating)) and float(answer).is_integer()
    return str(int(answer)) if whole else str(answer).strip()
