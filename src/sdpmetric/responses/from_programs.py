"""Constructors of `Responses` for the files of other programs: salmon, jsPsych, THINGS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from .._support.checks import check_choice, check_integer
from .._support.typing import Ints
from .from_tables import FromTables
from .tables import Column, as_column, check_names, check_three, column_names, columns_of

_MANY = 2**62  # no limit for the numbers of items
_SALMON = ("head", "winner", "loser")


class FromPrograms(FromTables):
    """Base class of `Responses` that reads the files of other programs."""

    @classmethod
    def from_salmon(cls, table: Any, *, ids: Any = None) -> Self:
        """Read the responses that salmon offers for download.

        Parameters
        ----------
        table : with the columns head, winner, loser, which hold numbers of targets, and puid, the
            participant
        ids : the id of each row of X; items are then read from the columns head_filename,
            winner_filename and loser_filename. None: salmon's numbers are rows of X

        Returns
        -------
        Responses

        Examples
        --------
        >>> from sdpmetric import Responses
        >>> table = {"head": [4], "winner": [2], "loser": [7], "puid": ["p1"]}
        >>> Responses.from_salmon(table).triplets.tolist()
        [[4, 2, 7]]
        """
        names = _SALMON if ids is None else tuple(f"{name}_filename" for name in _SALMON)
        known = column_names(table) or []
        who = "puid" if "puid" in known else None
        return cls.from_triplets(table, columns=names, ids=ids, participants=who)

    @classmethod
    def from_jspsych(
        cls,
        data: Any,
        *,
        ask: str = "odd-one-out",
        columns: Sequence[str] = ("a", "b", "c"),
        response: str = "response",
        first: int = 0,
        ids: Any = None,
        participants: str | None = None,
    ) -> Self:
        """Read trials of jsPsych, as ``jsPsych.data.get().json()`` or a table of its CSV file.

        Trials without these columns, such as instructions, and trials without a response are left
        out. jsPsych does not store the items by itself: pass them as ``data`` of the trial.

        Parameters
        ----------
        data : list of trials (dicts), or a table
        ask : {"odd-one-out", "2afc"}, default="odd-one-out"
            "2afc": the first column is the anchor, and the response counts the other two.
        columns : names of the columns of the three items, in the order shown
        response : column with the place of the item that was chosen
        first : int, default=0
            The number of the first place: 0 for buttons, 1 for keys "1", "2", "3", and 49 for the
            codes of these keys, which jsPsych 6 wrote as ``key_press``.
        ids : the id of each row of X; None: the columns hold row numbers
        participants : column that says who answered

        Returns
        -------
        Responses

        Examples
        --------
        >>> from sdpmetric import Responses
        >>> data = [
        ...     {"trial_type": "instructions", "rt": 900},
        ...     {"trial_type": "html-button-response", "a": 3, "b": 5, "c": 4, "response": 1},
        ... ]
        >>> Responses.from_jspsych(data).triplets.tolist()
        [[3, 4, 5], [4, 3, 5]]
        """
        check_choice("ask", ask, ("odd-one-out", "2afc"))
        who = [participants] if participants else []
        names = [*check_three(columns), *check_names([response, *who])]
        rows = [row for row in _records(data, names) if all(_given(row.get(n)) for n in names)]
        if not rows:
            raise ValueError(f"data: no trial has {', '.join(map(repr, names))} and a response.")
        table = {name: as_column([row[name] for row in rows], name) for name in names}
        if ids is None:  # a CSV file holds texts, and pandas makes floats of numbers with gaps
            table |= {name: _places(table[name], name, 0, _MANY) for name in columns}
        skipped = 1 if ask == "2afc" else 0  # the anchor is not among the places
        places = _places(table[response], response, first, 3 - skipped) + skipped
        return cls._by_place(table, places, ask, columns, ids, participants)

    @classmethod
    def from_things(
        cls,
        table: Any,
        *,
        columns: Sequence[str] = ("image1", "image2", "image3"),
        choice: str = "choice",
        ids: Any = None,
        participants: str | None = "subject_id",
    ) -> Self:
        """Read odd ones out as the THINGS data sets store them: numbers and places from 1.

        The table of all answers has tabs between its columns: ``pandas.read_table`` reads it. Files
        such as trainset.txt have three numbers from 0 in a row, the odd one last:
        ``from_odd_one_out(np.loadtxt("trainset.txt", dtype=int))``.

        Parameters
        ----------
        table : with the columns of three items, the place 1, 2 or 3 of the odd one, and who
            answered
        columns, choice, participants : names of these columns; participants may be None
        ids : the id of each row of X; None: the items are numbered from 1

        Returns
        -------
        Responses

        Examples
        --------
        >>> from sdpmetric import Responses
        >>> table = {"image1": [11], "image2": [5], "image3": [8], "choice": [3], "subject_id": [1]}
        >>> Responses.from_things(table).triplets.tolist()
        [[10, 4, 7], [4, 10, 7]]
        """
        who = [participants] if participants else []
        names = [*check_three(columns), *check_names([choice, *who])]
        cells = dict(zip(names, columns_of(table, names), strict=True))
        places = _places(cells[choice], choice, 1, 3)
        if ids is None:
            for name in columns:
                cells[name] = _places(cells[name], name, 1, _MANY)
        return cls._by_place(cells, places, "odd-one-out", columns, ids, participants)

    @classmethod
    def _by_place(
        cls,
        table: Mapping[str, Column],
        places: Ints,
        ask: str,
        columns: Sequence[str],
        ids: Any,
        participants: str | None,
    ) -> Self:
        """Read answers that name the place of the chosen item, 0, 1 or 2."""
        items = [table[name] for name in columns]
        chosen = [items[place][row] for row, place in enumerate(places.tolist())]
        read = cls.from_odd_one_out if ask == "odd-one-out" else cls.from_2afc
        return read(dict(table), chosen, columns=columns, ids=ids, participants=participants)


def _records(data: Any, names: Sequence[str]) -> list[Mapping[str, Any]]:
    if isinstance(data, Sequence) and all(isinstance(row, Mapping) for row in data):
        return list(data)
    columns = columns_of(data, names, "data")
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _given(cell: Any) -> bool:
    """Whether a cell holds a value; jsPsych writes null for a trial that timed out."""
    missing = cell is None or cell in ("", "null") or type(cell).__name__ == "NAType"
    return not missing and bool(cell == cell)  # noqa: PLR0124 - NaN is what differs from itself


def _places(cells: Column, name: str, first: int, count: int) -> Ints:
    """Numbers ``first``, ``first + 1``, ... as 0, 1, ..."""
    check_integer("first", first, 0)
    found = []
    for row, cell in enumerate(cells.tolist()):
        text = str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
        # Python refuses to read numbers of more than 4,300 digits, in words of its own.
        known = text.isdecimal() and len(text) < 20
        if not (known and first <= int(text) < first + count):
            most = f" to {first + count - 1}" if count < 2**32 else " or more"
            raise ValueError(f"{name}: row {row} is {cell!r}, expected a number, {first}{most}.")
        found.append(int(text) - first)
    return np.array(found, dtype=np.int64)
