"""Files of comparisons, as `sdpmetric triplets` writes them.

Columns: anchor, positive, negative (or negative_1, ...), and where they are there weight,
participant and answer (triplets of one answer share its number).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..inputs import as_triplets
from ..responses import Responses
from .reading import read
from .table import Table, about, text

__all__ = ["as_ids", "read_answers", "retold"]

_ROLE = re.compile(r"anchor|query|positive|negative(_\d+)?")
_ROW = re.compile(r"(?:(\w+): )?(?:row|entry) (\d+) is (.*)", re.DOTALL)


def read_answers(path: str, ids: list[str] | None, n_rows: int) -> Responses:
    """Comparisons of the rows of a table with these ids, or with numbers for them."""
    table = read(path)
    roles = [name for name in table.columns if _ROLE.fullmatch(name)]
    for name in roles if ids is not None else ():
        table.known(name, set(ids or ()), "DATA")
    try:
        if table.block is not None:
            return Responses(as_triplets(table.block, n_rows))
        found = Responses.from_triplets(
            table.columns | {name: as_ids(table, name, ids, n_rows) for name in roles},
            ids=ids,
            participants=table.texts("participant") if "participant" in table.columns else None,
            weights=table.numbers("weight") if "weight" in table.columns else None,
        )
        as_triplets(found.triplets, n_rows)
    except ValueError as error:
        raise ValueError(retold(table, error, "see 'sdpmetric triplets'")) from None
    if "answer" in table.columns and len(found) == len(table):
        found = replace(found, answers=np.array(table.texts("answer")))
    return found


def as_ids(table: Table, name: str, ids: Sequence[str] | None, n_rows: int) -> list[Any]:
    """A column of ids: texts where rows have names, else row numbers."""
    if ids is None:
        return list(table.whole(name, n_rows))
    cells: list[Any] = [_text(cell) for cell in table.column(name)]
    return cells


def retold(
    table: Table, error: ValueError, columns: str, names: Mapping[str, str | None] | None = None
) -> str:
    """What the library says of its arguments, said of the file: its lines, columns and options.

    ``names``: the columns that were given as these arguments.
    """
    message = str(error).replace("or columns=.", f"or {columns}.")
    if message.startswith(table.name):
        return message
    found = _ROW.fullmatch(message)
    if found is None:
        return about(table.name, message.removeprefix("table: ").removeprefix("table "))
    what, row, rest = found.groups()
    if what in (None, "table", "triplets"):
        return f"{table.place(int(row))}: found {rest}"
    name = (names or {"weights": "weight"}).get(what) or what
    return f"{table.place(int(row))}: {name!r} is {rest}"


def _text(cell: Any) -> Any:
    return [text(part) for part in cell] if isinstance(cell, (list, tuple)) else text(cell)
