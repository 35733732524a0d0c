"""Items in pieces: join or stack them, add up over their columns, and count their bytes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._support.typing import Floats
from .dense_items import DenseItems
from .interface import Items
from .sparse_items import SparseItems
from .stacked_items import StackedItems

__all__ = ["bytes_of", "joined", "squared_deviations", "stacked"]


def stacked(pieces: list[Items]) -> Items:
    """Items of all pieces, in order; dense ones stay where they are, so none is copied."""
    pieces = [piece for piece in pieces if len(piece)] or pieces[:1]
    if len(pieces) == 1 or pieces[0].sparse:
        return joined(pieces)
    return StackedItems([piece.raw for piece in pieces])


def joined(pieces: list[Items]) -> Items:
    """Items of all pieces, in order, in one array or matrix."""
    pieces = [piece for piece in pieces if len(piece)] or pieces[:1]
    if len(pieces) == 1:
        return pieces[0]
    if pieces[0].sparse:
        return SparseItems(sp.vstack([piece.raw for piece in pieces], format="csr"))
    return DenseItems(np.concatenate([piece.raw for piece in pieces]))


def squared_deviations(X: Items, mean: Floats, factors: Floats) -> Floats:
    """Sums of squares of ``factors (x - mean)`` in each column."""
    if not isinstance(X, SparseItems):
        apart = (X.rows(slice(None)) - mean) * factors
        return np.asarray(np.einsum("ij,ij->j", apart, apart, dtype=np.float64))
    # Zeros that are not stored count too: sum (x - mean)^2 = sum x (x - 2 mean) + n mean^2.
    data, indices, _ = X.arrays
    centre, scaled = mean * factors, data * factors[indices]
    terms = scaled.astype(np.float64) * (scaled - 2.0 * centre[indices])
    return np.maximum(np.bincount(indices, terms, X.shape[1]) + len(X) * centre * centre, 0.0)


def bytes_of(*arrays: Any) -> int:
    """The bytes of arrays and items; None has none, and a broadcast number has one entry."""
    total = 0
    for array in arrays:
        if isinstance(array, SparseItems):
            total += sys.getsizeof(array) + bytes_of(*array.arrays)
        elif isinstance(array, StackedItems):
            total += bytes_of(*array.pieces)
        elif isinstance(array, Items):
            total += bytes_of(array.raw)
        elif array is not None:
            total += array.nbytes if array.strides != (0,) else array.itemsize
    return total
