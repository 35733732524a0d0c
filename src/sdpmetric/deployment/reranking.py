"""Rank candidates again by the true distance, and measure the recall of such a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._support.checks import check_integer
from .._support.typing import Dense, Floats, Ints
from ..evaluation.ranking import Ranking
from ..learning.estimators.metric import components_of
from ..linalg.blocks import LARGE_BYTES, blocks
from ..linalg.items import Items, items_of
from ..linalg.scaling import lengths, power_of_two
from .inner_product import as_dense, query_only

__all__ = ["rerank", "rerank_recall"]


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
    distances : (m, k), ascending, not squared; infinite if there are fewer candidates
    nearest : (m, k) rows of X, -1 if there are fewer; among equal distances the lower row first
    """
    queries = as_dense(metric, Q, "Q")
    # Only the candidates are looked at: a check of all rows would take longer than the query.
    rows = as_dense(metric, X, "X", finite=False)
    found = _candidates(candidates, len(queries), len(rows))
    k = check_integer("k", k, 1, found.shape[1])
    components = components_of(metric)
    distances = np.empty((len(queries), k))
    nearest = np.empty((len(queries), k), dtype=np.int64)
    # A copy of every candidate's row would be r times as large as Q: blocks bound it.
    for block in blocks(len(queries), found.shape[1] * rows.shape[1], LARGE_BYTES):
        part = found[block]
        near = rows.rows(part)
        _check_finite(near, part)
        near[part < 0] = 0.0  # -1 has taken the last row, which may hold anything
        # From differences: equal rows are then at distance zero, and at equal distances.
        away = lengths(near, queries.rows(block)[:, None], components)
        away[part < 0] = np.inf  # no real candidate may be behind it
        order = np.lexsort((part, away), axis=1)[:, :k]
        distances[block] = np.take_along_axis(away, order, axis=1)
        nearest[block] = np.take_along_axis(part, order, axis=1)
    return distances, nearest


def rerank_recall(
    metric: Any,
    Q: Any,
    X: Any,
    k: int = 10,
    n_candidates: int | Iterable[int] = (10, 100, 1000),
    search: Callable[[Dense, int], Any] | None = None,
) -> dict[int, float]:
    """The share of the k truly nearest rows that a search by `query_only` and `rerank` finds.

    Parameters
    ----------
    metric : a fitted metric
    Q : (m, D) queries, dense
    X : (n, D) rows, dense; their mean is the centre of `query_only`
    k : int, default=10
    n_candidates : int or list of int, default=(10, 100, 1000)
        Number of candidates that are ranked again.
    search : function, default=None
        ``search(queries, r)`` gives the r rows of X of largest inner product, best first, as your
        index finds them: ``lambda q, r: index.search(q, r)[1]`` for Faiss. None: exact search.

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
    items, rows = as_dense(metric, Q, "Q"), as_dense(metric, X, "X")
    k = check_integer("k", k, 1, len(rows))
    listed = [*n_candidates] if isinstance(n_candidates, Iterable) else [n_candidates]
    sizes = [check_integer("n_candidates", r, k) for r in listed]
    # One search for the largest number: smaller numbers are the first of its candidates.
    deepest = min(max(sizes), len(rows))
    queries = query_only(metric, items.raw, rows.mean())
    if search is None:
        candidates = _largest_products(items_of(queries), rows, deepest)
    else:
        candidates = _candidates(search(queries, deepest), len(items), len(rows))
    components = components_of(metric)
    ranking = Ranking(items.mapped(components, exact=True), rows.mapped(components, exact=True))
    found = np.zeros((len(items), len(sizes)))
    for block in ranking.blocks(slice(0, len(items)), k):
        for i, nearest in enumerate(ranking.nearest(block, k), block.start):
            found[i] = [np.isin(nearest, candidates[i, :r]).mean() for r in sizes]
    return dict(zip(sizes, found.mean(axis=0).tolist(), strict=True))


def _largest_products(queries: Items, X: Items, r: int) -> Ints:
    """The r rows of X of largest inner product with each query, best first."""
    # Powers of two change no order, but products of extreme entries would over- or underflow.
    rows = X.rescaled()[0]
    size = max(float(np.abs(bound).max()) for bound in queries.extremes)
    queries = queries.multiplied(power_of_two(size, queries.dtype))
    found = np.empty((len(queries), r), dtype=np.int64)
    for block in blocks(len(queries), len(rows), LARGE_BYTES):
        products = queries.products(block, rows, slice(0, len(rows)))
        # Stable: ties go to the lower row, as in the rest of the library.
        found[block] = np.argsort(-products, axis=1, kind="stable")[:, :r]
    return found


def _check_finite(near: Floats, candidates: Ints) -> None:
    """Raise if a candidate's row is not finite; -1, which stands for none, is not looked at."""
    bad = candidates[~np.isfinite(near).all(axis=2) & (candidates >= 0)]
    if len(bad):
        raise ValueError(f"X contains NaN or infinity in row {bad[0]}, expected finite numbers.")


def _candidates(given: Any, m: int, n: int) -> Ints:
    """Check the candidates that a user or an index gave."""
    found = np.asarray(given)
    if found.ndim != 2 or len(found) != m or found.dtype.kind not in "iu" or not found.size:
        raise ValueError(
            f"candidates must be integers of shape ({m}, r), a row for each query, got shape "
            f"{found.shape} of {found.dtype}."
        )
    # Faiss fills a row with -1 if its search finds too few.
    if not -1 <= found.min() <= found.max() < n:
        raise ValueError(
            f"candidates must be rows of X, 0 to {n - 1}, or -1 for none; got {found.min()} to "
            f"{found.max()}."
        )
    return found.astype(np.int64)
