"""The vote of the nearest rows, for scores on held-out rows.

scikit-learn's classifier gives the same answers; this one starts no threads of its own, which on a
hundred rows cost a hundred times the vote.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .._typing import Floats, Ints, Items
from ..products import squared_norms

__all__ = ["accuracy", "vote"]

_BLOCK = 1 << 22  # distances at a time


def vote(train: Items, labels: Ints, rows: Items, k: int = 3) -> Ints:
    """The label that most of the k nearest training rows have, the smallest of equals."""
    k = min(k, train.shape[0])
    norms = squared_norms(train)
    step = max(1, _BLOCK // train.shape[0])
    found = np.empty(rows.shape[0], dtype=np.int64)
    for start in range(0, rows.shape[0], step):
        block = slice(start, start + step)
        products = rows[block] @ train.T
        near = _nearest(norms - 2.0 * np.asarray(_dense(products), dtype=np.float64), k)
        found[block] = _majority(labels[near])
    return found


def accuracy(train: Items, labels: Ints, rows: Items, expected: Ints, k: int = 3) -> float:
    """The share of rows whose vote is right."""
    return float(np.mean(vote(train, labels, rows, k) == expected))


def _nearest(distances: Floats, k: int) -> Ints:
    if k == distances.shape[1]:
        return np.broadcast_to(np.arange(k), distances.shape)
    return np.argpartition(distances, k - 1, axis=1)[:, :k]


def _majority(labels: Ints) -> Ints:
    """The most frequent entry of each row, the smallest of equals."""
    ordered = np.sort(labels, axis=1)
    counts = (ordered[:, :, None] == ordered[:, None, :]).sum(axis=2)
    return np.take_along_axis(ordered, counts.argmax(axis=1)[:, None], axis=1)[:, 0]


def _dense(A: Items) -> Items:
    return A.toarray() if sp.issparse(A) else A
