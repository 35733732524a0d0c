"""Columns beside the items of an answer: the choice, the participant, the weight, the count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._support.typing import Floats, Ints
from ..problem.checks import as_weights
from .ids import labels
from .tables import Column, as_column, check_names, columns_of


def as_choices(given: Any, name: str, table: Any, columns: Sequence[str]) -> Column | None:
    """The id that was chosen in each row; None if none is given."""
    return (
        None
        if given is None
        else _extra(table, given, name, len(columns_of(table, check_names(columns))[0]))
    )


def as_names(given: Any, table: Any, n: int) -> Column | None:
    """The participant of each row; None if none is given."""
    if given is None:
        return None
    return labels(_extra(table, given, "participants", n), "participants")


def as_importance(given: Any, table: Any, n: int) -> Floats:
    """The weight of each row; 1 if none is given."""
    if given is None:
        return np.ones(n)
    column = _extra(table, given, "weights", n)
    as_weights(column, n, "weights")  # for its checks; the scale it returns is not the user's
    return column.astype(np.float64)


def as_counts(given: Any, table: Any, n: int) -> Ints:
    """How often the answer of each row was given; once if no count is given."""
    if given is None:
        return np.ones(n, dtype=np.int64)
    column = _extra(table, given, "counts", n)
    # A loop that names the first bad row; 2**31 copies of an answer would fill the memory.
    for row, value in enumerate(column.tolist()):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not 0 <= value < 2**31 or value != int(value):
            raise ValueError(f"counts: row {row} is {value!r}, expected a whole number, 0 or more.")
    return column.astype(np.int64)


def _extra(table: Any, given: Any, name: str, n: int) -> Column:
    """A column of the table by its name, or a column that was given beside the table."""
    column = columns_of(table, [given])[0] if isinstance(given, str) else as_column(given, name)
    if len(column) != n:
        raise ValueError(f"{name} has {len(column)} entries, expected one per row of table, {n}.")
    return column
