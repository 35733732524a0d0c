"""The only two places where the items X are touched: ``X @ P`` and ``X.T @ S``.

Dense or CSR, float32 or float64. ``exact=True`` computes in float64 whatever X is, upcasting a
block of rows at a time, for certificates.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ._typing import Floats, Items

__all__ = ["backward", "forward"]

_BLOCK_BYTES = 1 << 24


def forward(X: Items, P: Floats, *, exact: bool = False) -> Floats:
    """``X @ P`` as float64."""
    if X.dtype == np.float64 or not exact:
        Y: Floats = np.asarray(X @ P.astype(X.dtype, copy=False))
        return Y.astype(np.float64, copy=False)
    return np.concatenate([X[rows].astype(np.float64) @ P for rows in _row_blocks(X)])


def backward(X: Items, S: Floats, *, exact: bool = False) -> Floats:
    """``X.T @ S`` as float64."""
    if X.dtype == np.float64 or not exact:
        V: Floats = np.asarray(X.T @ S.astype(X.dtype, copy=False))
        return V.astype(np.float64, copy=False)
    total = np.zeros((X.shape[1], S.shape[1]))
    for rows in _row_blocks(X):
        total += X[rows].astype(np.float64).T @ S[rows]
    return total


def _row_blocks(X: Items) -> Iterator[slice]:
    n, width = X.shape
    step = max(1, _BLOCK_BYTES // (8 * max(1, width)))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
