"""From a file of answers, whatever they were asked, to a table of comparisons."""

from __future__ import annotations

from typing import Any

from ..responses import Responses
from .answers import prefixed
from .options import say_json
from .reading import read
from .table import Table, text
from .writing import check_target, write

__all__ = ["convert"]


def convert(
    kind: str,
    answers: str,
    *,
    columns: str,
    participant: str | None,
    weight: str | None,
    count: str | None,
    items: str | None,
    id_: str | None,
    output: str,
    as_json: bool,
    choice: tuple[str, str] | None = None,
    separator: str | None = None,
    lists: tuple[int, ...] = (),
    **options: Any,
) -> None:
    """Read ``answers`` by the method ``kind`` of `Responses` and write its triplets."""
    check_target(output)
    if (items is None) != (id_ is None):
        raise ValueError("--items and --id belong together: a table, and what names its rows.")
    table = read(answers)
    who, importance, times = (
        _extra(table, given, name)
        for given, name in ((participant, "participant"), (weight, "weight"), (count, "count"))
    )
    names = [name.strip() for name in columns.split(",") if name.strip()]
    extras = {who, importance, times}
    used = names or [name for name in table.columns if name not in extras]
    cells: dict[str, list[Any]] = {name: _texts(table, name) for name in used}
    if lists and len(used) != lists[-1] + 1:
        raise ValueError(f"--columns must name {lists[-1] + 1} columns, got {columns!r}.")
    for place in lists:
        column = cells[used[place]]
        cells[used[place]] = [_split(cell, str(separator)) for cell in column]
    if choice is not None:
        options[choice[0]] = table.texts(choice[1])
    ids = _seen(cells) if items is None else read(items).ids(str(id_))
    try:
        found = getattr(Responses, kind)(
            cells,
            ids=ids,
            participants=table.texts(who) if who else None,
            weights=table.numbers(importance) if importance else None,
            counts=table.numbers(times) if times else None,
            **({"columns": names} if names else {}),
            **options,
        )
    except ValueError as error:
        raise ValueError(prefixed(table, error)) from None
    write(output, _columns(found, ids))
    if as_json:
        people = found.participants
        said = {
            "data": answers,
            "output": output,
            "n_rows": len(table),
            "n_answers": len(set(found.answers.tolist())),
            "n_triplets": len(found),
            "n_items": len(set(found.triplets.ravel().tolist())),
            "n_participants": None if people is None else len(set(people.tolist())),
        }
        say_json(said, output=output)


def _extra(table: Table, given: str | None, name: str) -> str | None:
    """The column that was named, or the one of the usual name."""
    if given is not None:
        table.column(given)
        return given
    return name if name in table.columns else None


def _texts(table: Table, name: str) -> list[Any]:
    cells = table.column(name)
    return [[text(c) for c in cell] if isinstance(cell, list) else text(cell) for cell in cells]


def _split(cell: Any, separator: str) -> list[str]:
    if isinstance(cell, list):
        return cell
    return [part.strip() for part in cell.split(separator) if part.strip()]


def _seen(cells: dict[str, list[Any]]) -> list[str]:
    """Every item that is mentioned, in order."""
    flat = (c for column in cells.values() for cell in column for c in _listed(cell))
    return list(dict.fromkeys(c for c in flat if c))


def _listed(cell: Any) -> list[str]:
    return cell if isinstance(cell, list) else [cell]


def _columns(found: Responses, ids: list[str]) -> dict[str, Any]:
    names = ("anchor", "positive", "negative")
    columns: dict[str, Any] = {
        name: [ids[i] for i in column]
        for name, column in zip(names, found.triplets.T.tolist(), strict=True)
    }
    if (found.weights != 1.0).any():
        columns["weight"] = found.weights
    if found.participants is not None:
        columns["participant"] = found.participants
    return columns | {"answer": found.answers}
