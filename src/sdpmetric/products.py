"""The only places where the items X are touched.

``X @ P`` and ``X.T @ S`` for the solvers, squared distances between rows for units, priors and
mining. Dense or CSR, float32 or float64. ``exact=True`` computes in float64 whatever X is,
upcasting a block of rows at a time, for certificates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._typing import Floats, Ints, Items

__all__ = [
    "backward",
    "blocks",
    "edge_distances",
    "forward",
    "row_sums",
    "squared_differences",
    "tame",
]

_BLOCK_BYTES = 1 << 22
_EDGE_BLOCK = 1 << 17  # numbers in a block of edge differences: two such blocks stay in the cache


def forward(X: Items, P: Floats, *, exact: bool = False) -> Floats:
    """``X @ P`` as float64."""
    if X.dtype == np.float64 or not exact:
        return np.asarray(X @ P.astype(X.dtype, copy=False)).astype(np.float64, copy=False)
    return np.concatenate([X[rows].astype(np.float64) @ P for rows in blocks(*X.shape)])


def backward(X: Items, S: Floats, *, exact: bool = False) -> Floats:
    """``X.T @ S`` as float64."""
    if X.dtype == np.float64 or not exact:
        return np.asarray(X.T @ S.astype(X.dtype, copy=False)).astype(np.float64, copy=False)
    total = np.zeros((X.shape[1], S.shape[1]))
    for rows in blocks(*X.shape):
        total += X[rows].astype(np.float64).T @ S[rows]
    return total


def edge_distances(Y: Floats, edges: Ints) -> Floats:
    """Squared Euclidean distance of the rows of Y joined by each edge, block by block."""
    out = np.empty(len(edges))
    step = max(1, _EDGE_BLOCK // max(1, Y.shape[1]))
    for start in range(0, len(edges), step):
        pair = edges[start : start + step]
        d = np.take(Y, pair[:, 0], axis=0)
        d -= np.take(Y, pair[:, 1], axis=0)
        np.einsum("ij,ij->i", d, d, out=out[start : start + step])
    return out


def squared_differences(X: Items, a: Ints, b: Ints) -> Floats:
    """``||x_a - x_b||^2`` in float64 and in a fixed order of summation, for dense or CSR rows."""
    out = np.empty(len(a))
    for block in blocks(len(a), X.shape[1]):
        d = X[a[block]].astype(np.float64) - X[b[block]].astype(np.float64)
        out[block] = row_sums(d.multiply(d)) if sp.issparse(d) else np.einsum("ij,ij->i", d, d)
    return out


def row_sums(rows: Any) -> Floats:
    """Sums over the rows of a sparse matrix, as a flat array."""
    return np.asarray(rows.sum(axis=1)).ravel()


def blocks(n: int, width: int, block_bytes: int = _BLOCK_BYTES) -> Iterator[slice]:
    """Slices of n rows whose float64 blocks of ``width`` columns fit into ``block_bytes``."""
    step = max(1, block_bytes // (8 * max(1, width)))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def tame(X: Items) -> tuple[Items, float]:
    """X times a power of two, which rounds nothing, if its squares would over- or underflow.

    What counts is how far the entries of a column differ: constant columns may be of any size.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    if sp.issparse(X):
        low, high = low.toarray(), high.toarray()
    largest = float(np.max(0.5 * high - 0.5 * low))
    bound = 1e100 if X.dtype == np.float64 else 1e12
    if largest == 0.0 or 1.0 / bound < largest < bound:
        return X, 1.0
    factor = 2.0 ** min(1000, -math.frexp(largest)[1])
    return X * X.dtype.type(factor), factor
