"""Read answers that are lists, rankings and clicks, into triplets [anchor, near, far]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._support.grouping import crossed, places
from .._support.typing import Ints
from .ids import Lookup
from .readers import Read, alike, check_many, refuse
from .tables import Column, check_names, columns_of, is_list


def rankings(table: Any, pairs: str, columns: Sequence[str], lookup: Lookup) -> Read:
    """Read an anchor and other items, nearest first.

    ``pairs="all"``: each item is nearer than all that follow it. "adjacent": than the next.
    """
    names = check_names(columns)
    cells = columns_of(table, names)
    anchor = lookup.rows(cells[0], names[0])
    ranked, at = _flat(cells[1], names[1], lookup)
    sizes = np.bincount(at, minlength=len(anchor))
    refuse(sizes < 2, cells, "a ranking of at least two items")
    _refuse_twice(ranked, at, cells)
    refuse(ranked == anchor[at], cells, "items other than the anchor", at)
    # The number of items that follow each one in its own ranking.
    behind = sizes[at] - 1 - places(sizes)
    if pairs == "adjacent":
        behind = np.minimum(behind, 1)
    check_many("table", int(behind.sum()))
    first = np.repeat(np.arange(len(ranked)), behind)
    second = first + 1 + places(behind)
    at = at[first]
    return np.stack([anchor[at], ranked[first], ranked[second]], axis=1), at, len(anchor)


def clicks(table: Any, columns: Sequence[str], lookup: Lookup) -> Read:
    """Read a query, the clicked items and the skipped items; rows without either are left out."""
    names = check_names(columns)
    cells = columns_of(table, names)
    query = lookup.rows(cells[0], names[0])
    clicked, of_clicked = _flat(cells[1], names[1], lookup)
    skipped, of_skipped = _flat(cells[2], names[2], lookup)
    sizes = (np.bincount(of, minlength=len(query)) for of in (of_clicked, of_skipped))
    check_many("table", int(np.prod(list(sizes), axis=0).sum()))
    left, right = crossed(of_clicked, of_skipped, len(query))
    at = of_clicked[left]
    if len(at) == 0:
        raise ValueError(
            f"table: none of {len(query)} rows has a clicked and a skipped item, expected some."
        )
    found = np.stack([query[at], clicked[left], skipped[right]], axis=1)
    refuse(alike(found), cells, "items that differ from each other", at)
    return found, at, len(query)


def clicks_above(table: Any, columns: Sequence[str], lookup: Lookup) -> Read:
    """Read a query, the clicked items, and all items shown, in order.

    A person who clicked an item has seen the items above it and passed them over. Items below it
    may not have been seen. (Joachims, "Optimizing search engines using clickthrough data", 2002.)
    """
    names = check_names(columns)
    cells = columns_of(table, names)
    query = lookup.rows(cells[0], names[0])
    clicked, of_clicked = _flat(cells[1], names[1], lookup)
    shown, at = _flat(cells[2], names[2], lookup)
    _refuse_twice(shown, at, cells)
    n = 1 + max(int(items.max(initial=0)) for items in (clicked, shown))
    # One number for an item and the row of the table it stands in, so that isin compares both.
    clicks, stands = of_clicked * n + clicked, at * n + shown
    refuse(~np.isin(clicks, stands), cells, "clicked items among those shown", of_clicked)
    # `before` counts the passed items above each place, those of earlier rows included; less its
    # value at the start of the row, it is the number of far items of a clicked one. The far items
    # are consecutive among all passed items, so that no loop over rows is needed.
    passed = ~np.isin(stands, clicks)
    before: Ints = np.cumsum(passed) - passed
    sizes = np.bincount(at, minlength=len(query))
    first: Ints = before[np.repeat(np.cumsum(sizes) - sizes, sizes)]
    chosen = np.flatnonzero(~passed)
    each: Ints = (before - first)[chosen]
    check_many("table", int(each.sum()))
    left = np.repeat(chosen, each)
    right = np.flatnonzero(passed)[first[left] + places(each)]
    if len(left) == 0:
        raise ValueError(
            f"table: none of {len(query)} rows has an item that was shown above a clicked one and "
            "not clicked, expected some."
        )
    found = np.stack([query[at[left]], shown[left], shown[right]], axis=1)
    refuse(alike(found), cells, "items that differ from the query", at[left])
    return found, at[left], len(query)


def _refuse_twice(items: Ints, at: Ints, cells: list[Column]) -> None:
    order = np.lexsort((items, at))
    twice = (np.diff(items[order]) == 0) & (np.diff(at[order]) == 0)
    refuse(twice, cells, "each item once", at[order][1:])


def _flat(column: Column, name: str, lookup: Lookup) -> tuple[Ints, Ints]:
    """Flatten a column of lists or single items: the row of X of each item, and of the table."""
    lists = [_as_list(cell) for cell in column]
    at = np.repeat(np.arange(len(lists)), [len(cells) for cells in lists])
    flat = np.fromiter((cell for cells in lists for cell in cells), dtype=object)
    return (lookup.rows(flat, name, at=at) if len(flat) else at), at


def _as_list(cell: Any) -> list[Any]:
    if isinstance(cell, (list, tuple, np.ndarray)) and is_list(cell):
        return list(cell)
    return [] if cell is None or (isinstance(cell, str) and not cell) else [cell]
