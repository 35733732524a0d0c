"""Translate ids of items into rows of X; errors name the cell that is not an id."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

from .._support.typing import Ints
from .tables import Column, as_column

Cell: TypeAlias = int | str | None  # None: missing

_KINDS = {int: "whole numbers", str: "strings"}
_SHOWN = 5  # unknown ids that an error lists


class Lookup:
    """A table from ids to rows of X; without ids, the row numbers themselves are the ids.

    >>> Lookup(["cat", "dog", "cow"]).rows(np.array(["cow", "cat"]), "anchor")
    array([2, 0])
    """

    def __init__(self, ids: Any = None, name: str = "ids") -> None:
        self.known: dict[Cell, int] | None = None
        if ids is None:
            return
        cells = _present(_cells(as_column(ids, name), name), name)
        self.kind = _kind(cells, name)
        self.known = {}
        for row, cell in enumerate(cells):
            first = self.known.setdefault(cell, row)
            if first != row:
                raise ValueError(
                    f"{name}: {cell!r} stands at rows {first} and {row}, expected once."
                )

    def rows(
        self, column: Column, name: str, *, at: Ints | None = None, optional: bool = False
    ) -> Ints:
        """Translate a column of ids into rows of X.

        Parameters
        ----------
        column : (n,) ids
        name : name of the column, for errors
        at : (n,) row of the user's table that holds each id, for errors; None: 0, 1, ...
        optional : whether an id may be missing; its row is then -1

        Returns
        -------
        (n,) rows
        """
        # Arrays of row numbers need no look at each cell: logs have millions of them.
        if self.known is None and column.dtype.kind in "iu" and _in_range(column):
            return column.astype(np.int64)
        cells = _cells(column, name, at)
        if not optional:
            _present(cells, name, at)
        given: list[Cell] = [cell for cell in cells if cell is not None]
        kind = _kind(given, name)
        if self.known is None:
            _check_numbers(cells, kind, name, at)
            return np.array([-1 if cell is None else cell for cell in cells], dtype=np.int64)
        if given and kind is not self.kind:
            raise ValueError(
                f"{name} holds {_KINDS[kind]} ({given[0]!r}) but ids are {_KINDS[self.kind]}, "
                "expected the same kind."
            )
        # Missing ids pass here; without `optional` they were refused above.
        known = self.known | {None: -1}
        unknown = dict.fromkeys(cell for cell in given if cell not in known)
        if unknown:
            self._refuse(list(unknown), len(set(given)), name)
        return np.array([known[cell] for cell in cells], dtype=np.int64)

    def _refuse(self, unknown: list[Cell], n_given: int, name: str) -> None:
        shown = ", ".join(map(repr, unknown[:_SHOWN])) + (", ..." if len(unknown) > _SHOWN else "")
        raise ValueError(
            f"{name}: {len(unknown)} of {n_given} ids are unknown: {shown}; expected some of the "
            f"{len(self.known or ())} in ids."
        )


def _in_range(column: Column) -> bool:
    """Whether all are row numbers. Unsigned ones beyond int64 would become negative ones."""
    return bool(column.min(initial=0) >= 0 and column.max(initial=0) < 2**63)


def labels(values: Any, name: str) -> Column:
    """A column of labels, such as names of participants: all strings or all whole numbers."""
    column = as_column(values, name)
    if len(column) and (column.dtype.kind in "iu" or (column.dtype.kind == "U" and column.all())):
        return column  # NumPy's type proves it, without a look at each cell
    cells = _present(_cells(column, name), name)
    _kind(cells, name)
    return np.array(cells)


def _cells(column: Column, name: str, at: Ints | None = None) -> list[Cell]:
    """Cells as int, str or None, whatever library the table comes from."""
    values = column.tolist()
    if column.dtype.kind in "iu":
        return list(values)
    return [_cell(v, name, i if at is None else int(at[i])) for i, v in enumerate(values)]


def _cell(value: Any, name: str, row: int) -> Cell:
    if isinstance(value, str):
        return str(value) or None  # an empty field of a CSV file
    # pandas.NA is recognised by its name: pandas may not be installed.
    if value is None or type(value).__name__ == "NAType":  # pandas.NA
        return None
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        if number != number:  # noqa: PLR0124 - NaN is what differs from itself
            return None
        # pandas turns a column of integers with gaps into floats.
        if number.is_integer():  # a column of integers that had gaps
            return int(number)
    raise ValueError(f"{name}: row {row} is {value!r}, expected a string or a whole number.")


def _present(cells: list[Cell], name: str, at: Ints | None = None) -> list[Cell]:
    if not cells:
        raise ValueError(f"{name} is empty, expected at least one entry.")
    for i, cell in enumerate(cells):
        if cell is None:
            row = i if at is None else int(at[i])
            raise ValueError(f"{name}: row {row} is missing, expected a string or a whole number.")
    return cells


def _kind(cells: list[Cell], name: str) -> type:
    kinds = {type(cell): cell for cell in cells}
    if len(kinds) > 1:
        raise ValueError(
            f"{name} holds strings ({kinds[str]!r}) and whole numbers ({kinds[int]!r}), expected "
            "one kind."
        )
    return next(iter(kinds), int)


def _check_numbers(cells: list[Any], kind: type, name: str, at: Ints | None) -> None:
    """Raise unless all cells are row numbers. How many rows X has is known to `fit` alone."""
    if kind is str:
        raise ValueError(
            f"{name} holds strings ({next(cell for cell in cells if cell)!r}), expected row "
            "numbers of X, or ids=, the id of each row of X."
        )
    for i, cell in enumerate(cells):
        if cell is not None and not 0 <= cell < 2**63:
            row = i if at is None else int(at[i])
            raise ValueError(f"{name}: row {row} is {cell}, expected a row number of X.")
