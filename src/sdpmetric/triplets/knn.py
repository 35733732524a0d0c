"""Comparisons from labels: each row, its nearest of the same class and of other classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.checks import check_choice, check_integer, check_jobs
from .._support.memory import check_memory
from .._support.optional import check_installed
from .._support.progress import Report, shown
from .._support.typing import Floats, Ints
from .._support.warnings import warn
from ..engines.threads import thread_pool
from ..linalg.items import Items, as_items
from .labels import as_labels
from .nearest import nearest_by_class
from .nearest_faiss import approximately_nearest_by_class

__all__ = [
    "check_neighbors",
    "check_pairs",
    "check_triplet_memory",
    "cross_triplets",
    "knn_triplets",
    "mine",
    "neighbor_counts",
    "triplet_ratio",
]


def knn_triplets(
    X: Any,
    y: Any,
    n_neighbors: int = 3,
    n_impostors: int = 3,
    *,
    neighbors: str = "exact",
    progress: bool | Report = False,
    n_jobs: int | None = None,
) -> Ints:
    """Triplets from labels: each row with its nearest of the same and of other classes.

    Parameters
    ----------
    X : (n, D) rows, dense or CSR
    y : (n,) class labels
    n_neighbors : near rows of the same class for each row
    n_impostors : far rows of other classes for each row
    neighbors : "exact", or "approximate" for a faster search of many rows (needs faiss)
    progress : True to show progress on the terminal, or a function called with (rows done, rows)
    n_jobs : threads; -1 for all cores, None for as many as BLAS may use

    Returns
    -------
    (m, 3) array of row indices [anchor, near, far], by anchor, near rank and far rank; at most
    ``n * n_neighbors * n_impostors`` of them, fewer where a class is too small

    Examples
    --------
    >>> from sdpmetric import knn_triplets
    >>> knn_triplets([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1], 1, 1).tolist()
    [[0, 1, 2], [1, 0, 2], [2, 3, 1], [3, 2, 1]]
    """
    check_integer("n_neighbors", n_neighbors, 1)
    check_integer("n_impostors", n_impostors, 1)
    check_neighbors(neighbors)
    items = as_items(X, scan=True)
    codes = as_labels(y)[1]
    if len(codes) != items.shape[0]:
        raise ValueError(f"y must have one label per row of X, {items.shape[0]}, got {len(codes)}.")
    check_triplet_memory(codes, n_neighbors, n_impostors)
    with thread_pool(check_jobs(n_jobs)), shown(progress) as stages:
        report = None if stages is None else stages.stage("nearest rows")
        near, far = mine(items, codes, n_neighbors, n_impostors, neighbors, report)
    return cross_triplets(near, far)


def mine(
    X: Items,
    y: Ints,
    n_neighbors: int,
    n_impostors: int,
    neighbors: str = "exact",
    report: Report | None = None,
    anchors: int | None = None,
) -> tuple[Ints, Ints]:
    """Find the near and far rows of each row of checked X and y, -1 where there are too few.

    With ``anchors`` those of the first so many rows alone.
    """
    n_near, n_far = neighbor_counts(np.bincount(y), n_neighbors, n_impostors)
    search = nearest_by_class if neighbors == "exact" else approximately_nearest_by_class
    # Squares of extreme entries over- or underflow; a power of two keeps the order of distances.
    return search(X.rescaled()[0], y, n_near, n_far, report, anchors)


def neighbor_counts(sizes: Ints, n_neighbors: int, n_impostors: int) -> tuple[int, int]:
    """Return how many near and far rows to search for, by the sizes of the classes.

    No row has more: further columns would hold -1 alone, and cost the search memory.
    """
    check_pairs(sizes)
    _warn_of_small_classes(sizes, n_neighbors, n_impostors)
    return (
        min(n_neighbors, int(sizes.max()) - 1),
        min(n_impostors, int(sizes.sum()) - int(sizes.min())),
    )


def check_pairs(sizes: Ints) -> None:
    """Raise ValueError if no class has two members, so that there is no near row at all."""
    if sizes.max() < 2:
        raise ValueError(
            "y gives no triplet at all: no class has two members; expected at least one that has."
        )


def triplet_ratio(
    y: Ints, n_neighbors: int, n_impostors: int, weights: Floats | None = None
) -> float:
    """Return the weight of all triplets over the weight of the k-nearest ones."""
    near, far, others = _counts(y, n_neighbors, n_impostors)
    pairs = near if weights is None else weights * near
    return float(np.sum(pairs * others) / np.sum(pairs * far))


def check_triplet_memory(
    y: Ints, n_neighbors: int, n_impostors: int, bytes_per_triplet: float = 48.0
) -> None:
    """Raise MemoryError if the k-nearest triplets cannot fit into memory, before a search for them.

    `cross_triplets` has three numbers of 8 bytes for each triplet, twice at the same time.
    """
    near, far, _ = _counts(y, n_neighbors, n_impostors)
    n_triplets = int(np.sum(near * far))
    what = f"{n_triplets:,} triplets (n_neighbors={n_neighbors}, n_impostors={n_impostors})"
    check_memory(bytes_per_triplet * n_triplets, what)


def _counts(y: Ints, n_neighbors: int, n_impostors: int) -> tuple[Floats, Floats, Floats]:
    """Return the numbers of near rows, far rows and all rows of other classes, for each row."""
    size = np.bincount(y)[y].astype(np.float64)
    others = len(y) - size
    return np.minimum(n_neighbors, size - 1.0), np.minimum(n_impostors, others), others


def cross_triplets(near: Ints, far: Ints) -> Ints:
    """Return triplets [row, near, far] by row, near rank and far rank; -1 stands for none."""
    n, n_near = near.shape
    triplets = np.empty((n, n_near, far.shape[1], 3), dtype=np.int64)
    triplets[..., 0] = np.arange(n)[:, None, None]
    triplets[..., 1] = near[:, :, None]
    triplets[..., 2] = far[:, None, :]
    flat = triplets.reshape(-1, 3)
    if min(near.min(initial=0), far.min(initial=0)) >= 0:
        return flat  # no copy: every row has all its neighbours
    complete: Ints = flat[flat.min(axis=1) >= 0]
    return complete


def _warn_of_small_classes(sizes: Ints, n_neighbors: int, n_impostors: int) -> None:
    """Warn once, with the numbers of classes and rows that give fewer triplets than asked for."""
    # One warning, not one per class: labels may have very many small classes.
    single = int(np.sum(sizes == 1))
    small = int(np.sum((sizes > 1) & (sizes <= n_neighbors)))
    short = int(np.sum(sizes[sizes.sum() - sizes < n_impostors]))
    parts = []
    if single:
        parts.append(f"{single} class(es) with a single member give no triplets")
    if small:
        parts.append(
            f"{small} class(es) have fewer than n_neighbors + 1 = {n_neighbors + 1} members, "
            "so their rows use the neighbours there are"
        )
    if short:
        parts.append(
            f"{short} row(s) have fewer than n_impostors = {n_impostors} rows of other classes "
            "and use those there are"
        )
    if parts:
        warn("; ".join(parts) + ".", UserWarning)


def check_neighbors(neighbors: object) -> None:
    """Raise unless ``neighbors`` is a known search whose package is installed."""
    check_choice("neighbors", neighbors, ("exact", "approximate"))
    if neighbors == "approximate":
        check_installed("faiss", "neighbors='approximate'", "use neighbors='exact'")
