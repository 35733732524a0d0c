"""What stands beside each row of a table of answers: who gave it, what was chosen, how often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._typing import Floats, Ints
from .ids import labels
from .inputs import as_weights
from .tables import Column, as_column, columns_of

__all__ = ["as_choices", "as_counts", "as_importance", "as_names"]


def as_choices(given: Any, name: str, table: Any, columns: Sequence[str]) -> Column | None:
    """What was chosen in each row."""
    return None if given is None else _extra(table, given, name, len(columns_of(table, columns)[0]))


def as_names(given: Any, table: Any, n: int) -> Column | None:
    if given is None:
        return None
    return labels(_extra(table, given, "participants", n), "participants")


def as_importance(given: Any, table: Any, n: int) -> Floats:
    if given is None:
        return np.ones(n)
    column = _extra(table, given, "weights", n)
    as_weights(column, n, "weights")  # a check; it would rescale them
    return column.astype(np.float64)


def as_counts(given: Any, table: Any, n: int) -> Ints:
    if given is None:
        return np.ones(n, dtype=np.int64)
    column = _extra(table, given, "counts", n)
    for row, value in enumerate(column.tolist()):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not 0 <= value < 2**31 or value != int(value):
            raise ValueError(f"counts: row {row} is {value!r}, expected a whole number, 0 or more.")
    return column.astype(np.int64)


def _extra(table: Any, given: Any, name: str, n: int) -> Column:
    """A column of the table by its name, or one given beside it."""
    column = columns_of(table, [given])[0] if isinstance(given, str) else as_column(given, name)
    if len(column) != n:
        raise ValueError(f"{name} has {len(column)} entries, expected one per row of table, {n}.")
    return column
