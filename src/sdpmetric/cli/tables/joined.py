"""Several files of one kind, read as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .answers import role_columns
from .reading import once, read
from .table import Table


@dataclass(frozen=True, eq=False)
class JoinedTable(Table):
    """The rows of several tables; messages name the file and the line of a row.

    Attributes
    ----------
    tables : the tables, in the order of their rows
    """

    tables: tuple[Table, ...] = ()

    def place(self, i: int) -> str:
        """The place of row i in its own file, for messages."""
        for table in self.tables:
            if i < len(table):
                return table.place(i)
            i -= len(table)
        raise IndexError(i)


def read_pairs(paths: Sequence[str]) -> Table:
    """Read files of queries and positives as one table; columns of negatives may differ."""
    tables = [read(path) for path in once(paths)]
    if len(tables) == 1:
        return tables[0]
    names = list(dict.fromkeys(name for table in tables for name in role_columns(table)))
    for name in names:
        have = [name in table.columns or name.startswith("negative") for table in tables]
        if not all(have):
            lacking, other = tables[have.index(False)].name, tables[have.index(True)].name
            raise ValueError(f"{lacking} has no column {name!r}, expected one as in {other}.")
    columns: dict[str, Sequence[Any]] = {
        name: [cell for t in tables for cell in t.columns.get(name, [None] * len(t))]
        for name in names
    }
    return JoinedTable(", ".join(paths), columns, tables=tuple(tables))
