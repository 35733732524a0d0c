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

from ._typing import Dense, Floats, Ints, Items
from .kernels.rows import add_squared_distances
from .threads import over

__all__ = [
    "EDGE_NUMBERS",
    "backward",
    "blocks",
    "column_blocks",
    "edge_distances",
    "extremes",
    "forward",
    "squared_differences",
    "squared_norms",
    "stored",
    "tame",
]

_BLOCK_BYTES = 1 << 22
_COLUMN_BYTES = 1 << 26  # of a block of columns of X @ P: for tall data P is worked on in parts
_PRODUCT = 1 << 21  # multiplications that are worth a thread
_SMALL = 1 << 19  # multiplications that are over before blocks and threads are counted out
EDGE_NUMBERS = 1 << 19  # numbers to gather along edges that are worth a thread


def forward(X: Items, P: Floats, *, exact: bool = False) -> Dense:
    """``X @ P``, in X's precision, or in float64 if ``exact``."""
    kind = np.float64 if exact else X.dtype
    P = np.ascontiguousarray(P, dtype=kind)
    if _small(X, P.shape[1], kind):
        return np.asarray(X @ P)
    out = np.empty((X.shape[0], P.shape[1]), dtype=kind)

    def multiply(part: slice) -> None:
        for rows, block in _blocks_as(X, part, kind):
            if sp.issparse(block):
                out[rows] = block @ P
            else:
                np.matmul(block, P, out=out[rows])

    over(X.shape[0], multiply, _PRODUCT // max(1, P.size))
    return out


def backward(X: Items, S: Dense, *, exact: bool = False) -> Floats:
    """``X.T @ S`` as float64."""
    kind = np.float64 if exact else X.dtype
    S = S.astype(kind, copy=False)
    if _small(X, S.shape[1], kind):
        return np.asarray(X.T @ S, dtype=np.float64)

    def multiply(part: slice) -> Floats:
        total = np.zeros((X.shape[1], S.shape[1]))
        for rows, block in _blocks_as(X, part, kind):
            total += block.T @ S[rows]
        return total

    parts = over(X.shape[0], multiply, _PRODUCT // max(1, X.shape[1] * S.shape[1]))
    return sum(parts[1:], start=parts[0])


def _small(X: Items, width: int, kind: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype == kind and X.size * width <= _SMALL


def _blocks_as(X: Items, part: slice, kind: Any) -> Iterator[tuple[slice, Items]]:
    """A part of the rows: as it stands if of this kind, else converted block by block."""
    n_rows = part.stop - part.start
    whole = X.dtype == kind or sp.issparse(X)  # a sparse product has the size of its result
    for block in [slice(0, n_rows)] if whole else blocks(n_rows, X.shape[1]):
        rows = slice(part.start + block.start, part.start + block.stop)
        yield rows, _view(X, rows).astype(kind, copy=False)


def _view(X: Items, rows: slice) -> Items:
    """Rows of X without a copy; SciPy's own slices are copies."""
    if not sp.issparse(X):
        return X[rows]
    stored_ = slice(X.indptr[rows.start], X.indptr[rows.stop])
    starts = X.indptr[rows.start : rows.stop + 1] - stored_.start
    shape = (rows.stop - rows.start, X.shape[1])
    return sp.csr_array((X.data[stored_], X.indices[stored_], starts), shape=shape)


def column_blocks(n_rows: int, n_columns: int, size: int = 0) -> Iterator[slice]:
    """Columns of which ``n_rows`` rows can be held at once, beside arrays of ``size`` numbers."""
    width = max(8, max(_COLUMN_BYTES, 8 * size) // (64 * n_rows) * 8)
    for start in range(0, n_columns, width):
        yield slice(start, min(start + width, n_columns))


def edge_distances(Y: Dense, edges: Ints, out: Floats | None = None) -> Floats:
    """Squared Euclidean distances of the rows of Y joined by edges, added to ``out`` if given."""
    return squared_differences(Y, edges[:, 0], edges[:, 1], out)


def squared_differences(
    X: Items, a: Ints, b: Ints, out: Floats | None = None, Y: Items = None
) -> Floats:
    """``||x_a - y_b||^2`` in float64, rows of X both unless Y is given; added to ``out`` if given.

    X and Y are both dense or both CSR.
    """
    total = np.zeros(len(a)) if out is None else out
    rows = stored(X)
    others = rows if Y is None else stored(Y)
    over(
        len(a),
        lambda part: add_squared_distances(rows, others, a, b, part.start, part.stop, total),
        EDGE_NUMBERS // X.shape[1],
    )
    return total


def stored(X: Items) -> Any:
    """X as compiled loops want it: an array, or the three arrays of a sparse matrix."""
    return (X.data, X.indices, X.indptr) if sp.issparse(X) else np.asarray(X)


def squared_norms(X: Items) -> Floats:
    """``||x||^2`` of each row in float64, dense or CSR."""
    if sp.issparse(X):
        return np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
    squares: Floats = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return squares


def blocks(n: int, width: int, block_bytes: int = _BLOCK_BYTES) -> Iterator[slice]:
    """Slices of n rows whose float64 blocks of ``width`` columns fit into ``block_bytes``."""
    step = max(1, block_bytes // (8 * max(1, width)))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def extremes(X: Items) -> tuple[Dense, Dense]:
    """The smallest and the largest entry of each column."""
    low, high = X.min(axis=0), X.max(axis=0)
    if sp.issparse(X):
        return low.toarray().ravel(), high.toarray().ravel()
    return low, high


def tame(X: Items) -> tuple[Items, float]:
    """X times a power of two, which rounds nothing, if its squares would over- or underflow.

    What counts is how far the entries of a column differ: constant columns may be of any size.
    """
    low, high = extremes(X)
    largest = float(np.max(0.5 * high - 0.5 * low))
    bound = 1e100 if X.dtype == np.float64 else 1e12
    if largest == 0.0 or 1.0 / bound < largest < bound:
        return X, 1.0
    factor = 2.0 ** min(1000, -math.frexp(largest)[1])
    # Columns that are constant may be far larger, and are nothing but zero.
    factors = np.where(low == high, 0.0, factor).astype(X.dtype)
    if not sp.issparse(X):
        return X * factors, factor
    # Entry by entry: a product of sparse matrices would leave columns unsorted.
    return sp.csr_array((X.data * factors[X.indices], X.indices, X.indptr), shape=X.shape), factor
