"""Columns of tables: data frames, dicts of columns, lists of records, or rows by position."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Column: TypeAlias = npt.NDArray[Any]  # one-dimensional; cells may be lists


def column_names(table: Any) -> list[Any] | None:
    """The names of a table's columns, None if the table has rows by position.

    pandas, polars and Arrow tables are recognised by their attributes: none of the three packages
    is imported for a user who does not have it.
    """
    if isinstance(table, Mapping):
        return list(table)
    # Arrow first: its tables have an attribute `columns` too, which holds data.
    for name in ("column_names", "columns"):  # Arrow; pandas and polars
        if hasattr(table, name):
            return list(getattr(table, name))
    if isinstance(table, np.ndarray):
        return None if table.dtype.names is None else list(table.dtype.names)
    if isinstance(table, Sequence) and len(table) > 0 and isinstance(table[0], Mapping):
        return list(table[0])
    return None


def columns_of(table: Any, names: Sequence[str], called: str = "table") -> list[Column]:
    """Return the named columns of a table; of a table without names, as many by position.

    Parameters
    ----------
    table : the user's table
    names : names of the columns
    called : the argument that the table is, for errors

    Returns
    -------
    One array per name, all of one length.

    >>> columns_of([{"a": 1, "b": 2}, {"b": 4, "a": 3}], ["b", "a"])
    [array([2, 4], dtype=object), array([1, 3], dtype=object)]
    >>> columns_of([(1, [5, 6]), (2, [7])], ["anchor", "ranking"])[1]
    array([list([5, 6]), list([7])], dtype=object)
    """
    known = column_names(table)
    if known is None:
        columns = _by_position(table, names, called)
    else:
        for name in names:
            if name not in known:
                raise ValueError(
                    f"{called} has no column {name!r}, it has {', '.join(map(repr, known))}; "
                    f"expected {', '.join(map(repr, names))}."
                )
        records = isinstance(table, Sequence)
        columns = [
            _from_records(table, n, called) if records else as_column(table[n], n) for n in names
        ]
    for name, column in zip(names, columns, strict=True):
        if len(column) != len(columns[0]):
            raise ValueError(
                f"{called}: column {name!r} has {len(column)} entries and {names[0]!r} has "
                f"{len(columns[0])}, expected as many in each."
            )
    if len(columns[0]) == 0:
        raise ValueError(f"{called} holds no answer, expected at least one row.")
    return columns


def as_column(values: Any, name: str) -> Column:
    """Return a column as an array of one dimension, whatever its cells are."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values
    if not is_list(values):
        raise ValueError(f"{name} is {values!r}, expected a column of entries.")
    # np.asarray would turn 1 and "1" into one id, and lists into a second dimension.
    return np.fromiter(values, dtype=object)


def is_list(values: Any) -> bool:
    """Whether these are entries one after another; a text and a single number are none."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        return False
    return getattr(values, "ndim", 1) > 0  # NumPy's single numbers are iterable by name alone


def check_names(columns: Any) -> list[str]:
    """Return the names of columns that a user gave."""
    if not is_list(columns) or not all(isinstance(name, str) for name in columns):
        raise ValueError(f"columns is {columns!r}, expected a list of names.")
    return list(columns)


def check_three(columns: Any) -> list[str]:
    """Return the names of the columns of three items."""
    names = check_names(columns)
    if len(names) != 3:
        raise ValueError(f"columns has {names!r}, expected the names of three.")
    return names


def _from_records(records: Sequence[Any], name: str, called: str) -> Column:
    for row, record in enumerate(records):
        if not isinstance(record, Mapping) or name not in record:
            raise ValueError(f"{called}: row {row} is {record!r}, expected an entry {name!r}.")
    return np.fromiter((record[name] for record in records), dtype=object)


def _by_position(table: Any, names: Sequence[str], called: str) -> list[Column]:
    expected = f"{len(names)} entries: {', '.join(names)}"
    if isinstance(table, np.ndarray):
        if table.ndim != 2 or table.shape[1] != len(names):
            raise ValueError(f"{called} has shape {table.shape}, expected rows of {expected}.")
        return list(table.T)
    if not is_list(table):
        raise ValueError(f"{called} is {table!r}, expected named columns, or rows of {expected}.")
    rows = list(table)
    for number, row in enumerate(rows):
        if isinstance(row, (str, bytes, Mapping)) or not isinstance(row, (Sequence, np.ndarray)):
            raise ValueError(f"{called}: row {number} is {row!r}, expected {expected}.")
        if len(row) != len(names):
            raise ValueError(f"{called}: row {number} has {len(row)} entries, expected {expected}.")
    return [np.fromiter((row[i] for row in rows), dtype=object) for i in range(len(names))]
