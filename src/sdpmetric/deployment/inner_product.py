"""Nearest under the metric as the largest inner product, exactly or nearly."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Dense, Floats
from ..exports.target import components_of
from ..inputs import as_items
from ..products import blocks

__all__ = ["as_dense", "augment_queries", "augment_rows", "mapped", "query_only"]


def augment_rows(metric: Any, X: Any) -> Dense:
    """Rows ``[x, -x'Mx / 2]`` for an index of inner products; see `augment_queries`.

    Parameters
    ----------
    metric : a fitted metric
    X : (n, D), dense

    Returns
    -------
    (n, D + 1) array of X's precision
    """
    X = as_dense(metric, X, "X")
    augmented = np.empty((len(X), X.shape[1] + 1), dtype=X.dtype)
    augmented[:, :-1] = X
    augmented[:, -1] = -0.5 * np.sum(mapped(metric, X) ** 2, axis=1)
    return augmented


def augment_queries(metric: Any, Q: Any) -> Dense:
    """Queries ``[Mq, 1]``: the larger the inner product with a row, the nearer it is.

    ``q'Mx - x'Mx / 2`` is half of ``q'Mq`` less the squared distance, and q'Mq is the same for all.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.deployment import augment_queries, augment_rows
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    >>> metric = SDPMetric(tol=1e-2).fit(X, y)
    >>> products = augment_queries(metric, X[:5] + 0.1) @ augment_rows(metric, X).T
    >>> nearest = metric.pairwise_distances(X[:5] + 0.1, X).argmin(axis=1)
    >>> np.array_equal(products.argmax(axis=1), nearest)
    True
    """
    queries = query_only(metric, Q)
    return np.hstack([queries, np.ones((len(queries), 1), dtype=queries.dtype)])


def query_only(metric: Any, Q: Any, centre: Any = None) -> Dense:
    """``M (q - centre)``, to search untouched rows by inner product.

    What this leaves out of the distance is ``(x - centre)'M(x - centre)``, so it misses least if
    the centre is the mean of the indexed rows.

    Parameters
    ----------
    metric : a fitted metric
    Q : (n, D) queries, dense
    centre : (D,) array, default=None
        None: zero.

    Returns
    -------
    (n, D) array of Q's precision
    """
    Q = as_dense(metric, Q, "Q")
    away = Q if centre is None else Q - _vector(centre, Q.shape[1])
    multiplied: Dense = (mapped(metric, away) @ components_of(metric)).astype(Q.dtype)
    return multiplied


def mapped(metric: Any, X: Dense) -> Floats:
    """`transform` of checked rows in float64, without a float64 copy of them all."""
    components = components_of(metric)
    rows = np.empty((len(X), len(components)))
    for block in blocks(*X.shape):
        rows[block] = X[block].astype(np.float64) @ components.T
    return rows


def as_dense(metric: Any, X: Any, name: str) -> Dense:
    """Rows of the metric's features."""
    D = components_of(metric).shape[1]
    if sp.issparse(X):
        raise ValueError(f"{name} must be dense, got a sparse matrix.")
    table: Dense = as_items(X, name)
    if table.shape[1] != D:
        raise ValueError(f"{name} must have {D} columns, as the metric has, got {table.shape[1]}.")
    return table


def _vector(centre: Any, D: int) -> Floats:
    vector = np.asarray(centre, dtype=np.float64)
    if vector.shape != (D,) or not np.isfinite(vector).all():
        raise ValueError(f"centre must be {D} finite numbers, got {centre!r}.")
    return vector
