"""Read files of comparisons, as `sdpmetric triplets` writes them.

Columns: anchor, positive, negative (or negative_1, ...), and, if known, weight, participant and
answer (triplets of one answer share its number).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...problem.checks import as_triplets
from ...responses.responses import Responses
from .reading import once, read
from .table import Table, about, text_or_list

_ROLE = re.compile(r"anchor|query|positive|negative(_\d{1,9})?")
# The library's messages about a cell: "weights: row 3 is -1.0, expected ...".
_ROW = re.compile(r"(?:(\w+): )?(?:row|entry) (\d+) is (.*)", re.DOTALL)


def read_all_answers(paths: Sequence[str], ids: list[str] | None, n_rows: int) -> Responses:
    """Read the comparisons of several files as one; each file as in `read_answers`.

    If only some files name participants, the others count as one participant each.
    """
    found = [read_answers(path, ids, n_rows) for path in once(paths)]
    if any(part.participants is not None for part in found):
        found = [
            part if part.participants is not None else _by_one(part, path)
            for part, path in zip(found, paths, strict=True)
        ]
    return Responses.concatenate(found)


def _by_one(part: Responses, path: str) -> Responses:
    return replace(part, participants=np.full(len(part), path))


def read_answers(path: str, ids: list[str] | None, n_rows: int) -> Responses:
    """Read comparisons between the rows of a table.

    Parameters
    ----------
    path : file of comparisons
    ids : the name of each row of the table; None: the file holds row numbers
    n_rows : number of rows of the table
    """
    table = read(path)
    roles = role_columns(table)
    for name in roles if ids is not None else ():
        table.check_known(name, set(ids or ()), "DATA")
    try:
        # An array of row numbers, without names: it has no weights and participants.
        if table.block is not None:
            return Responses(as_triplets(table.block, n_rows))
        found = Responses.from_triplets(
            table.columns | {name: _ids(table, name, ids, n_rows) for name in roles},
            ids=ids,
            participants=table.texts("participant") if "participant" in table.columns else None,
            weights=table.numbers("weight") if "weight" in table.columns else None,
        )
        # For its checks: `from_triplets` does not know the number of rows.
        as_triplets(found.triplets, n_rows)
    except ValueError as error:
        raise ValueError(in_terms_of_file(table, error, "see 'sdpmetric triplets'")) from None
    # With several negatives a row is several triplets, and the library has numbered them by row.
    if "answer" in table.columns and len(found) == len(table):
        found = replace(found, answers=np.array(table.texts("answer")))
    return found


def role_columns(table: Table) -> list[str]:
    """The columns that hold items: anchor or query, positive, negative, negative_1, ..."""
    return [name for name in table.columns if _ROLE.fullmatch(name)]


def _ids(table: Table, name: str, ids: list[str] | None, n_rows: int) -> list[Any]:
    """A column of ids: texts if rows have names, else row numbers."""
    if ids is None:
        return list(table.row_numbers(name, n_rows))
    return [text_or_list(cell) for cell in table.column(name)]


def in_terms_of_file(
    table: Table, error: ValueError, columns: str, names: Mapping[str, str | None] | None = None
) -> str:
    """Translate an error about arguments into one about the lines and columns of a file.

    Parameters
    ----------
    table : the table that the library was given
    error : the library's error
    columns : text that replaces the library's argument ``columns=`` in the message
    names : the columns that were given as the library's arguments
    """
    message = str(error).replace("or columns=.", f"or {columns}.")
    if message.startswith(table.name):
        return message
    found = _ROW.fullmatch(message)
    if found is None:
        return about(table.name, message.removeprefix("table: ").removeprefix("table "))
    what, row, rest = found.groups()
    # The whole row is wrong, not a cell of one column.
    if what in (None, "table", "triplets"):
        return f"{table.place(int(row))}: found {rest}"
    name = (names or {"weights": "weight"}).get(what) or what
    return f"{table.place(int(row))}: {name!r} is {rest}"
