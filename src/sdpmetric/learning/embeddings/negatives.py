"""Mine hard negatives: the rows nearest to a query that are not relevant to it.

A row that nobody marked as relevant may be relevant all the same: logs hold one positive where the
corpus holds ten similar rows. Such false negatives are the nearest rows of all, and a metric that
learns to push them away gets worse. There are two guards against them. Rows about as near to a
known positive as the query itself are left out, and so are the very nearest of the other rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._support.grouping import crossed
from ..._support.typing import Floats, Ints
from ...linalg.blocks import slices
from ...linalg.distances import MappedRows, squared_distances
from ...linalg.items import Items
from ...triplets.knn import cross_triplets
from .corpus import Vectors
from .pairs import Pairs
from .scan import QUERIES, Scan, query_positive_distances

__all__ = ["Hardness", "comparisons", "hard_negatives", "present_neighbors"]

# Ranks of a query's present neighbours that are to stay, and of the rows that are to stay behind.
_HEAD = slice(0, 3)
_BELOW = slice(20, 30)


@dataclass(frozen=True)
class Hardness:
    """Which comparisons are made: the negatives of a query, and its present neighbours.

    Attributes
    ----------
    n_negatives : negatives per query
    skip : how many of the nearest rows that pass the guard are left out
    guard : rows are left out that are nearer to a known positive than this share of the positive's
        distance to the query
    preserve : share of the weight of all comparisons that keeps each query's present neighbours
        near
    """

    n_negatives: int
    skip: int
    guard: float
    preserve: float = 0.0


def comparisons(
    vectors: Vectors, pairs: Pairs, hardness: Hardness, components: Floats | None = None
) -> tuple[Items, Ints, Floats | None]:
    """Make comparisons from given and mined negatives.

    Returns
    -------
    items : the vectors that take part
    triplets : (m, 3) [query, positive, negative], rows of items
    weights : (m,) such that all queries have the same total; None if all are equal
    """
    negative, of_negative = pairs.negative, pairs.of_negative
    if hardness.n_negatives > 0:
        found = hard_negatives(vectors, pairs, hardness, components)
        query, column = np.nonzero(found >= 0)
        negative = np.concatenate([negative, found[query, column]])
        of_negative = np.concatenate([of_negative, query])
        # `crossed` needs the negatives grouped by query.
        order = np.argsort(of_negative, kind="stable")
        negative, of_negative = negative[order], of_negative[order]
    if len(negative) == 0:
        raise ValueError(_no_negatives(hardness, len(pairs)))
    near, far = crossed(pairs.of_positive, of_negative, len(pairs))
    query = pairs.of_positive[near]
    triplets = np.stack([pairs.queries[query], pairs.positive[near], negative[far]], axis=1)
    sizes = np.bincount(query, minlength=len(pairs))[query]
    # A query with many positives and negatives would otherwise outweigh the others. Equal weights
    # are None, which the fit stores as one number instead of m.
    weights = None if np.ptp(sizes) == 0 else sizes.min() / sizes
    if hardness.preserve > 0.0:
        triplets, weights = _with_present(vectors, pairs, hardness.preserve, triplets, weights)
    return *vectors.compact(triplets), weights


def present_neighbors(vectors: Vectors, pairs: Pairs) -> Ints:
    """(m, 3) [query, near, far] by Euclidean distance: the head of each ranking, and rows below."""
    none = np.empty(0, dtype=np.int64)
    alone = Pairs(pairs.queries, none, none, none, none)  # no row is excluded but the query itself
    nearest = hard_negatives(vectors, alone, Hardness(_BELOW.stop, 0, 0.0))
    triplets = cross_triplets(nearest[:, _HEAD], nearest[:, _BELOW])
    triplets[:, 0] = pairs.queries[triplets[:, 0]]
    return triplets


def _with_present(
    vectors: Vectors, pairs: Pairs, share: float, triplets: Ints, weights: Floats | None
) -> tuple[Ints, Floats]:
    """Add comparisons that keep present neighbours near, with this share of all weight."""
    kept = present_neighbors(vectors, pairs)
    learned = np.ones(len(triplets)) if weights is None else weights
    if len(kept) == 0:  # the corpus has too few rows to have any below the head
        return triplets, learned
    each = share / (1.0 - share) * float(learned.sum()) / len(kept)
    return np.concatenate([triplets, kept]), np.concatenate([learned, np.full(len(kept), each)])


def _no_negatives(hardness: Hardness, n_queries: int) -> str:
    """The message for pairs from which no comparison can be made."""
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
    """Find the hard negatives of each query.

    A negative is never the query itself or a copy of it, a known positive, or a given negative.

    Returns
    -------
    (queries, n_negatives) rows of the corpus, nearest first under the metric; -1: there are fewer
    """
    scan = Scan(vectors, components)
    Q, P, apart = query_positive_distances(scan, vectors, pairs)
    reach = hardness.guard**2 * apart  # the guard is a share of the distance, apart is squared
    rows, queries = _forbidden(vectors, pairs)
    # Rows to skip are kept too: which rows they are is known only after the last block.
    width = hardness.skip + hardness.n_negatives
    best = np.full((len(Q), width), np.inf)
    index = np.full((len(Q), width), -1, dtype=np.int64)

    def work(part: slice, block: slice, B: MappedRows) -> None:
        distances = squared_distances(Q[part], B)
        # Within rounding of zero: the query itself, or a copy of it.
        distances[distances <= scan.slack(Q[part], B)] = np.inf
        # The forbidden pairs are sorted by row, so those of a block are found without a scan.
        inside = slice(*np.searchsorted(rows, [block.start, block.stop]))
        row, query = rows[inside] - block.start, queries[inside]
        mine = (query >= part.start) & (query < part.stop)
        distances[query[mine] - part.start, row[mine]] = np.inf
        if hardness.guard > 0.0:  # a guard of 0 leaves out nothing, at the price of a product
            _guard(distances, part, B, P, reach, pairs.of_positive)
        _keep(best[part], index[part], distances, block.start)

    scan.visit(len(Q), work)
    # The kept rows are in no order, and depend on blocks: the row number as second key makes ties
    # go to the lower row.
    order = np.lexsort((index, best), axis=1)[:, hardness.skip :]
    found = np.take_along_axis(index, order, axis=1)
    found[np.isinf(np.take_along_axis(best, order, axis=1))] = -1
    return found


def _forbidden(vectors: Vectors, pairs: Pairs) -> tuple[Ints, Ints]:
    """Pairs of a row of the corpus, ascending, and a query for which it must not be mined."""
    own = vectors.own(pairs.queries)
    rows = np.concatenate([own, pairs.positive, pairs.negative])
    queries = np.concatenate([np.arange(len(own)), pairs.of_positive, pairs.of_negative])
    order = np.argsort(rows, kind="stable")
    return rows[order], queries[order]


def _guard(
    distances: Floats, part: slice, B: MappedRows, P: MappedRows, reach: Floats, of_positive: Ints
) -> None:
    """Leave out rows that are too near to a positive of the query, in place."""
    low, high = np.searchsorted(of_positive, [part.start, part.stop])
    # A query may have any number of positives: blocks of them bound the memory.
    for subset in slices(low, high, QUERIES):
        positive, row = np.nonzero(squared_distances(P[subset], B) < reach[subset, None])
        distances[of_positive[subset][positive] - part.start, row] = np.inf


def _keep(best: Floats, index: Ints, distances: Floats, start: int) -> None:
    """Merge a block of distances into the nearest rows so far, in place."""
    width = best.shape[1]
    # Most blocks improve few queries, once some blocks have been seen: only these are merged.
    rows = np.flatnonzero(distances.min(axis=1) < best.max(axis=1))
    both = np.concatenate([best[rows], distances[rows]], axis=1)
    numbers = np.broadcast_to(np.arange(start, start + distances.shape[1]), distances[rows].shape)
    numbers = np.concatenate([index[rows], numbers], axis=1)
    # Sorting is left to the end: here only the set of the nearest rows matters.
    nearest = np.argpartition(both, width - 1, axis=1)[:, :width]
    best[rows] = np.take_along_axis(both, nearest, axis=1)
    index[rows] = np.take_along_axis(numbers, nearest, axis=1)
