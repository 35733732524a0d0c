"""The vote of the nearest rows, for scores on held-out rows.

scikit-learn's classifier gives the same answers; this one starts no threads of its own, which on a
hundred rows cost a hundred times the vote.
"""

from __future__ import annotations

import numpy as np

from .._support.typing import Ints
from ..linalg.blocks import RESULT_BYTES, blocks
from ..linalg.distances import rescaled_together
from ..linalg.items import Items
from ..linalg.kernels.rows import nearest_columns

__all__ = ["accuracy", "left_out_votes", "vote"]


def vote(train: Items, labels: Ints, rows: Items, k: int = 3) -> Ints:
    """The label that most of the k nearest training rows have, the smallest of equals."""
    rows, train, _ = rescaled_together(rows, train, rows.dtype)
    return _votes(train, labels, rows, min(k, len(train)), None)


def left_out_votes(train: Items, labels: Ints, which: Ints, k: int = 3) -> Ints:
    """The votes for some of the training rows by the k nearest of the others."""
    train = train.rescaled()[0]
    return _votes(train, labels, train.take(which), min(k, len(train) - 1), which)


def _votes(train: Items, labels: Ints, rows: Items, k: int, own: Ints | None) -> Ints:
    if not train.sparse:  # products of rows far from zero would round away their differences
        mean = train.mean()
        rows, train = rows.centred(mean), train.centred(mean)
    norms = train.squared_norms()
    found, best = np.empty(len(rows), dtype=np.int64), np.empty(k)
    for block in blocks(len(rows), len(train), RESULT_BYTES):
        products = rows.products(block, train, slice(0, len(train)))
        # Distances less the squared norm of the row itself, which changes no order.
        nearest = np.zeros((len(products), k), dtype=np.int64)
        without = np.full(len(products), -1) if own is None else own[block]
        nearest_columns(products, norms, without, best, nearest)
        found[block] = _majority(labels[nearest])
    return found


def accuracy(train: Items, labels: Ints, rows: Items, expected: Ints, k: int = 3) -> float:
    """The share of rows whose vote is right."""
    return float(np.mean(vote(train, labels, rows, k) == expected))


def _majority(labels: Ints) -> Ints:
    """The most frequent entry of each row, the smallest of equals."""
    ordered = np.sort(labels, axis=1)
    counts = (ordered[:, :, None] == ordered[:, None, :]).sum(axis=2)
    return np.take_along_axis(ordered, counts.argmax(axis=1)[:, None], axis=1)[:, 0]
