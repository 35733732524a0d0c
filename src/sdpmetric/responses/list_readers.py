"""Answers that are lists: rankings and clicks, as triplets [anchor, near, far]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import Ints
from ..joins import crossed, places
from .ids import Lookup
from .readers import Read, alike, refuse
from .tables import Column, columns_of

__all__ = ["clicks", "clicks_above", "rankings"]


def rankings(table: Any, pairs: str, columns: Sequence[str], lookup: Lookup) -> Read:
    """An anchor and others, nearest first: each is nearer than all that follow, or the next."""
    names = list(columns)
    cells = columns_of(table, names)
    anchor = lookup.rows(cells[0], names[0])
    ranked, at = _flat(cells[1], names[1], lookup)
    sizes = np.bincount(at, minlength=len(anchor))
    refuse(sizes < 2, cells, "a ranking of at least two items")
    _refuse_twice(ranked, at, cells)
    refuse(ranked == anchor[at], cells, "items other than the anchor", at)
    behind = sizes[at] - 1 - places(sizes)
    if pairs == "adjacent":
        behind = np.minimum(behind, 1)
    first = np.repeat(np.arange(len(ranked)), behind)
    second = first + 1 + places(behind)
    at = at[first]
    return np.stack([anchor[at], ranked[first], ranked[second]], axis=1), at, len(anchor)


def clicks(table: Any, columns: Sequence[str], lookup: Lookup) -> Read:
    """A query, what was clicked, what was skipped; rows that lack either say nothing."""
    names = list(columns)
    cells = columns_of(table, names)
    query = lookup.rows(cells[0], names[0])
    clicked, of_clicked = _flat(cells[1], names[1], lookup)
    skipped, of_skipped = _flat(cells[2], names[2], lookup)
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
    """A query, what was clicked, and all that was shown, in order.

    Who clicked has seen what stands above and passed it over; what stands below may not have been
    seen. (Joachims, "Optimizing search engines using clickthrough data", 2002.)
    """
    names = list(columns)
    cells = columns_of(table, names)
    query = lookup.rows(cells[0], names[0])
    clicked, of_clicked = _flat(cells[1], names[1], lookup)
    shown, at = _flat(cells[2], names[2], lookup)
    _refuse_twice(shown, at, cells)
    n = 1 + max(int(items.max(initial=0)) for items in (clicked, shown))
    clicks, stands = of_clicked * n + clicked, at * n + shown  # an item and the row it stands in
    refuse(~np.isin(clicks, stands), cells, "clicked items among those shown", of_clicked)
    passed = ~np.isin(stands, clicks)
    before: Ints = np.cumsum(passed) - passed  # passed over above each place and in earlier rows
    sizes = np.bincount(at, minlength=len(query))
    first: Ints = before[np.repeat(np.cumsum(sizes) - sizes, sizes)]
    chosen = np.flatnonzero(~passed)
    each: Ints = (before - first)[chosen]
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
    """The rows of all items in a column of lists, or of single items, and where each stands."""
    lists = [_listed(cell) for cell in column]
    at = np.repeat(np.arange(len(lists)), [len(cells) for cells in lists])
    flat = np.fromiter((cell for cells in lists for cell in cells), dtype=object)
    return (lookup.rows(flat, name, at=at) if len(flat) else at), at


def _listed(cell: Any) -> list[Any]:
    if isinstance(cell, (list, tuple, np.ndarray)):
        return list(cell)
    return [] if cell is None or cell == "" else [cell]
