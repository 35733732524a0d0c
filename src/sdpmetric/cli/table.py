"""`Table`: what a file holds, and what its columns are asked to be: numbers, or names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Floats, Ints, Items

__all__ = ["Table", "text"]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, cells as they were read, or a block of numbers without names.

    ``lines``: where in the file each row stands, for files that people look at.
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

    def whole(self, name: str) -> list[int | None]:
        """Row numbers; None where the cell is empty."""
        cells = self.column(name)
        return [self._whole(name, i, text(cell)) for i, cell in enumerate(cells)]

    def _whole(self, name: str, i: int, cell: str) -> int | None:
        if cell and not cell.isdecimal():
            raise ValueError(
                f"{self._place(name, i)} is {cell!r}, expected the number of a row, or --id, the "
                "column that names the rows of DATA."
            )
        return int(cell) if cell else None

    def _spread(self, columns: dict[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
        """Columns whose cells are vectors, as stored by vector databases, one for each number."""
        cells: dict[str, Sequence[Any]] = {}
        for name, column in columns.items():
            if isinstance(column[0], (list, tuple, np.ndarray)):
                sizes = {len(cell) if hasattr(cell, "__len__") else 0 for cell in column}
                if len(sizes) > 1:
                    raise ValueError(
                        f"{self.name}: {name!r} holds vectors of different lengths: "
                        f"{sorted(sizes)}."
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
            raise ValueError(
                f"{self._place(name, bad[0])} is {'empty' if cell in ('', None) else repr(cell)}, "
                "expected a number (--drop leaves a column out)."
            )
        return np.asarray(found, dtype=np.float64)

    def _place(self, name: str, i: int) -> str:
        where = f"row {i}" if self.lines is None else f"line {self.lines[i]}"
        return f"{self.name}, {where}: {name!r}"

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


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (ValueError, TypeError):
        return False
    return True


def _short(listed: str, most: int = 300) -> str:
    return listed if len(listed) <= most else listed[:most] + " ..."
