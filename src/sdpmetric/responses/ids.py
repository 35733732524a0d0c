"""From the ids of items to the rows of X, with a clear word on what is not an id."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

from .._typing import Ints
from .tables import Column, as_column

__all__ = ["Lookup", "labels"]

Cell: TypeAlias = int | str | None  # None: missing

_KINDS = {int: "whole numbers", str: "strings"}
_SHOWN = 5


class Lookup:
    """Rows of X by the ids of its items; without ids the numbers of the rows are their ids.

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
        """The row of each id, -1 for what is missing if that is allowed.

        ``at``: where in the user's table each entry stands, if not in its own place.
        """
        if self.known is None and column.dtype.kind in "iu" and column.min(initial=0) >= 0:
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


def labels(values: Any, name: str) -> Column:
    """Names of participants, say: all strings or all whole numbers, none missing."""
    column = as_column(values, name)
    if len(column) and (column.dtype.kind in "iu" or (column.dtype.kind == "U" and column.all())):
        return column  # without a look at each
    cells = _present(_cells(column, name), name)
    _kind(cells, name)
    return np.array(cells)


def _cells(column: Column, name: str, at: Ints | None = None) -> list[Cell]:
    values = column.tolist()
    if column.dtype.kind in "iu":
        return list(values)
    return [_cell(v, name, i if at is None else int(at[i])) for i, v in enumerate(values)]


def _cell(value: Any, name: str, row: int) -> Cell:
    if isinstance(value, str):
        return str(value) or None  # an empty field of a CSV file
    if value is None or type(value).__name__ == "NAType":  # pandas.NA
        return None
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        if number != number:  # noqa: PLR0124 - NaN is what differs from itself
            return None
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
    """Without ids, numbers of rows; how many there are is known to `fit` alone."""
    if kind is str:
        raise ValueError(
            f"{name} holds strings ({next(cell for cell in cells if cell)!r}), expected row "
            "numbers of X, or ids=, the id of each row of X."
        )
    for i, cell in enumerate(cells):
        if cell is not None and not 0 <= cell < 2**63:
            row = i if at is None else int(at[i])
            raise ValueError(f"{name}: row {row} is {cell}, expected a row number of X.")
