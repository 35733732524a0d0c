"""The least and the largest entry of each column, in one pass; NaN and infinity show there."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.typing import Dense
from .blocks import CONVERTED_BYTES, blocks, slices
from .kernels.rows import sparse_extremes

__all__ = ["column_extremes", "csr_extremes", "first_not_finite"]

_WIDE = 1024  # entries of a row from which on NumPy reduces columns at the speed of memory


def column_extremes(X: Dense) -> tuple[Dense, Dense]:
    """Return the least and the largest entry of each column of a dense array.

    A block of rows at a time, so that memory is read once for both.
    NaN in a column makes both of its extremes NaN.
    """
    n, D = X.shape
    # NumPy is up to 30 times slower on short rows: several of them are read as one long row.
    fold = max(1, _WIDE // D) if X.flags.c_contiguous else 1
    step = max(1, CONVERTED_BYTES // (X.itemsize * D * fold)) * fold
    lows, highs = [], []
    with np.errstate(invalid="ignore"):  # NaN is an answer here, `check_finite` names it
        for rows in slices(0, n, step):
            block = X[rows]
            whole = len(block) // fold * fold
            # With few long rows the second reduction, of short rows, would be most of the work.
            if fold > 1 and whole > 4 * fold:
                wide = block[:whole].reshape(-1, fold * D)
                lows.append(wide.min(axis=0).reshape(fold, D).min(axis=0))
                highs.append(wide.max(axis=0).reshape(fold, D).max(axis=0))
                block = block[whole:]
            if len(block):
                lows.append(block.min(axis=0))
                highs.append(block.max(axis=0))
        if len(lows) == 1:
            return lows[0], highs[0]
        return np.min(lows, axis=0), np.max(highs, axis=0)


def csr_extremes(X: Any) -> tuple[Dense, Dense]:
    """Return the least and the largest entry of each column of a CSR matrix without duplicates."""
    n, D = X.shape
    low, high = np.full(D, np.inf, X.dtype), np.full(D, -np.inf, X.dtype)
    counts = np.zeros(D, dtype=np.int64)
    sparse_extremes(X.data, X.indices, low, high, counts)
    zeros = counts < n  # some entry is not stored, so it is zero
    low[zeros], high[zeros] = np.minimum(low[zeros], 0), np.maximum(high[zeros], 0)
    return low, high


def first_not_finite(entries: Dense) -> int | None:
    """Return the position of the first NaN or infinity, row by row, or None if there is none."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(entries)):  # the fastest pass there is, without a temporary
            return None
    # Not finite, or only the sum overflowed.
    width = int(np.prod(entries.shape[1:]))
    for rows in blocks(len(entries), width):
        bad = ~np.isfinite(entries[rows])
        if bad.any():
            return int(rows.start * width + np.flatnonzero(bad)[0])
    return None
