"""Comparisons from labels: each row, its nearest of the same class, its nearest of other classes.

Exact and repeatable. Candidates come from blocked matrix products, whose last bits depend on the
machine and the number of threads; every row that rounding could place among the nearest is kept
and ranked again by float64 differences, ties to the lower row index. So equal distances, common
in integer data, always give the same triplets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ._typing import Dense, Floats, Ints, Items
from ._warnings import warn
from .products import blocks, row_sums, squared_differences, tame
from .validation import as_items, as_labels, check_integer

__all__ = ["knn_triplets", "mine", "nearest_by_class"]

_BLOCK_BYTES = 1 << 23  # of one block of squared distances; larger ones are no faster


def knn_triplets(X: Any, y: Any, n_neighbors: int = 3, n_impostors: int = 3) -> Ints:
    """Triplets from labels: each row with its nearest of the same and of other classes.

    Parameters
    ----------
    X : (n, D) rows, dense or CSR
    y : (n,) class labels
    n_neighbors : near rows of the same class for each row
    n_impostors : far rows of other classes for each row

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
    items = as_items(X)
    codes = as_labels(y)[1]
    if len(codes) != items.shape[0]:
        raise ValueError(f"y must have one label per row of X, {items.shape[0]}, got {len(codes)}.")
    return mine(items, codes, n_neighbors, n_impostors)


def mine(X: Items, y: Ints, n_neighbors: int, n_impostors: int) -> Ints:
    """`knn_triplets` for checked X and class codes."""
    _warn_of_small_classes(y, n_neighbors, n_impostors)
    sizes = np.bincount(y)
    n_near = min(n_neighbors, max(1, int(sizes.max()) - 1))
    n_far = min(n_impostors, len(y) - int(sizes.min()))
    near, far = nearest_by_class(tame(X)[0], y, n_near, n_far)
    triplets = _triplets(near, far)
    if len(triplets) == 0:
        raise ValueError(
            "y gives no triplet at all: no class has two members; expected at least one that has."
        )
    return triplets


def nearest_by_class(X: Items, y: Ints, n_same: int, n_other: int) -> tuple[Ints, Ints]:
    """For each row its nearest rows of the same and of other classes, by Euclidean distance.

    Ascending in distance, ties to the lower row index, never the row itself. Where a class has
    too few rows the last columns are -1. ``y`` holds class codes 0, 1, ...
    """
    table = _Table(X, y)
    same = np.full((len(y), n_same), -1, dtype=np.int64)
    other = np.full((len(y), n_other), -1, dtype=np.int64)
    for rows, own in table.blocks():
        squared, radius = table.squared_distances(rows)
        within = squared[:, own]
        within[np.arange(len(squared)), np.arange(rows.start, rows.stop) - own.start] = np.inf
        original = table.order[rows]
        same[original] = table.rank(rows, within, own.start, radius, n_same)
        squared[:, own] = np.inf
        other[original] = table.rank(rows, squared, 0, radius, n_other)
    return same, other


class _Table:
    """The rows sorted by class and centred, so that a class is a slice of columns."""

    def __init__(self, X: Items, y: Ints) -> None:
        self.order = np.argsort(y, kind="stable")
        self.bounds = np.concatenate([[0], np.cumsum(np.bincount(y))])
        self.original = X
        sorted_rows = X[self.order]
        if sp.issparse(X):
            self.norms = row_sums(sorted_rows.multiply(sorted_rows))
        else:
            sorted_rows -= X.mean(axis=0, dtype=np.float64).astype(X.dtype)
            self.norms = np.einsum("ij,ij->i", sorted_rows, sorted_rows)
        self.rows = sorted_rows
        # A dot product of D terms is off by at most D eps |a||b|, and so is each norm.
        self.slack = 2.0 * (X.shape[1] + 4) * float(np.finfo(X.dtype).eps)

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Row blocks, each inside one class, with the slice of that class."""
        for low, high in zip(self.bounds[:-1], self.bounds[1:], strict=True):
            for block in blocks(high - low, len(self.order), _BLOCK_BYTES):
                yield slice(low + block.start, low + block.stop), slice(low, high)

    def squared_distances(self, rows: slice) -> tuple[Dense, Floats]:
        """From a block of rows to all rows, and how far each row of the block may be off."""
        squared = _dense(self.rows[rows] @ self.rows.T)
        squared *= -2.0
        squared += self.norms[rows, None]
        squared += self.norms
        return squared, self.slack * (self.norms[rows] + self.norms.max())

    def rank(self, rows: slice, squared: Dense, first: int, radius: Floats, k: int) -> Ints:
        """The k nearest, exactly: every candidate that rounding could place there is ranked again.

        Column c of ``squared`` is sorted row ``first + c``; columns at infinity do not count.
        """
        out = np.full((len(squared), k), -1, dtype=np.int64)
        if squared.shape[1] == 0:
            return out
        there = min(k, squared.shape[1]) - 1
        kth: Floats = np.partition(squared, there, axis=1)[:, there].astype(np.float64)
        limit = np.minimum(kth + 2.0 * radius, np.finfo(squared.dtype).max).astype(squared.dtype)
        row, column = np.nonzero(squared <= limit[:, None])
        candidate = self.order[first + column]
        exact = squared_differences(self.original, self.order[rows][row], candidate)
        ranking = np.lexsort((candidate, exact, row))
        row, candidate = row[ranking], candidate[ranking]
        place = np.arange(len(row)) - np.searchsorted(row, row)
        kept = place < k
        out[row[kept], place[kept]] = candidate[kept]
        return out


def _triplets(near: Ints, far: Ints) -> Ints:
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


def _dense(block: Any) -> npt.NDArray[Any]:
    return block.toarray() if sp.issparse(block) else np.asarray(block)
