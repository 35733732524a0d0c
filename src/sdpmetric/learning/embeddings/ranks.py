"""The rank of each known positive in the whole corpus, and retrieval scores from the ranks."""

from __future__ import annotations

import numpy as np

from ..._support.typing import Floats, Ints
from ...evaluation.scores import overall_scores, scores_at
from ...linalg.blocks import slices
from ...linalg.distances import MappedRows, squared_distances
from .corpus import Vectors
from .pairs import Pairs
from .scan import QUERIES, Scan, query_positive_distances

__all__ = ["positive_ranks", "query_scores", "rank_of"]


def query_scores(
    vectors: Vectors, pairs: Pairs, components: Floats | None, at: list[int]
) -> dict[str, Floats]:
    """The scores of `retrieval_scores` for each query; relevant rows are its known positives."""
    ranks = positive_ranks(vectors, pairs, components)
    order = np.lexsort((ranks, pairs.of_positive))
    query, rank, n = pairs.of_positive[order], ranks[order], len(pairs)
    return scores_at(query, rank, np.bincount(query, minlength=n), at) | overall_scores(
        query, rank, n
    )


def positive_ranks(vectors: Vectors, pairs: Pairs, components: Floats | None = None) -> Ints:
    """The rank of each positive among all rows: 1 if no other row is nearer to its query.

    The row of the query itself does not count. Ties, and differences within rounding, go to the
    lower row. Nearer rows are counted, so the corpus is never sorted and no ranking is stored.
    """
    scan = Scan(vectors, components)
    Q, P, target = query_positive_distances(scan, vectors, pairs)
    own = vectors.own(pairs.queries)
    ranks = np.ones(len(P), dtype=np.int64)

    def work(part: slice, block: slice, B: MappedRows) -> None:
        distances = squared_distances(Q[part], B)
        slack = scan.slack(Q[part], B)
        itself = np.flatnonzero((own[part] >= block.start) & (own[part] < block.stop))
        distances[itself, own[part][itself] - block.start] = np.inf
        low, high = np.searchsorted(pairs.of_positive, [part.start, part.stop])
        # A query may have any number of positives: blocks of them bound the copies of distances.
        for subset in slices(low, high, QUERIES):
            query = pairs.of_positive[subset] - part.start
            beyond = distances[query] - target[subset, None]
            # A lower row counts if it is nearer or tied, a higher row only if it is surely nearer.
            # The positive itself is not lower and ties with itself, so it never counts.
            lower = np.arange(block.start, block.stop) < pairs.positive[subset, None]
            nearer = beyond < np.where(lower, slack[query], -slack[query])
            ranks[subset] += nearer.sum(axis=1)

    scan.visit(len(Q), work)
    return ranks


def rank_of(scoring: str, n: int) -> tuple[str, int]:
    """The score's name, and the rank that it looks down to; "ndcg" alone goes to the end."""
    if scoring == "ndcg":
        return f"ndcg@{n}", n
    _, _, rank = scoring.partition("@")
    return scoring, int(rank or 1)  # "mrr" and "map" use no rank, so any will do
