"""Search under the metric by inner product: exact with one more column, or with queries alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._support.checks import as_floats
from .._support.typing import Dense, Floats
from ..learning.estimators.metric import components_of
from ..linalg.items import Items, as_items

__all__ = ["as_dense", "augment_queries", "augment_rows", "query_only"]


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
    items = as_dense(metric, X, "X")
    augmented = np.empty((len(items), items.shape[1] + 1), dtype=items.dtype)
    augmented[:, :-1] = items.rows(slice(None))
    # In float64 until it is stored: in float32 every term of the sum would round.
    mapped = items.mapped(components_of(metric), exact=True)
    augmented[:, -1] = _half_squares(mapped, items.dtype)
    return augmented


def augment_queries(metric: Any, Q: Any) -> Dense:
    """Queries ``[Mq, 1]``: the larger the inner product with a row, the nearer the row.

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
    """Queries ``M (q - centre)``, to search raw rows by inner product.

    The inner product leaves out the term ``(x - centre)'M(x - centre)`` of the distance. This term
    is smallest on average if the centre is the mean of the indexed rows.

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
    items, components = as_dense(metric, Q, "Q"), components_of(metric)
    away = items
    if centre is not None:  # first: a large offset would cancel badly in the products
        away = items.astype(np.float64).centred(_vector(centre, items.shape[1]))
    # Two thin products: M itself would have D x D numbers.
    return away.mapped(components, exact=True).times(components).astype(items.dtype)


def as_dense(metric: Any, X: Any, name: str, **checks: bool) -> Items:
    """Check that X is dense and has the metric's columns; ``checks`` as in `as_items`."""
    D = components_of(metric).shape[1]
    table = as_items(X, name, sparse=False, **checks)
    if table.shape[1] != D:
        raise ValueError(f"{name} must have {D} columns, as the metric has, got {table.shape[1]}.")
    return table


def _half_squares(mapped: Items, dtype: npt.DTypeLike) -> Floats:
    """``-||x||^2 / 2`` of mapped rows; raises ValueError if the type cannot hold these numbers."""
    # Unlike distances, they are stored: no power of two can bring them into the range.
    size = max(float(np.abs(bound).max()) for bound in mapped.extremes)
    info = np.finfo(dtype)
    low, high = np.sqrt([float(info.tiny) / float(info.eps), float(info.max) / mapped.shape[1]])
    if size > 0.0 and not low < size < high:
        raise ValueError(
            f"X: rows under the metric have entries up to {size:.2g}, and {np.dtype(dtype)} cannot "
            f"hold their squares; expected {low:.1g} to {high:.1g}. Multiply X by a constant."
        )
    return -0.5 * mapped.squared_norms()


def _vector(centre: Any, D: int) -> Floats:
    vector = as_floats("centre", centre)
    if vector.shape != (D,):
        raise ValueError(f"centre must be {D} finite numbers, got shape {vector.shape}.")
    return vector
