"""Candidates ranked again by the true distance, and what is lost by looking at no others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._typing import Dense, Floats, Ints
from ..exports.target import components_of
from ..products import blocks
from ..ranking import Ranking
from ..validation import check_integer
from .inner_product import as_dense, mapped, query_only

__all__ = ["rerank", "rerank_recall"]

BLOCK_BYTES = 1 << 26  # of candidates, or of inner products


def rerank(metric: Any, Q: Any, X: Any, candidates: Any, k: int = 10) -> tuple[Floats, Ints]:
    """The k nearest of each query's candidates, by the true distance.

    Parameters
    ----------
    metric : a fitted metric
    Q : (m, D) queries, dense
    X : (n, D) rows, dense
    candidates : (m, r) rows of X for each query, in any order; -1 stands for none
    k : int, default=10

    Returns
    -------
    distances : (m, k), ascending, not squared; infinite where there was no candidate
    nearest : (m, k) rows of X, -1 where there was none; of equals the lower row first
    """
    Q, X = as_dense(metric, Q, "Q"), as_dense(metric, X, "X")
    found = _candidates(candidates, len(Q), len(X))
    k = check_integer("k", k, 1, found.shape[1])
    components = components_of(metric)
    distances, nearest = np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.int64)
    for block in blocks(len(Q), found.shape[1] * X.shape[1], BLOCK_BYTES):
        some = found[block]
        # Differences first: equal rows are then at distance zero, and at equal distances.
        apart = X[some].astype(np.float64) - Q[block, None]
        away = np.linalg.norm(apart @ components.T, axis=2)
        away[some < 0] = np.inf
        order = np.lexsort((some, away), axis=1)[:, :k]
        distances[block] = np.take_along_axis(away, order, axis=1)
        nearest[block] = np.take_along_axis(some, order, axis=1)
    return distances, nearest


def rerank_recall(
    metric: Any,
    Q: Any,
    X: Any,
    k: int = 10,
    n_candidates: int | Iterable[int] = (10, 100, 1000),
    search: Callable[[Dense, int], Any] | None = None,
) -> dict[int, float]:
    """How many of the k truly nearest rows a search by `query_only` and `rerank` finds.

    Parameters
    ----------
    metric : a fitted metric
    Q : (m, D) queries, dense
    X : (n, D) rows, dense; their mean is the centre of `query_only`
    k : int, default=10
    n_candidates : int or list of int, default=(10, 100, 1000)
        How many candidates are ranked again.
    search : function, default=None
        ``search(queries, r)`` gives the r rows of X of largest inner product, best first, as your
        index finds them: ``lambda q, r: index.search(q, r)[1]`` for Faiss. None: exactly.

    Returns
    -------
    dict from number of candidates to the mean share of the k nearest that are among them

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.deployment import rerank_recall
    >>> X, y = load_digits(return_X_y=True)
    >>> metric = SDPMetric().fit(X[200:], y[200:])
    >>> recall = rerank_recall(metric, X[:200], X[200:], k=10, n_candidates=[10, 200])
    >>> recall[10] < 0.5, recall[200] > 0.95  # without ranking again, and with
    (True, True)
    """
    Q, X = as_dense(metric, Q, "Q"), as_dense(metric, X, "X")
    k = check_integer("k", k, 1, len(X))
    listed = [*n_candidates] if isinstance(n_candidates, Iterable) else [n_candidates]
    sizes = [check_integer("n_candidates", r, k) for r in listed]
    deepest = min(max(sizes), len(X))
    queries = query_only(metric, Q, X.mean(axis=0, dtype=np.float64))
    given = _largest_products(queries, X, deepest) if search is None else search(queries, deepest)
    candidates = _candidates(given, len(Q), len(X))
    ranking = Ranking(mapped(metric, Q), mapped(metric, X))
    found = np.zeros((len(Q), len(sizes)))
    for block in ranking.blocks(slice(0, len(Q))):
        for i, nearest in enumerate(ranking.order(block)[:, :k], block.start):
            found[i] = [np.isin(nearest, candidates[i, :r]).mean() for r in sizes]
    return dict(zip(sizes, found.mean(axis=0).tolist(), strict=True))


def _largest_products(queries: Dense, X: Dense, r: int) -> Ints:
    found = np.empty((len(queries), r), dtype=np.int64)
    for block in blocks(len(queries), len(X), BLOCK_BYTES):
        products = queries[block] @ X.T
        found[block] = np.argsort(-products, axis=1, kind="stable")[:, :r]
    return found


def _candidates(given: Any, m: int, n: int) -> Ints:
    found = np.asarray(given)
    if found.ndim != 2 or len(found) != m or found.dtype.kind not in "iu" or not found.size:
        raise ValueError(
            f"candidates must be integers of shape ({m}, r), a row for each query, got shape "
            f"{found.shape} of {found.dtype}."
        )
    if not -1 <= found.min() <= found.max() < n:
        raise ValueError(
            f"candidates must be rows of X, 0 to {n - 1}, or -1 for none; got {found.min()} to "
            f"{found.max()}."
        )
    return found.astype(np.int64)
