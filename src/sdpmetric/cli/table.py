"""`Table`: what a file holds, and what its columns are asked to be: numbers, or names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Floats, Ints, Items
from ..inputs import not_finite

__all__ = ["Table", "about", "parts", "text"]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, cells as they were read, or a block of numbers without names.

    ``lines``: where in the file each row stands, for files that people look at; rows of others
    are counted from 1 in messages.
    """

    name: str
    columns: dict[str, Sequence[Any]]
    block: Items | None = None
    lines: Sequence[int] | None = None

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

    def features(
        self, *, only: Sequence[str] | None = None, without: Collection[str] = ()
    ) -> tuple[Items, list[str] | None]:
        """Rows of numbers and the names of their columns, if they have any."""
        for name in without:
            self.column(name)
        if self.block is not None:
            self._check_block(self.block)
            return self.block, None
        cells = self._spread({n: c for n, c in self.columns.items() if only or n not in without})
        names = list(cells) if only is None else list(only)
        if not names:
            raise ValueError(f"{self.name} has no column left for features.")
        X = np.empty((len(self), len(names)))
        for i, name in enumerate(names):
            if name not in cells:
                raise ValueError(self._lacks(name))
            X[:, i] = self._numbers(name, cells[name])
        return X, names

    def column(self, name: str) -> Sequence[Any]:
        if name not in self.columns:
            raise ValueError(self._lacks(name))
        return self.columns[name]

    def numbers(self, name: str) -> Floats:
        return self._numbers(name, self.column(name))

    def texts(self, name: str) -> list[str]:
        """Names of things: 7, 7.0 and "7" are the same."""
        found = [text(cell) for cell in self.column(name)]
        if "" in found:
            raise ValueError(f"{self._place(name, found.index(''))} is empty.")
        return found

    def ids(self, name: str) -> list[str]:
        found = self.texts(name)
        first: dict[str, int] = {}
        for i, one in enumerate(found):
            if first.setdefault(one, i) != i:
                raise ValueError(
                    f"{self._place(name, i)} is {one!r} again, expected a name of its own for "
                    "each row."
                )
        return found

    def whole(self, name: str, n_rows: int) -> list[int | None]:
        """Numbers of n_rows rows; None where the cell is empty."""
        cells = self.column(name)
        return [self._whole(name, i, text(cell), n_rows) for i, cell in enumerate(cells)]

    def _whole(self, name: str, i: int, cell: str, n_rows: int) -> int | None:
        if cell and not (cell.isdecimal() and int(cell) < n_rows):
            raise ValueError(
                f"{self._place(name, i)} is {cell!r}, expected the number of a row, 0 to "
                f"{n_rows - 1}, or --id, the column that names the rows of DATA."
            )
        return int(cell) if cell else None

    def known(self, name: str, ids: Collection[str], of: str) -> None:
        """Whether every cell of a column, or each part of it, is one of these names of things."""
        names = [(i, part) for i, cell in enumerate(self.column(name)) for part in parts(cell)]
        unknown = [(i, part) for i, part in names if part and part not in ids]
        if unknown:
            i, part = unknown[0]
            counts = len({p for _, p in unknown}), len({p for _, p in names})
            raise ValueError(
                f"{self._place(name, i)} is {part!r}, expected the name of a row of {of}; "
                f"{counts[0]} of {counts[1]} names in this column are unknown."
            )

    def _spread(self, columns: dict[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
        """Columns whose cells are vectors, as stored by vector databases, one for each number."""
        cells: dict[str, Sequence[Any]] = {}
        for name, column in columns.items():
            if isinstance(column[0], (list, tuple, np.ndarray)):
                size = len(column[0])
                for i, cell in enumerate(column):
                    if not isinstance(cell, (list, tuple, np.ndarray)) or len(cell) != size:
                        raise ValueError(
                            f"{self.place(i)}: {name!r} is {_short(repr(cell), 60)}, expected "
                            f"{size} numbers as in the first row."
                        )
                for i, values in enumerate(zip(*column, strict=True)):
                    cells[f"{name}_{i}"] = values
            else:
                cells[name] = column
        return cells

    def _numbers(self, name: str, cells: Sequence[Any]) -> Floats:
        try:
            found = np.asarray(cells if isinstance(cells, np.ndarray) else list(cells))
            found = found.astype(np.float64)
            bad: Ints = np.flatnonzero(~np.isfinite(found))
        except (ValueError, TypeError):
            bad = np.array([next(i for i, cell in enumerate(cells) if not _is_number(cell))])
        if len(bad):
            cell = cells[bad[0]]
            cell = cell.item() if isinstance(cell, np.generic) else cell
            raise ValueError(
                f"{self._place(name, bad[0])} is {'empty' if cell in ('', None) else repr(cell)}, "
                "expected a number (--drop leaves a column out)."
            )
        return np.asarray(found, dtype=np.float64)

    def place(self, i: int) -> str:
        """Where in the file row i (0, 1, ...) stands, as people count."""
        where = f"row {i + 1}" if self.lines is None else f"line {self.lines[i]}"
        return f"{self.name}, {where}"

    def _place(self, name: str, i: int) -> str:
        return f"{self.place(i)}: {name!r}"

    def _check_block(self, block: Items) -> None:
        found = not_finite(block, block.data if sp.issparse(block) else block)
        if found is not None:
            row, column, value = found
            raise ValueError(
                f"{self.place(row)}: column {column + 1} is {value}, expected a finite number."
            )

    def _lacks(self, name: str) -> str:
        known = ", ".join(map(repr, self.columns)) or "no named columns"
        return f"{self.name} has no column {name!r}; it has {_short(known)}."


def text(cell: Any) -> str:
    """A cell as a name; empty if it is missing."""
    if cell is None or cell != cell:  # noqa: PLR0124 - NaN is what differs from itself
        return ""
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))  # a column of integers that had gaps
    return str(cell).strip()


def about(name: str, message: str) -> str:
    """A message about a file: "a.csv is empty.", but "a.csv: line 3 has 2 cells."."""
    return f"{name}{' ' if message.startswith(('is ', 'has ', 'holds ')) else ': '}{message}"


def parts(cell: Any) -> list[str]:
    """The names in a cell, which may be a list."""
    return [text(part) for part in cell] if isinstance(cell, (list, tuple)) else [text(cell)]


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (ValueError, TypeError):
        return False
    return True


def _short(listed: str, most: int = 300) -> str:
    return listed if len(listed) <= most else listed[:most] + " ..."
