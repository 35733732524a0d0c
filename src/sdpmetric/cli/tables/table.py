"""`Table`: the columns of a file, read as numbers or as names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._support.messy import HELP
from ..._support.text import shorten
from ..._support.typing import Floats, Ints, Rows
from ...linalg.items import items_of
from .decimal_commas import with_points
from .limits import check_size

_SHOWN = 60  # characters of a cell that a message shows


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, with cells as they were read, or a block of numbers without names.

    Attributes
    ----------
    name : the file, for messages
    columns : cells by the name of the column
    block : (n, D) numbers, dense or CSR, or None
    lines : line of the file of each row, for messages about text files; None: messages count rows
        from 1
    decimal_commas : whether a comma in a number can only be its decimal mark
    """

    name: str
    columns: dict[str, Sequence[Any]]
    block: Rows | None = None
    lines: Sequence[int] | None = None
    decimal_commas: bool = False

    def __post_init__(self) -> None:
        sizes = {name: len(cells) for name, cells in self.columns.items()}
        if self.block is not None:
            if self.block.ndim != 2:
                raise ValueError(
                    f"{self.name}: found an array of shape {self.block.shape}, expected rows and "
                    "columns."
                )
            sizes["X"] = self.block.shape[0]
        if len(set(sizes.values())) > 1:
            raise ValueError(f"{self.name}: columns differ in length: {sizes}.")
        if max(sizes.values(), default=0) == 0:
            raise ValueError(f"{self.name} holds no rows, expected at least one.")

    def __len__(self) -> int:
        first: Any = next(iter(self.columns.values())) if self.block is None else self.block
        return int(first.shape[0]) if hasattr(first, "shape") else len(first)

    def kept(self, rows: Sequence[int]) -> Table:
        """The same columns with these rows alone."""
        columns: dict[str, Sequence[Any]] = {
            name: [cells[i] for i in rows] for name, cells in self.columns.items()
        }
        lines = None if self.lines is None else [self.lines[i] for i in rows]
        return replace(self, columns=columns, lines=lines)

    def features(
        self, *, only: Sequence[str] | None = None, without: Collection[str | None] = ()
    ) -> tuple[Rows, list[str] | None]:
        """Rows of numbers, and the names of their columns if these have names.

        Parameters
        ----------
        only : names of the columns to take, in this order; None: all
        without : names of columns to leave out; None among them is ignored
        """
        for name in without:
            if name is not None:
                self.column(name)  # for its check
        if self.block is not None:
            self._check_block(self.block)
            return self.block, None
        # With `only`, a column may be both left out and a feature: the model's names decide.
        cells = self._spread({n: c for n, c in self.columns.items() if only or n not in without})
        names = list(cells) if only is None else list(only)
        if not names:
            raise ValueError(f"{self.name} has no column left for features.")
        for name in names:  # before an array as wide as a model says is made
            if name not in cells:
                raise ValueError(self.lacks(name))
        X = np.empty((len(self), len(names)))
        for i, name in enumerate(names):
            X[:, i] = self._numbers(name, cells[name])
        return X, names

    def column(self, name: str) -> Sequence[Any]:
        """The cells of a column as they were read; raise if there is none of this name."""
        if name not in self.columns:
            raise ValueError(self.lacks(name))
        return self.columns[name]

    def numbers(self, name: str) -> Floats:
        """A column as finite numbers."""
        return self._numbers(name, self.column(name))

    def texts(self, name: str, instead: str = "") -> list[str]:
        """A column as names, none of them empty; 7, 7.0 and "7" are the same name.

        ``instead``: the end of the error message about an empty one.
        """
        found = [text(cell) for cell in self.column(name)]
        if "" in found:
            raise ValueError(f"{self._place(name, found.index(''))} is empty{instead}.")
        # An array of texts has room for the longest one in every row.
        size = 4 * len(found) * max(map(len, found))
        check_size(size, f"{self.name}: the texts of {_shown(name)} take", "")
        return found

    def ids(self, name: str) -> list[str]:
        """A column as names, each of them once."""
        found = self.texts(name)
        first: dict[str, int] = {}
        for i, one in enumerate(found):
            if first.setdefault(one, i) != i:
                raise ValueError(
                    f"{self._place(name, i)} is {_shown(one)} again, expected a name of its own "
                    "for each row."
                )
        return found

    def row_numbers(
        self, name: str, n_rows: int, instead: str = "--id, the column that names the rows of DATA"
    ) -> list[int | None]:
        """A column as row numbers below ``n_rows``; None for an empty cell.

        ``instead``: the option by which rows would have names, for the error message.
        """
        cells = self.column(name)
        return [
            self._row_number(name, i, text(cell), n_rows, instead) for i, cell in enumerate(cells)
        ]

    def _row_number(self, name: str, i: int, cell: str, n_rows: int, instead: str) -> int | None:
        # Python refuses to convert thousands of digits.
        number = int(cell) if len(cell) < 20 and cell.isdecimal() else n_rows
        if cell and number >= n_rows:
            raise ValueError(
                f"{self._place(name, i)} is {_shown(cell)}, expected the number of a row, 0 to "
                f"{n_rows - 1}, or {instead}."
            )
        return number if cell else None

    def check_known(self, name: str, ids: Collection[str], of: str) -> None:
        """Raise unless all names in a column are among ``ids``, the names of the rows of ``of``."""
        names = [(i, part) for i, cell in enumerate(self.column(name)) for part in parts(cell)]
        unknown = [(i, part) for i, part in names if part and part not in ids]
        if unknown:
            i, part = unknown[0]
            counts = len({p for _, p in unknown}), len({p for _, p in names})
            raise ValueError(
                f"{self._place(name, i)} is {_shown(part)}, expected the name of a row of {of}; "
                f"{counts[0]} of {counts[1]} names in this column are unknown."
            )

    def _spread(self, columns: dict[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
        """Replace a column of vectors, as vector databases store them, by one column per number."""
        cells: dict[str, Sequence[Any]] = {}
        for name, column in columns.items():
            if isinstance(column[0], (list, tuple, np.ndarray)):
                size = len(column[0])
                for i, cell in enumerate(column):
                    if not isinstance(cell, (list, tuple, np.ndarray)) or len(cell) != size:
                        raise ValueError(
                            f"{self.place(i)}: {name!r} is {_shown(cell)}, expected "
                            f"{size} numbers as in the first row."
                        )
                # As an array where all are arrays: Python's numbers take five times the memory.
                arrays = all(isinstance(cell, np.ndarray) for cell in column)
                turned: Any = np.stack(column).T if arrays else zip(*column, strict=True)
                for i, values in enumerate(turned):
                    cells[f"{name}_{i}"] = values
            else:
                cells[name] = column
        return cells

    def _numbers(self, name: str, cells: Sequence[Any]) -> Floats:
        try:
            # All at once, which is fast; the loop below only runs to name the cell that failed.
            found = np.asarray(cells if isinstance(cells, np.ndarray) else list(cells))
            if found.dtype.kind == "M":  # dates would be counted in days
                raise TypeError
            found = found.astype(np.float64)
            bad: Ints = np.flatnonzero(~np.isfinite(found))
        except (ValueError, TypeError, OverflowError):
            pointed = with_points(cells, sure=self.decimal_commas)
            if pointed is not None:
                return self._numbers(name, pointed)
            bad = np.array([next(i for i, cell in enumerate(cells) if not is_number(cell))])
        if len(bad):
            cell = cells[bad[0]]
            # np.float64(nan) would be printed with its type.
            cell = cell.item() if isinstance(cell, np.generic) else cell
            what = "empty" if cell in ("", None) else _shown(cell)
            kind = "a number with a decimal point" if "," in what else "a number"
            raise ValueError(
                f"{self._place(name, bad[0])} is {what}, expected {kind} (--drop leaves a column "
                f"out). {HELP}"
            )
        return np.asarray(found, dtype=np.float64)

    def place(self, i: int) -> str:
        """The place of row i in the file, for messages."""
        where = f"row {i + 1}" if self.lines is None else f"line {self.lines[i]}"
        return f"{self.name}, {where}"

    def _place(self, name: str, i: int) -> str:
        return f"{self.place(i)}: {name!r}"

    def _check_block(self, block: Rows) -> None:
        found = items_of(block).first_not_finite()
        if found is not None:
            row, column, value = found
            raise ValueError(
                f"{self.place(row)}: column {column + 1} is {value}, expected a finite number."
            )

    def lacks(self, name: str) -> str:
        """The message that there is no column of this name."""
        known = ", ".join(map(repr, self.columns)) or "no named columns"
        return f"{self.name} has no column {name!r}; it has {shorten(known, 300)}."


def text(cell: Any) -> str:
    """A cell as a name; empty if the cell is missing."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if cell is None or cell != cell:  # noqa: PLR0124 - NaN is what differs from itself
        return ""
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))  # readers turn a column of integers with gaps into floats
    return str(cell).strip()


def about(name: str, message: str) -> str:
    """Put the name of a file before a message: "a.csv is empty.", "a.csv: line 3 has 2 cells."."""
    return f"{name}{' ' if message.startswith(('is ', 'has ', 'holds ')) else ': '}{message}"


def parts(cell: Any) -> list[str]:
    """The names in a cell that holds a name or a list of names."""
    found = text_or_list(cell)
    return found if isinstance(found, list) else [found]


def text_or_list(cell: Any) -> str | list[str]:
    """A cell as a name, or as a list of names if the file holds a list there."""
    return [text(part) for part in cell] if isinstance(cell, (list, tuple)) else text(cell)


def is_number(cell: Any) -> bool:
    """Whether a cell can be read as a number."""
    try:
        float(cell)
    except (ValueError, TypeError, OverflowError):
        return False
    return not isinstance(cell, np.datetime64)


def _shown(cell: Any) -> str:
    try:
        return shorten(repr(cell), _SHOWN)
    except RecursionError:
        return "a list of lists"
