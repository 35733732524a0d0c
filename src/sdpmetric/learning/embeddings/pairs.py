"""Read queries with their positives and negatives from a table, and check them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..._support.typing import Ints
from ...responses.ids import Lookup
from ...responses.readers import refuse, roles
from ...responses.tables import Column, column_names, columns_of
from .corpus import Vectors

__all__ = ["Pairs", "read_pairs"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Distinct queries, with their known positives and the negatives that were given.

    Attributes
    ----------
    queries : (q,) numbers of the queries, as in `Vectors`
    positive, negative : rows of the corpus
    of_positive, of_negative : the place in ``queries`` of the query that each belongs to, ascending
    """

    queries: Ints
    positive: Ints
    of_positive: Ints
    negative: Ints
    of_negative: Ints

    def __len__(self) -> int:
        return len(self.queries)

    def subset(self, places: Ints) -> Pairs:
        """The pairs of the queries at these places, which must ascend."""
        new = np.full(len(self), -1)  # -1: the query is left out
        new[places] = np.arange(len(places))
        p, n = new[self.of_positive] >= 0, new[self.of_negative] >= 0
        return Pairs(
            queries=self.queries[places],
            positive=self.positive[p],
            of_positive=new[self.of_positive[p]],
            negative=self.negative[n],
            of_negative=new[self.of_negative[n]],
        )

    def leak_groups(self, vectors: Vectors) -> Ints:
        """The leak group 0, 1, ... of each query: queries of a group must not be split.

        One query gives away the answer of another if both have the same vector, or if each is the
        other's positive.
        """
        q = len(self)
        # Rows are compared as bytes, in one step; np.unique(axis=0) would go column by column.
        rows = np.ascontiguousarray(vectors.gather(self.queries))
        raw = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
        same = np.unique(raw, return_inverse=True)[1].ravel()
        # A graph of q queries and up to q distinct vectors: a query is linked to its vector, and
        # groups are connected components.
        links = sp.coo_array((np.ones(q), (np.arange(q), q + same)), shape=(2 * q, 2 * q))
        # Queries that are vectors of their own are not in the corpus, so none is a positive.
        if vectors.Q is None:
            # A positive above the last query would get a place beyond the end.
            at = np.minimum(np.searchsorted(self.queries, self.positive), q - 1)
            asks = self.queries[at] == self.positive  # positives that are queries themselves
            shape = (2 * q, 2 * q)
            there = sp.coo_array(
                (np.ones(int(asks.sum())), (self.of_positive[asks], at[asks])), shape=shape
            ).tocsr()
            # Distances are symmetric: if each is the other's positive, both ask the same question.
            # A link in one direction is a question of its own, and would make groups too large.
            links = links + there.multiply(there.T)
        found: Ints = connected_components(links, directed=False)[1][:q]
        # Unused vector nodes are components too: number those of queries without gaps.
        return np.unique(found, return_inverse=True)[1].astype(np.int64)


def read_pairs(table: Any, vectors: Vectors, ids: Any = None, query_ids: Any = None) -> Pairs:
    """Read the columns query (or anchor), positive and, if any, negative or negative_1, ...

    Parameters
    ----------
    table : the user's table of pairs
    vectors : the corpus and the queries
    ids : the id of each row of the corpus; None: the table holds row numbers
    query_ids : the id of each query, if queries are vectors of their own
    """
    names = _names(table)
    cells = columns_of(table, names, "pairs")
    stored = _lookup(ids, "ids", len(vectors.X), "X")
    if vectors.Q is None:
        if query_ids is not None:
            raise ValueError("query_ids is given but queries is None, expected ids alone.")
        asking = stored
    else:
        asking = _lookup(query_ids, "query_ids", len(vectors.Q), "queries")
    query = asking.rows(cells[0], names[0])
    _check_rows(query, names[0], vectors.n_queries, "X" if vectors.Q is None else "queries")
    found = [query]
    for cell, name in zip(cells[1:], names[1:], strict=True):
        found.append(stored.rows(cell, name, optional=name != names[1]))
        _check_rows(found[-1], name, len(vectors.X), "X")
    positive, negatives = found[1], found[2:]
    if vectors.Q is None:
        refuse(positive == query, cells, "a positive other than the query", None, "pairs")
        for negative in negatives:
            refuse(negative == query, cells, "a negative other than the query", None, "pairs")
    return _gathered(query + vectors.first, positive, negatives, cells)


def _gathered(query: Ints, positive: Ints, negatives: list[Ints], cells: list[Column]) -> Pairs:
    queries, place = np.unique(query, return_inverse=True)
    known = np.unique(np.stack([place, positive], axis=1), axis=0)
    refused = np.empty((0, 2), dtype=np.int64)
    for negative in negatives:
        given = np.stack([place, negative], axis=1)
        refuse(_among(given, known), cells, "a negative that is no positive of it", None, "pairs")
        refused = np.concatenate([refused, given[negative >= 0]])
    refused = np.unique(refused, axis=0)
    return Pairs(queries, known[:, 1], known[:, 0], refused[:, 1], refused[:, 0])


def _among(rows: Ints, known: Ints) -> Any:
    """Which rows of two numbers are among the known rows."""
    # Each pair as one number; missing negatives are -1, so that the width has room for them.
    width = int(max(rows[:, 1].max(), known[:, 1].max())) + 2
    return np.isin(rows[:, 0] * width + rows[:, 1], known[:, 0] * width + known[:, 1])


def _names(table: Any) -> list[str]:
    known = column_names(table)
    if known is None:  # rows by position: the first row says how many columns there are
        tabular = isinstance(table, np.ndarray) and table.ndim > 0
        width = table.shape[-1] if tabular else _width(table)
        if width < 2:
            raise ValueError("pairs has rows of one entry, expected a query and a positive.")
        return ["query", "positive", *(f"negative_{i}" for i in range(1, width - 1))]
    heads, negatives = roles(known)
    if len(heads) != 1 or "positive" not in known:
        raise ValueError(
            f"pairs has the columns {', '.join(map(repr, known))}; expected 'query' or 'anchor', "
            "'positive', and, if there are any, 'negative' or 'negative_1', 'negative_2', ..."
        )
    return [heads[0], "positive", *negatives]


def _width(table: Any) -> int:
    """The number of entries of the first row; `columns_of` raises if there is no table."""
    if isinstance(table, Sequence) and len(table) and isinstance(table[0], (Sequence, np.ndarray)):
        return len(table[0])
    return 2


def _lookup(ids: Any, name: str, n: int, rows: str) -> Lookup:
    lookup = Lookup(ids, name)
    if lookup.known is not None and len(lookup.known) != n:
        raise ValueError(
            f"{name} has {len(lookup.known)} entries, expected one per row of {rows}, {n}."
        )
    return lookup


def _check_rows(found: Ints, name: str, n: int, rows: str) -> None:
    bad = np.flatnonzero(found >= n)
    if len(bad):
        raise ValueError(
            f"{name}: row {bad[0]} is {found[bad[0]]}, expected a row of {rows}, 0 to {n - 1}."
        )
