"""A Faiss index that maps what it is given: raw rows in, distances under the metric out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import Dense
from ..files import replacing
from ..inputs import as_items
from .target import components_of, needed

__all__ = ["faiss_index", "write_faiss"]


def faiss_index(metric: Any, rows: Any = None, *, factory: str = "Flat") -> Any:
    """A ``faiss.IndexPreTransform`` whose distances are squared distances under the metric.

    It is smaller than an index of raw rows: k numbers a row, not D.

    Parameters
    ----------
    metric : a fitted metric
    rows : (n, D), dense, default=None
        Rows to train the index with, where it needs that, and to add to it.
    factory : str, default="Flat"
        What holds the mapped rows, in the words of ``faiss.index_factory``: "Flat" is exact,
        "HNSW32" and "IVF1024,Flat" are faster.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.exports import faiss_index
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    >>> metric = SDPMetric(tol=1e-2).fit(X, y)
    >>> index = faiss_index(metric, X)
    >>> distances, nearest = index.search(X[:2].astype(np.float32), 3)
    >>> nearest[:, 0].tolist()
    [0, 1]
    """
    faiss = needed("faiss", "A Faiss index", "'sdpmetric[faiss]'")
    components = components_of(metric)
    k, D = components.shape
    try:
        base = faiss.index_factory(k, factory)
    except (RuntimeError, TypeError):
        raise ValueError(
            f"factory must be a description that faiss.index_factory knows, such as 'Flat' or "
            f"'HNSW32', got {factory!r}."
        ) from None
    linear = faiss.LinearTransform(D, k, False)
    faiss.copy_array_to_vector(components.astype(np.float32).ravel(), linear.A)
    linear.is_trained = True
    index = faiss.IndexPreTransform(linear, base)
    if rows is not None:
        table = _rows(rows, D)
        if not index.is_trained:
            index.train(table)
        index.add(table)
    return index


def write_faiss(metric: Any, path: Path, *, rows: Any = None, factory: str = "Flat") -> None:
    """The index of `faiss_index`, for ``faiss.read_index``."""
    index = faiss_index(metric, rows, factory=factory)
    faiss = needed("faiss", "A Faiss index", "'sdpmetric[faiss]'")
    with replacing(path) as temporary:
        faiss.write_index(index, str(temporary))


def _rows(rows: Any, D: int) -> Dense:
    if sp.issparse(rows):
        raise ValueError("rows must be dense for Faiss, got a sparse matrix.")
    table: Dense = np.ascontiguousarray(as_items(rows, "rows"), dtype=np.float32)
    if table.shape[1] != D:
        raise ValueError(f"rows must have {D} columns, as the metric has, got {table.shape[1]}.")
    return table
