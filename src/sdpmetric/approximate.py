"""Nearest rows of the same and of other classes for very many rows, approximately, by Faiss.

Rows are grouped around centres and only the groups nearest to a row are searched, of those that
hold any row of the right class; what is found is ranked by exact distances. A row for which that
finds too few is searched exactly.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._typing import Ints, Items
from .nearest import Centred
from .products import blocks, squared_differences
from .progress import Report
from .threads import count

__all__ = ["approximately_nearest_by_class"]

_SPARE = 2  # more than asked for, so that the exact ranking has something to choose from
_QUERIES = 1 << 14
_PROBES = 16  # groups to search, at least
_TRAINING = 64  # rows for each centre


def approximately_nearest_by_class(
    X: Items, y: Ints, n_same: int, n_other: int, report: Report | None = None
) -> tuple[Ints, Ints]:
    """As `nearest_by_class`, nearly always: some of the rows may be near, but not the nearest."""
    if sp.issparse(X):
        raise ValueError("neighbors='approximate' needs dense X, got a sparse matrix.")
    faiss: Any = import_module("faiss")
    faiss.omp_set_num_threads(count())
    n = len(y)
    order = np.argsort(y, kind="stable")  # so that a class is a range of the index
    bounds = np.concatenate([[0], np.cumsum(np.bincount(y))])
    table = Centred(X)
    index, group = _index(faiss, table, order)
    sizes = np.bincount(group, minlength=index.nlist)
    centres = index.quantizer.reconstruct_n(0, index.nlist)
    same = np.full((n, n_same), -1, dtype=np.int64)
    other = np.full((n, n_other), -1, dtype=np.int64)
    for low, high in pairwise(bounds.tolist()):
        own = faiss.IDSelectorRange(low, high)
        held = np.bincount(group[low:high], minlength=index.nlist)
        searches = (
            (same, own, high - low - 1, np.flatnonzero(held)),
            (other, faiss.IDSelectorNot(own), n - (high - low), np.flatnonzero(sizes > held)),
        )
        for start in range(low, high, _QUERIES):
            rows = order[start : min(start + _QUERIES, high)]
            queries = table.rows(rows)
            for out, selector, there, groups in searches:
                wanted = min(out.shape[1], there)
                if wanted == 0:
                    continue
                probes = min(len(groups), max(_PROBES, index.nlist // 64))
                distances, nearest = faiss.knn(queries, centres[groups], probes)
                found = _search(
                    faiss, index, queries, groups[nearest], distances, selector, wanted + 1 + _SPARE
                )
                found = np.where(found >= 0, order[found], -1)
                out[rows, :wanted] = _ranked(X, y, rows, found, wanted, out is same)
            if report is not None:
                report(start + len(rows), n)
    return same, other


def _index(faiss: Any, table: Centred, order: Ints) -> tuple[Any, Ints]:
    """An inverted-file index of the rows in the given order, and the group of each of them."""
    n, D = table.X.shape
    lists = max(1, min(int(4.0 * np.sqrt(n)), n // _TRAINING))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(D), D, lists)
    sample = np.random.default_rng(0).choice(n, min(n, lists * _TRAINING), replace=False)
    index.train(table.rows(np.sort(sample)))
    group = np.empty(n, dtype=np.int64)
    for block in blocks(n, D, 1 << 26):
        rows = table.rows(order[block])
        group[block] = index.quantizer.search(rows, 1)[1][:, 0]
        index.add_core(len(rows), faiss.swig_ptr(rows), None, faiss.swig_ptr(group[block]))
    return index, group


def _search(
    faiss: Any, index: Any, queries: Any, groups: Ints, distances: Any, selector: Any, k: int
) -> Ints:
    """The k nearest rows in the given groups that a selector admits, -1 for none.

    Faiss's own wrapper takes groups or a selector, not both.
    """
    options = faiss.SearchParametersIVF(sel=selector, nprobe=groups.shape[1])
    groups = np.ascontiguousarray(groups, dtype=np.int64)
    found, far = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
    pointers = [faiss.swig_ptr(a) for a in (groups, distances, far, found)]
    index.search_preassigned_c(
        len(queries), faiss.swig_ptr(queries), k, *pointers, False, options, None
    )
    return found


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
