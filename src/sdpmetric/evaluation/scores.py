"""Retrieval scores of a metric: precision, recall, hit rate, nDCG, mAP and MRR."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._support.checks import check_integer, check_jobs
from .._support.grouping import places
from .._support.typing import Floats, Ints
from .._support.warnings import warn
from ..engines.threads import map_parts, thread_pool
from ..linalg.items import Items, as_items
from .ranking import Ranking
from .relevance import by_ids, by_labels

AT_RANK = ("precision", "recall", "hit", "ndcg")
OVERALL = ("map", "mrr")
_KNOWN = f"{', '.join((*AT_RANK, *OVERALL))}, or such as 'hit@1'"
RANK = re.compile("[1-9][0-9]{0,17}")  # the k of "hit@k": no leading zero, no other digits


@dataclass(frozen=True, eq=False)
class RetrievalScores:
    """Retrieval scores; ``scores["recall@5"]`` is the mean over the queries.

    Attributes
    ----------
    means : dict of the mean of each score over the queries that count
    per_query : dict of (n_queries,) arrays, for intervals and paired differences
    queries : (n_queries,) rows of Q that count: those with a relevant row in the gallery
    n_left_out : number of queries that do not count
    """

    means: dict[str, float]
    n_left_out: int
    per_query: dict[str, Floats] = field(repr=False)
    queries: Ints = field(repr=False)

    def __getitem__(self, name: str) -> float:
        if name not in self.means:
            raise KeyError(f"{name!r} was not computed; there are {', '.join(self.means)}.")
        return self.means[name]


def retrieval_scores(
    Q: Any,
    y_q: Any = None,
    G: Any = None,
    y_g: Any = None,
    *,
    relevant: Any = None,
    k: int | Iterable[int] = (1, 5, 10),
    scores: Iterable[str] = (*AT_RANK, *OVERALL),
    metric: Any = None,
    n_jobs: int | None = None,
) -> RetrievalScores:
    """Score the ranking of a gallery by its Euclidean distance to each query.

    For a query with R relevant items in the gallery, of which ``found`` are among its k nearest:

    ============== =======================================================================
    precision@k    ``found / k``
    recall@k       ``found / R``
    hit@k          1 if ``found > 0``, else 0: the CMC curve at rank k, and what papers on
                   embeddings call recall@k
    ndcg@k         the sum of ``1 / log2(1 + rank)`` over those found, divided by the same
                   sum for a ranking with ``min(R, k)`` relevant items in front
    map            average precision: the mean, over all R relevant items, of the precision
                   at the rank of each, to the end of the gallery
    mrr            one over the rank of the first relevant item
    ============== =======================================================================

    Each score is averaged over the queries with R > 0. The other queries are left out and counted,
    and a warning says so.
    Ties in distance go to the lower row of the gallery.

    Parameters
    ----------
    Q : (n, D) queries, dense or sparse
    y_q : (n,) labels of the queries; gallery rows of the same label are relevant
    G : (N, D) gallery. None: the queries search each other, and none finds itself
    y_g : (N,) labels of the gallery
    relevant : instead of labels, for each query the rows of the gallery that are relevant
    k : the ranks at which to score, at most the size of the gallery. Has no effect if all of
        ``scores`` name their ranks
    scores : which scores to compute: "hit" at all ranks of ``k``, "hit@1" at this rank alone.
        "map" and "mrr" sort the whole gallery for each query; the others need only the k nearest
        rows, which is many times faster in a large gallery
    metric : a fitted metric, or any transformer or pipeline, to map Q and G by; None: as they are
    n_jobs : threads; -1 for all cores, None for as many as BLAS may use

    Returns
    -------
    RetrievalScores

    Notes
    -----
    Beyond Q and G as mapped, a thread takes about 120 MB: a block of distances and some arrays of
    its size; for more than two million rows in G, eight numbers a row.

    Examples
    --------
    >>> from sdpmetric import retrieval_scores
    >>> Q, G = [[0.0], [9.0]], [[1.0], [2.0], [3.0]]
    >>> scores = retrieval_scores(Q, ["a", "b"], G, ["b", "a", "a"], k=[1, 2])
    >>> scores["hit@1"], scores["hit@2"], scores["precision@2"], scores["recall@2"]
    (0.0, 0.5, 0.25, 0.25)
    >>> scores.per_query["map"].round(3)
    array([0.583, 0.333])
    """
    items, gallery = _mapped(Q, G, metric)
    n = items.shape[0]
    size = n if gallery is None else gallery.shape[0]
    # Without a gallery a query finds all rows other than itself.
    names = _names(scores, k, size - (gallery is None))
    _check_roles(y_q, gallery, y_g, relevant)
    if relevant is None:
        relevance = by_labels(y_q, y_g, n, size)
    else:
        relevance = by_ids(relevant, n, size, alone=gallery is None)
    ranks = sorted({int(name.partition("@")[2]) for name in names if "@" in name} or {1})
    values = {name: np.full(n, np.nan) for name in names}
    whole = bool(set(names) & set(OVERALL))

    with thread_pool(check_jobs(n_jobs)):
        ranking = Ranking(items, gallery)
        counts = np.zeros(n, dtype=np.int64)

        def work(part: slice) -> None:
            for block in ranking.blocks(part, None if whole else max(ranks)):
                counts[block] = relevance.counts(block)
                if whole:
                    right = np.take_along_axis(relevance(block), ranking.order(block), axis=1)
                else:
                    right = relevance.found(block, ranking.nearest(block, max(ranks)))
                query, place = np.nonzero(right)
                made = scores_at(query, place + 1, counts[block], ranks)
                if whole:
                    made |= overall_scores(query, place + 1, len(right))
                for name in names:
                    values[name][block] = made[name]

        map_parts(n, work)
    return _gathered(values, counts > 0)


def _names(scores: Any, k: Any, most: int) -> list[str]:
    """The names of all scores to compute, "hit@1" and so on, in the order of their table."""
    if most < 1:
        raise ValueError("Q has a single row and there is no G, expected something to be found.")
    given = [scores] if isinstance(scores, str) else list(scores)
    if not given:
        raise ValueError(f"scores must be some of {_KNOWN}, got none.")
    kinds = [_kind_and_rank(name, most) for name in given]
    plain = {kind for kind, rank in kinds if rank is None}
    # The default ranks may be too large for a gallery, and have no effect if all are named.
    ranks = _ranks(k, most) if plain else []
    names: list[str] = []
    for kind in AT_RANK:
        own = [rank for one, rank in kinds if one == kind and rank is not None]
        names += [f"{kind}@{rank}" for rank in [*(ranks if kind in plain else []), *own]]
    return list(dict.fromkeys([*names, *(kind for kind in OVERALL if kind in plain)]))


def _kind_and_rank(name: Any, most: int) -> tuple[str, int | None]:
    """The kind of a score, and its rank if the name has one."""
    kind, at, rank = str(name).partition("@")
    if at and kind in AT_RANK and RANK.fullmatch(rank):
        return kind, check_integer(f"the rank of {name!r} in scores", int(rank), 1, most)
    if at or kind not in (*AT_RANK, *OVERALL):
        raise ValueError(f"scores must be some of {_KNOWN}, got {name!r}.")
    return kind, None


def _mapped(Q: Any, G: Any, metric: Any) -> tuple[Items, Items | None]:
    if metric is not None:
        if not hasattr(metric, "transform"):
            raise ValueError(f"metric must be None or have a transform method, got {metric!r}.")
        Q, G = metric.transform(Q), None if G is None else metric.transform(G)
    items = as_items(Q, "Q", scan=True)
    if G is None:
        return items, None
    gallery = as_items(G, "G", scan=True)
    if gallery.shape[1] != items.shape[1]:
        raise ValueError(
            f"Q and G must have the same columns, got {items.shape[1]} and {gallery.shape[1]}."
        )
    if items.sparse != gallery.sparse:
        raise ValueError("Q and G must be both dense or both sparse, got one of each.")
    return items, gallery


def _ranks(k: Any, most: int) -> list[int]:
    given = list(k) if isinstance(k, Iterable) and not isinstance(k, str) else [k]
    if not given:
        raise ValueError("k is empty, expected at least one rank.")
    return [check_integer("k", rank, 1, most) for rank in given]


def _check_roles(y_q: Any, G: Any, y_g: Any, relevant: Any) -> None:
    """Raise unless relevance is given in exactly one way, and completely."""
    if relevant is not None and (y_q is not None or y_g is not None):
        raise ValueError("relevant stands instead of y_q and y_g, expected only one of the two.")
    if relevant is None and y_q is None:
        raise ValueError("y_q and relevant are None, expected labels or lists of relevant rows.")
    if G is None and y_g is not None:
        raise ValueError("y_g is given but G is None, expected the rows that it labels.")
    if relevant is None and G is not None and y_g is None:
        raise ValueError("G is given but y_g is None, expected a label for each row of G.")


def overall_scores(query: Ints, rank: Ints, n: int) -> dict[str, Floats]:
    """Scores of whole rankings per query, from the ranks of all of its relevant items.

    Parameters
    ----------
    query : (r,) the query of each relevant item, ascending
    rank : (r,) its rank 1, 2, ..., ascending within a query
    n : number of queries

    Returns
    -------
    dict from "map" and "mrr" to (n,) arrays, NaN for queries without a relevant item
    """
    R = np.bincount(query, minlength=n)
    first = np.cumsum(R) - R
    number = 1 + places(R)  # of the relevant items found up to and including this one
    some = R > 0
    scores = {name: np.full(n, np.nan) for name in OVERALL}
    scores["map"][some] = np.bincount(query, number / rank, n)[some] / R[some]
    scores["mrr"][some] = 1.0 / rank[first[some]]
    return scores


def scores_at(query: Ints, rank: Ints, R: Ints, ranks: list[int]) -> dict[str, Floats]:
    """Scores at some ranks per query, from the ranks of the relevant items near it.

    Parameters
    ----------
    query, rank : as in `overall_scores`; items beyond the largest of ``ranks`` may be left out
    R : (n,) number of relevant items of each query, near or not
    ranks : the values of k to score at

    Returns
    -------
    dict from names such as "hit@5" to (n,) arrays, NaN for queries without a relevant item
    """
    n, some = len(R), R > 0
    gain = 1.0 / np.log2(1.0 + rank)
    # The best DCG for 1, 2, ... relevant items within the k nearest.
    ideal = np.cumsum(1.0 / np.log2(np.arange(2, max(ranks) + 2)))
    scores = {}
    for k in ranks:
        near = rank <= k
        hits = np.bincount(query[near], minlength=n)
        dcg = np.bincount(query[near], gain[near], n)
        # Queries with R = 0 get the entry of 1 here, and NaN below.
        best = ideal[np.clip(R, 1, k) - 1]
        for kind, value in zip(
            AT_RANK, (hits / k, hits / np.maximum(R, 1), hits > 0, dcg / best), strict=True
        ):
            scores[f"{kind}@{k}"] = np.where(some, value, np.nan)
    return scores


def _gathered(values: dict[str, Floats], counts: Any) -> RetrievalScores:
    """Average the scores over the queries that count: those with a relevant item."""
    queries = np.flatnonzero(counts)
    left_out = len(counts) - len(queries)
    if len(queries) == 0:
        raise ValueError(
            f"none of the {left_out} queries in Q has a relevant item in the gallery; expected "
            "labels (y_q, y_g) or lists (relevant) that name some."
        )
    if left_out:
        warn(
            f"{left_out} of {len(counts)} queries have no relevant item in the gallery and are "
            "left out.",
            UserWarning,
        )
    per_query = {name: value[queries] for name, value in values.items()}
    means = {name: float(value.mean()) for name, value in per_query.items()}
    return RetrievalScores(means, left_out, per_query, queries)
