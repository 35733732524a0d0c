"""At which rank each known positive stands in the whole corpus, and the scores that this makes."""

from __future__ import annotations

import numpy as np

from .._typing import Floats, Ints
from ..retrieval.scores import scores_of_ranks
from .pairs import Pairs
from .scan import QUERIES, Mapped, Scan, sides, squared
from .vectors import Vectors

__all__ = ["positive_ranks", "query_scores"]


def query_scores(
    vectors: Vectors, pairs: Pairs, components: Floats | None, at: list[int]
) -> dict[str, Floats]:
    """The scores of `retrieval_scores` for each query, its known positives being relevant."""
    ranks = positive_ranks(vectors, pairs, components)
    order = np.lexsort((ranks, pairs.of_positive))
    return scores_of_ranks(pairs.of_positive[order], ranks[order], len(pairs), at)


def positive_ranks(vectors: Vectors, pairs: Pairs, components: Floats | None = None) -> Ints:
    """One for each positive: 1 if no other row is nearer to its query; the query's own is left out.

    Ties, and what rounding cannot tell from them, go to the lower row. Counting what is nearer
    takes no ranking of the corpus, and no memory for one.
    """
    scan = Scan(vectors.X, components)
    Q, P, target = sides(scan, vectors, pairs)
    own = vectors.own(pairs.asked)
    ranks = np.ones(len(P), dtype=np.int64)

    def work(part: slice, block: slice, B: Mapped) -> None:
        distances = squared(Q[part], B)
        slack = scan.slack(Q[part], B)
        itself = np.flatnonzero((own[part] >= block.start) & (own[part] < block.stop))
        distances[itself, own[part][itself] - block.start] = np.inf
        low, high = np.searchsorted(pairs.of_positive, [part.start, part.stop])
        for start in range(low, high, QUERIES):
            some = slice(start, min(start + QUERIES, high))
            query = pairs.of_positive[some] - part.start
            beyond = distances[query] - target[some, None]
            lower = np.arange(block.start, block.stop) < pairs.positive[some, None]
            nearer = beyond < np.where(lower, slack[query], -slack[query])
            ranks[some] += nearer.sum(axis=1)

    scan.visit(len(Q), work)
    return ranks
