"""Approximate search for the nearest rows of the same and of other classes, by Faiss.

Rows are grouped around centres. For each row the search looks at the nearest groups that hold any
row of the right class, and ranks the rows found by exact distances. If it finds too few for a row,
that row is searched exactly.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from .._support.progress import Report
from .._support.typing import Ints
from ..engines.threads import n_threads
from ..linalg.blocks import LARGE_BYTES, blocks
from ..linalg.items import Items
from ..linalg.lower_bounds import CentredRows

__all__ = ["approximately_nearest_by_class"]

_SPARE = 2  # rows beyond those asked for, so that exact distances can correct float32's ranking
_QUERIES = 1 << 14  # rows searched at a time: bounds memory, and sets how often progress is shown
_PROBES = 16  # groups to search, at least
_TRAINING = 64  # rows for each centre; k-means below 39 makes Faiss warn


def approximately_nearest_by_class(
    X: Items,
    y: Ints,
    n_same: int,
    n_other: int,
    report: Report | None = None,
    anchors: int | None = None,
) -> tuple[Ints, Ints]:
    """Do what `nearest_by_class` does, approximately: some rows found may not be the nearest."""
    if X.sparse:
        raise ValueError("neighbors='approximate' needs dense X, got a sparse matrix.")
    faiss: Any = import_module("faiss")
    faiss.omp_set_num_threads(n_threads())
    n = len(y)
    order = np.argsort(y, kind="stable")  # so that a class is a range of the index
    bounds = np.concatenate([[0], np.cumsum(np.bincount(y))])
    table = CentredRows(X)
    index, group = _index(faiss, table, order)
    sizes = np.bincount(group, minlength=index.nlist)
    centres = index.quantizer.reconstruct_n(0, index.nlist)
    searching = n if anchors is None else min(n, anchors)
    same = np.full((searching, n_same), -1, dtype=np.int64)
    other = np.full((searching, n_other), -1, dtype=np.int64)
    for low, high in pairwise(bounds.tolist()):
        # Groups without a row of the right class are not probed: the groups nearest to a row deep
        # inside its class hold no other class (docs/performance.md).
        own = faiss.IDSelectorRange(low, high)
        held = np.bincount(group[low:high], minlength=index.nlist)
        searches = (
            (same, own, high - low - 1, np.flatnonzero(held)),
            (other, faiss.IDSelectorNot(own), n - (high - low), np.flatnonzero(sizes > held)),
        )
        for start in range(low, high, _QUERIES):
            rows = order[start : min(start + _QUERIES, high)]
            rows = rows[rows < searching]
            if not len(rows):
                continue
            queries = table.rows(rows)
            for out, selector, there, groups in searches:
                wanted = min(out.shape[1], there)
                if wanted == 0:
                    continue
                # A fixed number of probes would look at ever fewer rows as groups become more.
                probes = min(len(groups), max(_PROBES, index.nlist // 64))
                distances, nearest = faiss.knn(queries, centres[groups], probes)
                # One more, since a row finds itself.
                k = wanted + 1 + _SPARE
                found = _search(faiss, index, queries, groups[nearest], distances, selector, k)
                found = np.where(found >= 0, order[found], -1)
                out[rows, :wanted] = _ranked(X, y, rows, found, wanted, out is same)
            if report is not None:
                report(start + len(rows), n)
    return same, other


def _index(faiss: Any, table: CentredRows, order: Ints) -> tuple[Any, Ints]:
    """Build an inverted-file index of the rows in the given order; return it and their groups."""
    n, D = table.items.shape
    # 4 sqrt(n) lists, as Faiss's guidelines advise, unless there are too few rows to train them.
    lists = max(1, min(int(4.0 * np.sqrt(n)), n // _TRAINING))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(D), D, lists)
    sample = np.random.default_rng(0).choice(n, min(n, lists * _TRAINING), replace=False)
    index.train(table.rows(np.sort(sample)))
    group = np.empty(n, dtype=np.int64)
    for block in blocks(n, D, LARGE_BYTES):
        rows = table.rows(order[block])
        # The quantizer by hand, since `index.add` would not say which group a row is in.
        group[block] = index.quantizer.search(rows, 1)[1][:, 0]
        index.add_core(len(rows), faiss.swig_ptr(rows), None, faiss.swig_ptr(group[block]))
    return index, group


def _search(
    faiss: Any, index: Any, queries: Any, groups: Ints, distances: Any, selector: Any, k: int
) -> Ints:
    """Return the k nearest rows in the given groups that a selector admits, -1 for none.

    Faiss's own wrapper takes groups or a selector, not both.
    """
    options = faiss.SearchParametersIVF(sel=selector, nprobe=groups.shape[1])
    groups = np.ascontiguousarray(groups, dtype=np.int64)
    found = np.empty((len(queries), k), np.int64)
    found_distances = np.empty((len(queries), k), np.float32)
    pointers = [faiss.swig_ptr(a) for a in (groups, distances, found_distances, found)]
    index.search_preassigned_c(
        len(queries), faiss.swig_ptr(queries), k, *pointers, False, options, None
    )
    return found


def _ranked(X: Items, y: Ints, rows: Ints, found: Ints, k: int, same: bool) -> Ints:
    """Return the k nearest of the rows found, by exact distances; search all rows if too few."""
    found = np.where(found == rows[:, None], -1, found)
    distances = np.full(found.shape, np.inf)
    at, column = np.nonzero(found >= 0)
    distances[at, column] = X.squared_differences(rows[at], found[at, column])
    ranking = np.lexsort((found, distances), axis=1)[:, :k]
    nearest: Ints = np.take_along_axis(found, ranking, axis=1)
    for short in np.flatnonzero((nearest < 0).any(axis=1)):
        row = rows[short]
        others = np.flatnonzero((y == y[row]) == same)
        others = others[others != row]
        exact = X.squared_differences(np.full(len(others), row), others)
        nearest[short] = others[np.lexsort((others, exact))[:k]]
    return nearest
