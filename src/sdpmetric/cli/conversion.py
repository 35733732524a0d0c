"""The work of `sdpmetric triplets`: read a file of answers, write a table of comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from ..responses.choices import chosen_items
from ..responses.responses import Responses
from .commands.triplets import AnswerOptions
from .printing import print_json
from .tables.answers import in_terms_of_file, role_columns
from .tables.reading import read
from .tables.table import Table, parts, text, text_or_list
from .tables.writing import check_target, write

_SKIP = " (--skip-empty leaves such answers out)"
# What experiments write for an answer that did not come; R and pandas write the former two.
_EMPTY = {"", "na", "nan", "null", "none"}
_EXTRAS = ("participant", "weight", "count")  # columns that need no option


@dataclass(frozen=True)
class Choice:
    """Where a file holds the answers to questions with alternatives.

    Attributes
    ----------
    argument : argument of the ``from_...`` method for the chosen items
    column : the column that holds the answers
    first : the place of the first alternative among the columns of items
    """

    argument: str
    column: str
    first: int


def convert(
    options: AnswerOptions,
    method: str,
    *,
    choice: Choice | None = None,
    separator: str | None = None,
    lists: tuple[int, ...] = (),
    **arguments: Any,
) -> None:
    """Read a file of answers and write its triplets.

    Parameters
    ----------
    options : options that all kinds of answers share
    method : the ``from_...`` method of `Responses` for this kind
    choice : where the answers are, if a column holds them
    separator : text between the items of a list
    lists : places of the columns that hold lists, ascending
    **arguments : further arguments of the method
    """
    check_target(options.output)
    if (options.items is None) != (options.id_ is None):
        raise ValueError("--items and --id belong together: a table, and the names of its rows.")
    table = read(options.answers)
    _check_columns(options, table, choice)
    table, n_skipped = _answered(options, table, choice)
    # The order is that of ``who, weight, count`` below.
    extras = {
        "participants": _extra(table, options.participant, "participant"),
        "weights": _extra(table, options.weight, "weight"),
        "counts": _extra(table, options.count, "count"),
    }
    names = _names(options)
    # Without --columns, `from_triplets` finds the roles among all columns by itself.
    used = names or [name for name in table.columns if name not in extras.values()]
    cells: dict[str, Any] = {name: list(map(text_or_list, table.column(name))) for name in used}
    if lists and len(used) != lists[-1] + 1:
        raise ValueError(f"--columns must name {lists[-1] + 1} columns, got {options.columns!r}.")
    for place in lists:
        cells[used[place]] = [_split(cell, str(separator)) for cell in cells[used[place]]]
    mentioned = dict(cells)
    if choice is not None:
        said = np.array(table.texts(choice.column, _SKIP), dtype=object)
        offered = used[choice.first :]
        alternatives = [np.array(cells[name], dtype=object) for name in offered]
        picked = chosen_items(said, offered, alternatives).tolist()
        arguments[choice.argument] = mentioned[choice.column] = picked
    ids = _ids(options, table, mentioned)
    who, weight, count = extras.values()
    try:
        found = getattr(Responses, method)(
            cells,
            ids=ids,
            participants=table.texts(who) if who else None,
            weights=table.numbers(weight) if weight else None,
            counts=table.numbers(count) if count else None,
            **({"columns": names} if names else {}),
            **arguments,
        )
    except ValueError as error:
        raise ValueError(in_terms_of_file(table, error, "--columns", extras)) from None
    write(options.output, _columns(found, ids))
    if n_skipped:
        click.echo(f"{n_skipped} of {n_skipped + len(table)} answers skipped: empty.", err=True)
    if options.as_json:
        summary = _summary(options, table, found) | {"n_skipped": n_skipped}
        print_json(summary, output=options.output)


def _check_columns(options: AnswerOptions, table: Table, choice: Choice | None) -> None:
    """Raise if a column is not there; the message names the option for another one."""
    names = _names(options)
    missing = [name for name in names if name not in table.columns]
    if missing and table.columns:
        other = ",".join(_likely(options, table, choice)) or "NAMES"
        raise ValueError(f"{table.lacks(missing[0])} To read other columns: --columns {other}")
    if choice is not None and choice.column not in table.columns:
        option = f"--{choice.argument} COLUMN"
        raise ValueError(f"{table.lacks(choice.column)} To read another column: {option}")


def _likely(options: AnswerOptions, table: Table, choice: Choice | None) -> list[str]:
    """The columns that can be meant, if as many are left as are needed; else none."""
    names = _names(options)
    other = {options.participant, options.weight, options.count, *_EXTRAS}
    other |= {"" if choice is None else choice.column, *names}
    left = [name for name in table.columns if name not in other]
    found = [name if name in table.columns else "" for name in names]
    if found.count("") != len(left):
        return []
    return [name or left.pop(0) for name in found]


def _names(options: AnswerOptions) -> list[str]:
    """The names of ``--columns``."""
    return [name.strip() for name in options.columns.split(",") if name.strip()]


def _answered(options: AnswerOptions, table: Table, choice: Choice | None) -> tuple[Table, int]:
    """The rows that hold an answer, and the number of those that were left out."""
    if not options.skip_empty:
        return table, 0
    names = _names(options)
    # With several negatives, some may be missing.
    needed = names or [n for n in role_columns(table) if not n.startswith("negative_")]
    cells = [table.column(name) for name in needed]
    said = None if choice is None else table.column(choice.column)
    kept = [
        i
        for i in range(len(table))
        if all(text_or_list(column[i]) for column in cells)
        and (said is None or text(said[i]).lower() not in _EMPTY)
    ]
    if not kept:
        raise ValueError(f"{table.name}: all {len(table)} answers are empty.")
    return table.kept(kept), len(table) - len(kept)


def _extra(table: Table, given: str | None, name: str) -> str | None:
    """The column that was given, or else the column of the usual name, if there is one."""
    if given is not None:
        table.column(given)
        return given
    return name if name in table.columns else None


def _ids(options: AnswerOptions, table: Table, mentioned: dict[str, Any]) -> list[str]:
    """The ids of all items: those of ``--items``, or else every item that is mentioned."""
    if options.items is None:
        # With the choices: an item that was chosen but not offered then gives an error about the
        # choice, not about an unknown id.
        flat = (part for column in mentioned.values() for cell in column for part in parts(cell))
        return list(dict.fromkeys(part for part in flat if part))
    ids = read(options.items).ids(str(options.id_))
    checked = Table(table.name, mentioned, lines=table.lines)
    for name in mentioned:
        checked.check_known(name, set(ids), options.items)
    return ids


def _split(cell: Any, separator: str) -> list[str]:
    if isinstance(cell, list):  # JSON lines and Parquet hold lists themselves
        return cell
    return [part.strip() for part in cell.split(separator) if part.strip()]


def _columns(found: Responses, ids: list[str]) -> dict[str, Any]:
    roles = zip(("anchor", "positive", "negative"), found.triplets.T.tolist(), strict=True)
    columns: dict[str, Any] = {role: [ids[i] for i in column] for role, column in roles}
    # A column of ones would say nothing: readers take weight 1 by default.
    if (found.weights != 1.0).any():
        columns["weight"] = found.weights
    if found.participants is not None:
        columns["participant"] = found.participants
    return columns | {"answer": found.answers}


def _summary(options: AnswerOptions, table: Table, found: Responses) -> dict[str, Any]:
    people = found.participants
    return {
        "data": options.answers,
        "output": options.output,
        "n_rows": len(table),
        "n_answers": len(set(found.answers.tolist())),
        "n_triplets": len(found),
        "n_items": len(set(found.triplets.ravel().tolist())),
        "n_participants": None if people is None else len(set(people.tolist())),
    }
