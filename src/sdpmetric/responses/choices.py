"""Which alternative was chosen: answers name the item, its column, or its place from 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .tables import Column


def chosen_items(choice: Column, names: Sequence[str], cells: Sequence[Column]) -> Column:
    """The items that were chosen, whichever of three ways a file says it.

    Columns and places are understood only if no answer is an item of its own row, and places only
    if items are not numbers themselves: 3 would be the third item, or the item 3.

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
    if len(choice) == 0 or any(_same(column, answers) for column in cells):
        return choice
    said = [_text(answer) for answer in answers]
    named = any(not _text(item).isdecimal() for column in cells for item in column)
    places = [str(place) for place in range(1, len(names) + 1)] if named else []
    for known in (list(names), places):
        if set(said) <= set(known):
            which = [known.index(one) for one in said]
            items = np.stack([column.astype(object) for column in cells])
            picked: Column = items[which, np.arange(len(said))]
            return picked
    return choice


def _same(column: Column, answers: Column) -> bool:
    equal: npt.NDArray[np.bool_] = np.asarray(column.astype(object) == answers)
    return bool(equal.any())


def _text(answer: Any) -> str:
    # pandas turns a column of integers with gaps into floats.
    whole = isinstance(answer, (float, np.floating)) and float(answer).is_integer()
    return str(int(answer)) if whole else str(answer).strip()
