"""Files of comparisons, as `sdpmetric triplets` writes them.

Columns: anchor, positive, negative (or negative_1, ...), and where they are there weight,
participant and answer (triplets of one answer share its number).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..inputs import as_triplets
from ..responses import Responses
from .reading import read
from .table import Table, text

__all__ = ["as_ids", "prefixed", "read_answers"]

_EXTRAS = ("weight", "participant", "answer")


def read_answers(path: str, ids: list[str] | None, n_rows: int) -> Responses:
    """Comparisons of the rows of a table with these ids, or with numbers for them."""
    table = read(path)
    with_names = [name for name in table.columns if name not in _EXTRAS]
    try:
        if table.block is not None:
            return Responses(as_triplets(table.block, n_rows))
        found = Responses.from_triplets(
            {name: as_ids(table, name, ids) for name in with_names},
            ids=ids,
            participants=table.texts("participant") if "participant" in table.columns else None,
            weights=table.numbers("weight") if "weight" in table.columns else None,
        )
        as_triplets(found.triplets, n_rows)
    except ValueError as error:
        raise ValueError(prefixed(table, error)) from None
    if "answer" in table.columns and len(found) == len(table):
        found = replace(found, answers=np.array(table.texts("answer")))
    return found


def as_ids(table: Table, name: str, ids: Sequence[str] | None) -> list[Any]:
    """A column of ids: texts where rows have names, else row numbers."""
    if ids is None:
        return list(table.whole(name))
    cells: list[Any] = [_text(cell) for cell in table.column(name)]
    return cells


def prefixed(table: Table, error: ValueError) -> str:
    message = str(error).removeprefix("table: ").removeprefix("table ")
    return message if message.startswith(table.name) else f"{table.name}: {message}"


def _text(cell: Any) -> Any:
    return [text(part) for part in cell] if isinstance(cell, (list, tuple)) else text(cell)
