"""Check the arrays of a user's sparse matrix before compiled code reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["check_sparse"]


def check_sparse(X: Any, name: str = "X") -> None:
    """Raise ValueError unless the arrays inside a sparse matrix fit together.

    Compiled code, ours and SciPy's, trusts column indices and bounds of rows. An index out of range
    reads or writes memory of others; even the conversion of a format to CSR does. SciPy's
    ``check_format`` changes the user's matrix and knows three formats, so it is not used.

    A few passes over the indices, without a copy. Anything that is not sparse passes.
    """
    if not sp.issparse(X):
        return
    if X.ndim != 2:
        raise ValueError(f"{name} must be a table of rows and columns, got shape {X.shape}.")
    try:
        reason = _CHECKS[X.format](X)
    except (AttributeError, TypeError, IndexError) as error:  # an array was replaced by no array
        reason = str(error)
    if reason:
        raise ValueError(
            f"{name} is a damaged sparse matrix ({X.format}, shape {X.shape}): {reason}; expected "
            "indices and lengths that fit its shape."
        )


def _csr(X: Any) -> str:
    return _compressed(X, *X.shape)


def _csc(X: Any) -> str:
    return _compressed(X, *X.shape[::-1])


def _bsr(X: Any) -> str:
    if X.data.ndim != 3 or 0 in X.data.shape[1:]:
        return f"data has shape {X.data.shape}"
    n, D = X.shape
    rows, columns = X.data.shape[1:]
    if n % rows or D % columns:
        return f"blocks have shape ({rows}, {columns})"
    return _compressed(X, n // rows, D // columns)


def _compressed(X: Any, n_outer: int, n_inner: int) -> str:
    """Check bounds of rows (columns of CSC) and the indices between them."""
    data, indices, indptr = X.data, X.indices, X.indptr
    reason = _numbers(data) or _integers("indices", indices) or _integers("indptr", indptr)
    if reason:
        return reason
    if len(indptr) != n_outer + 1 or len(indices) != len(data):
        return (
            f"indptr has {len(indptr)} entries, indices {len(indices)} and data {len(data)}, where "
            f"indptr needs {n_outer + 1}"
        )
    # SciPy allows room for more entries behind the last bound.
    if indptr[0] != 0 or indptr[-1] > len(indices):
        return f"indptr goes from {indptr[0]} to {indptr[-1]} over {len(indices)} entries"
    if (indptr[1:] < indptr[:-1]).any():
        return "indptr descends"
    return _within("indices", indices[: indptr[-1]], n_inner)


def _coo(X: Any) -> str:
    if len(X.coords) != 2:
        return f"coords has {len(X.coords)} arrays"
    reason = _numbers(X.data)
    for name, indices, size in zip(("row", "col"), X.coords, X.shape, strict=True):
        reason = reason or _integers(name, indices)
        if not reason and len(indices) != len(X.data):
            reason = f"{name} has {len(indices)} entries and data {len(X.data)}"
        reason = reason or _within(name, indices, size)
    return reason


def _dia(X: Any) -> str:
    reason = _numbers(X.data) or _integers("offsets", X.offsets)
    if reason:
        return reason
    if X.data.ndim != 2 or len(X.offsets) != len(X.data):
        return f"data has shape {X.data.shape} and offsets {len(X.offsets)} entries"
    if len(np.unique(X.offsets)) != len(X.offsets):
        return "offsets holds a diagonal twice"
    # SciPy narrows the offsets to 32 bits, so that a huge one would become another diagonal.
    return _within("offsets", np.abs(X.offsets), max(X.shape))


def _lil(X: Any) -> str:
    rows, entries = X.rows, X.data
    if rows.shape != (X.shape[0],) or entries.shape != rows.shape:
        return f"rows has shape {rows.shape} and data {entries.shape}"
    # SciPy allocates by the lengths of one list and fills by those of the other.
    for i, (indices, held) in enumerate(zip(rows, entries, strict=True)):
        if type(indices) is not list or type(held) is not list or len(indices) != len(held):
            return f"row {i} does not hold as many columns as entries"
    return ""  # the columns are checked once they are an array


def _dok(X: Any) -> str:
    return ""  # SciPy makes it COO in Python, with a check of all indices


def _numbers(data: Any) -> str:
    if not isinstance(data, np.ndarray):
        return f"data is a {type(data).__name__}"
    known = data.dtype.kind in "fiub" and data.dtype.isnative
    return "" if known else f"data has dtype {data.dtype}"


def _integers(name: str, indices: Any) -> str:
    if not isinstance(indices, np.ndarray) or indices.ndim != 1:
        return f"{name} is no array of one dimension"
    known = indices.dtype.kind == "i" and indices.dtype.isnative
    return "" if known else f"{name} has dtype {indices.dtype}"


def _within(name: str, indices: Any, size: int) -> str:
    if len(indices) == 0:
        return ""
    low, high = indices.min(), indices.max()
    return "" if 0 <= low <= high < size else f"{name} holds {low if low < 0 else high}"


_CHECKS = {
    "csr": _csr,
    "csc": _csc,
    "bsr": _bsr,
    "coo": _coo,
    "dia": _dia,
    "lil": _lil,
    "dok": _dok,
}
