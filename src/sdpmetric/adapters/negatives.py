"""Hard negatives: the rows nearest to a query that are not known, nor suspected, to be relevant.

A row that nobody marked as relevant may well be: logs hold one positive where the corpus holds ten
more like it. Such false negatives are the nearest of all, so that a metric which is told to push
them away unlearns what it should learn. Two guards: rows that are about as near to a known
positive as the query itself are left out, and so are the very nearest of what remains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Dense, Floats, Ints
from ..joins import crossed
from .pairs import Pairs
from .scan import QUERIES, Mapped, Scan, sides, squared
from .vectors import Vectors

__all__ = ["Hardness", "comparisons", "hard_negatives"]


@dataclass(frozen=True)
class Hardness:
    """How many negatives are mined for a query, and what is left out on the way.

    ``guard``: rows nearer to a known positive than this share of that positive's distance to the
    query. ``skip``: that many of the nearest others.
    """

    n_negatives: int
    skip: int
    guard: float


def comparisons(
    vectors: Vectors, pairs: Pairs, hardness: Hardness, components: Floats | None = None
) -> tuple[Dense, Ints, Floats | None]:
    """Items, triplets [query, positive, negative] of them, and weights: queries count the same."""
    negative, of_negative = pairs.negative, pairs.of_negative
    if hardness.n_negatives > 0:
        found = hard_negatives(vectors, pairs, hardness, components)
        query, column = np.nonzero(found >= 0)
        negative = np.concatenate([negative, found[query, column]])
        of_negative = np.concatenate([of_negative, query])
        order = np.argsort(of_negative, kind="stable")
        negative, of_negative = negative[order], of_negative[order]
    if len(negative) == 0:
        raise ValueError(_nothing(hardness, len(pairs)))
    near, far = crossed(pairs.of_positive, of_negative, len(pairs))
    query = pairs.of_positive[near]
    triplets = np.stack([pairs.asked[query], pairs.positive[near], negative[far]], axis=1)
    sizes = np.bincount(query, minlength=len(pairs))[query]
    weights = None if np.ptp(sizes) == 0 else sizes.min() / sizes
    return *vectors.compact(triplets), weights


def _nothing(hardness: Hardness, n_queries: int) -> str:
    if hardness.n_negatives == 0:
        return (
            f"n_negatives is 0 and none of {n_queries} queries to learn from has a negative in "
            "pairs, expected some, or n_negatives of at least 1."
        )
    return (
        f"skip is {hardness.skip} and guard is {hardness.guard:g}: no row of X is left as a "
        f"negative for any of {n_queries} queries, expected smaller values."
    )


def hard_negatives(
    vectors: Vectors, pairs: Pairs, hardness: Hardness, components: Floats | None = None
) -> Ints:
    """(queries, n_negatives) rows of the corpus, nearest first under the metric; -1 for none.

    Never the query itself or a copy of it, a known positive, or a negative that was given.
    """
    scan = Scan(vectors.X, components)
    Q, P, apart = sides(scan, vectors, pairs)
    reach = hardness.guard**2 * apart
    rows, queries = _forbidden(vectors, pairs)
    width = hardness.skip + hardness.n_negatives
    best = np.full((len(Q), width), np.inf)
    index = np.full((len(Q), width), -1, dtype=np.int64)

    def work(part: slice, block: slice, B: Mapped) -> None:
        distances = squared(Q[part], B)
        distances[distances <= scan.slack(Q[part], B)] = np.inf
        inside = slice(*np.searchsorted(rows, [block.start, block.stop]))
        row, query = rows[inside] - block.start, queries[inside]
        mine = (query >= part.start) & (query < part.stop)
        distances[query[mine] - part.start, row[mine]] = np.inf
        if hardness.guard > 0.0:
            _guard(distances, part, B, P, reach, pairs.of_positive)
        _keep(best[part], index[part], distances, block.start)

    scan.visit(len(Q), work)
    order = np.lexsort((index, best), axis=1)[:, hardness.skip :]
    found = np.take_along_axis(index, order, axis=1)
    found[np.isinf(np.take_along_axis(best, order, axis=1))] = -1
    return found


def _forbidden(vectors: Vectors, pairs: Pairs) -> tuple[Ints, Ints]:
    """Rows, ascending, and the queries for which they cannot be mined."""
    own = vectors.own(pairs.asked)
    rows = np.concatenate([own, pairs.positive, pairs.negative])
    queries = np.concatenate([np.arange(len(own)), pairs.of_positive, pairs.of_negative])
    order = np.argsort(rows, kind="stable")
    return rows[order], queries[order]


def _guard(
    distances: Floats, part: slice, B: Mapped, P: Mapped, reach: Floats, of_positive: Ints
) -> None:
    """Leave out what is too near to a positive of the query."""
    low, high = np.searchsorted(of_positive, [part.start, part.stop])
    for start in range(low, high, QUERIES):
        some = slice(start, min(start + QUERIES, high))
        positive, row = np.nonzero(squared(P[some], B) < reach[some, None])
        distances[of_positive[some][positive] - part.start, row] = np.inf


def _keep(best: Floats, index: Ints, distances: Floats, start: int) -> None:
    """Merge a block into the nearest so far, in place."""
    width = best.shape[1]
    rows = np.flatnonzero(distances.min(axis=1) < best.max(axis=1))
    both = np.concatenate([best[rows], distances[rows]], axis=1)
    numbers = np.broadcast_to(np.arange(start, start + distances.shape[1]), distances[rows].shape)
    numbers = np.concatenate([index[rows], numbers], axis=1)
    nearest = np.argpartition(both, width - 1, axis=1)[:, :width]
    best[rows] = np.take_along_axis(both, nearest, axis=1)
    index[rows] = np.take_along_axis(numbers, nearest, axis=1)
