"""A Faiss index that takes raw rows and returns distances under the metric."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..._support.files import replacing
from ..._support.optional import require
from ..._support.typing import Dense
from ...learning.estimators.metric import components_of
from ...linalg.items import as_items
from .faiss_process import build_index


def faiss_index(metric: Any, rows: Any = None, *, factory: str = "Flat") -> Any:
    """Make a ``faiss.IndexPreTransform`` whose distances are squared distances under the metric.

    The index maps rows and queries itself. It is smaller than an index of raw rows: k numbers per
    row, not D.

    Parameters
    ----------
    metric : a fitted metric
    rows : (n, D), dense, default=None
        Rows to add to the index, and to train it with if it needs training.
    factory : str, default="Flat"
        The index of the mapped rows, as ``faiss.index_factory`` names it: "Flat" is exact,
        "HNSW32" and "IVF1024,Flat" are faster. Any but "Flat" is built in a process of its own,
        since some descriptions make Faiss crash.

    Returns
    -------
    faiss.IndexPreTransform

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.deployment.exports import faiss_index
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    >>> metric = SDPMetric(tol=1e-2).fit(X, y)
    >>> index = faiss_index(metric, X)
    >>> distances, nearest = index.search(X[:2].astype(np.float32), 3)
    >>> nearest[:, 0].tolist()
    [0, 1]
    """
    faiss = require("faiss", "A Faiss index")
    components = components_of(metric)
    k, D = components.shape
    linear = faiss.LinearTransform(D, k, False)
    faiss.copy_array_to_vector(components.astype(np.float32).ravel(), linear.A)
    linear.is_trained = True  # or index.train would replace the components by its own
    mapped = None if rows is None else linear.apply(_rows(rows, D))
    return faiss.IndexPreTransform(linear, build_index(k, factory, mapped))


def write_faiss(metric: Any, path: Path, *, rows: Any = None, factory: str = "Flat") -> None:
    """Write the index of `faiss_index`; ``faiss.read_index`` reads it."""
    index = faiss_index(metric, rows, factory=factory)
    faiss = require("faiss", "A Faiss index")
    with replacing(path) as temporary:
        # Not by its name: Faiss only prints a line if the disk is full when it closes a file.
        with open(temporary, "wb") as file:
            faiss.write_index(index, faiss.PyCallbackIOWriter(file.write))
        found = faiss.read_index(str(temporary))
        if (found.d, found.ntotal) != (index.d, index.ntotal):
            raise OSError("the index that was written is not the one that is read back")


def _rows(rows: Any, D: int) -> Dense:
    items = as_items(rows, "rows", sparse=False)
    # Faiss reads memory directly: float32, row after row.
    table: Dense = np.ascontiguousarray(items.raw, dtype=np.float32)
    if table.shape[1] != D:
        raise ValueError(f"rows must have {D} columns, as the metric has, got {table.shape[1]}.")
    return table
