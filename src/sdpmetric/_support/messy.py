"""Cells of a table that are no numbers: where the first one is, and the page that helps."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np

HELP = (
    "Missing values and categories: "
    "https://sdpmetric.readthedocs.io/en/latest/guide/messy-tables.html"
)


def place(row: int, column: int, names: Any = None) -> str:
    """A cell as the user finds it: by the name of its column, if the table has names."""
    return f"row {row}, column {column if names is None else repr(str(names[column]))}"


def names_of(table: Any) -> Any:
    """The names of a frame's columns, None for other tables."""
    names: Any = getattr(table, "columns", None)
    # Numbers are pandas' own names for columns that have none.
    named = names is not None and all(isinstance(name, str) for name in names)
    return list(names) if named else None


def first_word(table: Any) -> str | None:
    """Describe the first cell that is a text or a date and no number; None if there is none."""
    try:
        cells = np.asarray(table, dtype=object)
    except (TypeError, ValueError):
        return None
    if cells.ndim != 2:
        return None
    for column in range(cells.shape[1]):
        for row, cell in enumerate(cells[:, column]):
            if isinstance(cell, (str, bytes, date, np.datetime64)) and not _is_number(cell):
                shown = repr(str(cell)[:40])
                return f"{shown} at {place(row, column, names_of(table))}"
    return None


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True
