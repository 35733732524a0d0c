"""Comparisons from labels: each row, its nearest of the same class and of other classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._typing import Floats, Ints, Items
from ._warnings import warn
from .approximate import approximately_nearest_by_class
from .inputs import as_items, as_labels
from .nearest import nearest_by_class
from .products import tame
from .progress import Report, shown
from .threads import working
from .validation import check_integer, check_jobs, check_neighbors

__all__ = ["check_pairs", "crowd", "knn_triplets", "listed", "mine"]


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
    progress : True for a bar on the terminal, or a function that is told (rows done, rows)
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
    items = as_items(X)
    codes = as_labels(y)[1]
    if len(codes) != items.shape[0]:
        raise ValueError(f"y must have one label per row of X, {items.shape[0]}, got {len(codes)}.")
    with working(check_jobs(n_jobs)), shown(progress, "nearest rows") as report:
        near, far = mine(items, codes, n_neighbors, n_impostors, neighbors, report)
    return listed(near, far)


def mine(
    X: Items,
    y: Ints,
    n_neighbors: int,
    n_impostors: int,
    neighbors: str = "exact",
    report: Report | None = None,
) -> tuple[Ints, Ints]:
    """The near and the far rows of each row, -1 where there are too few, for checked X and y."""
    check_pairs(y)
    _warn_of_small_classes(y, n_neighbors, n_impostors)
    sizes = np.bincount(y)
    n_near = min(n_neighbors, int(sizes.max()) - 1)
    n_far = min(n_impostors, len(y) - int(sizes.min()))
    search = nearest_by_class if neighbors == "exact" else approximately_nearest_by_class
    return search(tame(X)[0], y, n_near, n_far, report)


def check_pairs(y: Ints) -> None:
    if np.bincount(y).max() < 2:
        raise ValueError(
            "y gives no triplet at all: no class has two members; expected at least one that has."
        )


def crowd(y: Ints, n_neighbors: int, n_impostors: int, weights: Floats | None = None) -> float:
    """By how much all triplets outweigh the k-nearest ones."""
    size = np.bincount(y)[y]
    pairs = (1.0 if weights is None else weights) * np.minimum(n_neighbors, size - 1)
    others = len(y) - size
    return float(np.sum(pairs * others) / np.sum(pairs * np.minimum(n_impostors, others)))


def listed(near: Ints, far: Ints) -> Ints:
    """Triplets [row, near, far] by row, near rank, far rank; entries of -1 are left out."""
    n, n_near = near.shape
    triplets = np.empty((n, n_near, far.shape[1], 3), dtype=np.int64)
    triplets[..., 0] = np.arange(n)[:, None, None]
    triplets[..., 1] = near[:, :, None]
    triplets[..., 2] = far[:, None, :]
    flat = triplets.reshape(-1, 3)
    complete: Ints = flat[flat.min(axis=1) >= 0]
    return complete


def _warn_of_small_classes(y: Ints, n_neighbors: int, n_impostors: int) -> None:
    """One warning that counts the classes and rows that give fewer triplets than asked for."""
    sizes = np.bincount(y)
    single = int(np.sum(sizes == 1))
    small = int(np.sum((sizes > 1) & (sizes <= n_neighbors)))
    short = int(np.sum(sizes[len(y) - sizes < n_impostors]))
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
