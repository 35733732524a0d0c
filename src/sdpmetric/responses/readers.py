"""Read a table of answers into triplets [anchor, near, far], and the row each comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._support.typing import Ints
from .choices import chosen_items, ways_to_answer
from .ids import Lookup
from .tables import Column, check_names, check_three, column_names, columns_of

# Of all answers together: 2.4 GB of row numbers. A count of a few bytes could stand for more.
MOST_TRIPLETS = 100_000_000

# Triplets, the row of the table that each comes from, and the number of rows of the table.
Read: TypeAlias = tuple[Ints, Ints, int]


def triplets(table: Any, columns: Sequence[str] | None, lookup: Lookup) -> Read:
    """Read an anchor (or query), a positive, and negatives; of several, some may be missing."""
    names = check_names(columns) if columns is not None else _names(column_names(table))
    if len(names) < 3:
        raise ValueError(f"columns has {names!r}, expected an anchor, a near and a far column.")
    cells = columns_of(table, names)
    anchor, near = (lookup.rows(cells[i], names[i]) for i in (0, 1))
    # A single negative that is missing would leave no comparison in its row.
    optional = len(names) > 3
    fars = [
        lookup.rows(cell, name, optional=optional)
        for cell, name in zip(cells[2:], names[2:], strict=True)
    ]
    far = np.stack(fars, axis=1)
    refuse(far.max(axis=1) < 0, cells, "at least one negative")
    row, column = np.nonzero(far >= 0)
    found = np.stack([anchor[row], near[row], far[row, column]], axis=1)
    refuse(alike(found), cells, "items that differ from each other", row)
    return found, row, len(anchor)


def odd_one_out(table: Any, odd: Any, columns: Sequence[str], lookup: Lookup) -> Read:
    """Read odd ones out: the other two are nearer to each other than either is to the odd one."""
    items, cells = _three(table, columns, lookup)
    if odd is not None:
        odd = chosen_items(odd, columns, cells)
        items = _put_last(items, _chosen(odd, "odd", lookup, items, cells, columns))
    # Both triplets of a row stand next to each other, so that rows can be repeated as one.
    found = np.concatenate([items, items[:, [1, 0, 2]]], axis=1).reshape(-1, 3)
    return found, np.repeat(np.arange(len(items)), 2), len(items)


def two_afc(table: Any, chosen: Any, columns: Sequence[str], lookup: Lookup) -> Read:
    """Read which of two alternatives is closer to the anchor."""
    items, cells = _three(table, columns, lookup)
    if chosen is not None:
        chosen = chosen_items(chosen, columns[1:], cells[1:])
        picked = _chosen(chosen, "chosen", lookup, items, cells, columns[1:])
        refuse(picked == 0, [*cells, chosen], "one of the two alternatives, not the anchor")
        items = np.where((picked == 2)[:, None], items[:, [0, 2, 1]], items)
    return items, np.arange(len(items)), len(items)


def _names(known: list[Any] | None) -> list[str]:
    """Find the columns: anchor or query, positive, and negative, negative_1, ... in order."""
    if known is None:
        return ["anchor", "positive", "negative"]
    heads, negatives = roles(known)
    if len(heads) != 1 or "positive" not in known or not negatives:
        raise ValueError(
            f"table has the columns {', '.join(map(repr, known))}; expected 'anchor' or 'query', "
            "'positive', and 'negative' or 'negative_1', 'negative_2', ..., or columns=."
        )
    return [heads[0], "positive", *negatives]


def roles(known: list[Any]) -> tuple[list[str], list[str]]:
    """Among the names of columns, find those of the anchor, and of the negatives in order."""
    heads = [name for name in ("anchor", "query") if name in known]
    numbered = {}
    for name in known:
        match = re.fullmatch(r"negative(?:_(\d{1,9}))?", str(name))
        if match:
            # Plain "negative" comes before "negative_0".
            numbered[name] = int(match[1] or -1)
    return heads, sorted(numbered, key=lambda name: numbered[name])


def _three(table: Any, columns: Sequence[str], lookup: Lookup) -> tuple[Ints, list[Column]]:
    names = check_three(columns)
    cells = columns_of(table, names)
    items = np.stack([lookup.rows(*pair) for pair in zip(cells, names, strict=True)], axis=1)
    refuse(alike(items), cells, "three different items")
    return items, cells


def _chosen(
    choice: Any,
    name: str,
    lookup: Lookup,
    items: Ints,
    cells: list[Column],
    offered: Sequence[str],
) -> Ints:
    """The place 0, 1 or 2 of the item that was chosen; ``offered``: columns of alternatives."""
    alternatives = cells[len(cells) - len(offered) :]
    try:
        rows = lookup.rows(choice, name)
    except ValueError as error:  # an id that is unknown, or of another kind
        raise ValueError(f"{error} An answer is {ways_to_answer(offered, alternatives)}.") from None
    same = items == rows[:, None]
    bad = ~same.any(axis=1)
    if bad.any():
        count = "three" if len(offered) == 3 else "two"
        ways = ways_to_answer(offered, alternatives)
        refuse(bad, [*cells, choice], f"one of the {count} as {name}: {ways}")
    return np.nonzero(same)[1]


def _put_last(items: Ints, which: Ints) -> Ints:
    """Move one item of each row to the end; the other two keep their order."""
    moved = items.copy()
    # Place 2 is missing from the list: such rows are in order as they are.
    for place, order in enumerate([[1, 2, 0], [0, 2, 1]]):
        moved[which == place] = items[which == place][:, order]
    return moved


def alike(items: Ints) -> npt.NDArray[np.bool_]:
    """Which rows of three items hold an item twice."""
    a, b, c = items.T
    alike: npt.NDArray[np.bool_] = (a == b) | (a == c) | (b == c)
    return alike


def check_many(what: str, n: int) -> None:
    """Raise ValueError, before they are made, if there would be too many triplets."""
    if n > MOST_TRIPLETS:
        raise ValueError(
            f"{what} stands for {n:,} triplets, expected at most {MOST_TRIPLETS:,}; weights can "
            "stand for answers that were given often."
        )


def refuse(
    bad: npt.NDArray[np.bool_],
    cells: list[Column],
    expected: str,
    at: Ints | None = None,
    called: str = "table",
) -> None:
    """Raise if a row is bad; the error shows the cells of the first one as the user wrote them.

    Parameters
    ----------
    bad : (n,) which entries are bad
    cells : the columns of the user's table
    expected : what the message says is expected
    at : (n,) row of the table of each entry; None: the entries are the rows
    called : the argument that the table is
    """
    if bad.any():
        first = int(np.argmax(bad))
        row = first if at is None else int(at[first])
        found = ", ".join(repr(column.tolist()[row]) for column in cells)
        raise ValueError(f"{called}: row {row} is {found}; expected {expected}.")
