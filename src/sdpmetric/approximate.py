"""Nearest rows of the same and of other classes for very many rows, approximately, by Faiss.

Rows are grouped around centres and only the groups nearest to a row are searched; what is found is
ranked by exact distances. A row for which that finds too few is searched exactly.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._typing import Ints, Items
from .products import blocks, squared_differences
from .progress import Report
from .threads import over

__all__ = ["approximately_nearest_by_class"]

_SPARE = 2  # more than asked for, so that the exact ranking has something to choose from
_QUERIES = 1 << 14
_TRAINING = 64  # rows for each centre


def approximately_nearest_by_class(
    X: Items, y: Ints, n_same: int, n_other: int, report: Report | None = None
) -> tuple[Ints, Ints]:
    """As `nearest_by_class`, nearly always: some of the rows may be near, but not the nearest."""
    if sp.issparse(X):
        raise ValueError("neighbors='approximate' needs dense X, got a sparse matrix.")
    faiss: Any = import_module("faiss")
    threads = len(over(1 << 20, lambda part: part))
    faiss.omp_set_num_threads(threads)
    n = len(y)
    order = np.argsort(y, kind="stable")  # so that a class is a range of the index
    bounds = np.concatenate([[0], np.cumsum(np.bincount(y))])
    mean = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    index, probes = _index(faiss, X, order, mean)
    same = np.full((n, n_same), -1, dtype=np.int64)
    other = np.full((n, n_other), -1, dtype=np.int64)
    for low, high in pairwise(bounds.tolist()):
        own = faiss.IDSelectorRange(int(low), int(high))
        groups = (same, own, high - low - 1), (other, faiss.IDSelectorNot(own), n - (high - low))
        for start in range(low, high, _QUERIES):
            rows = order[start : min(start + _QUERIES, high)]
            queries = _float32(X, rows, mean)
            for out, selector, there in groups:
                wanted = min(out.shape[1], int(there))
                options = faiss.SearchParametersIVF(sel=selector, nprobe=probes)
                found = index.search(queries, wanted + 1 + _SPARE, params=options)[1]
                found = np.where(found >= 0, order[found], -1)
                out[rows, :wanted] = _ranked(X, y, rows, found, wanted, out is same)
            if report is not None:
                report(start + len(rows), n)
    return same, other


def _index(faiss: Any, X: Items, order: Ints, mean: Any) -> tuple[Any, int]:
    """An inverted-file index of the rows in the given order, and how many lists to probe."""
    n, D = X.shape
    lists = max(1, min(int(4.0 * np.sqrt(n)), n // _TRAINING))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(D), D, lists)
    sample = np.random.default_rng(0).choice(n, min(n, lists * _TRAINING), replace=False)
    index.train(_float32(X, np.sort(sample), mean))
    for block in blocks(n, D, 1 << 26):
        index.add(_float32(X, order[block], mean))
    return index, min(lists, max(16, lists // 64))


def _float32(X: Items, rows: Ints, mean: Any) -> Any:
    return np.ascontiguousarray(X[rows] - mean, dtype=np.float32)


def _ranked(X: Items, y: Ints, rows: Ints, found: Ints, k: int, same: bool) -> Ints:
    """The k nearest of what was found, by exact distances; all rows where it was too little."""
    found = np.where(found == rows[:, None], -1, found)
    distances = np.full(found.shape, np.inf)
    at, column = np.nonzero(found >= 0)
    distances[at, column] = squared_differences(X, rows[at], found[at, column])
    ranking = np.lexsort((found, distances), axis=1)[:, :k]
    nearest: Ints = np.take_along_axis(found, ranking, axis=1)
    for short in np.flatnonzero((nearest < 0).any(axis=1)):
        row = rows[short]
        others = np.flatnonzero((y == y[row]) == same)
        others = others[others != row]
        exact = squared_differences(X, np.full(len(others), row), others)
        nearest[short] = others[np.lexsort((others, exact))[:k]]
    return nearest
