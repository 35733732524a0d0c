"""Turn a user's table into `Items`: recognise it, check it and, for a fit, scan it once."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._support.checks import as_real
from .._support.messy import HELP, names_of, place
from ..engines.dask_arrays import is_dask
from .dense_items import DenseItems
from .interface import Items, Table
from .memmap_items import MemmapItems, is_mapped
from .sparse_format import check_sparse
from .sparse_items import SparseItems

__all__ = ["Items", "as_csr", "as_items", "check_finite", "check_varied", "items_of"]


def as_csr(X: Any, name: str = "X") -> Any:
    """Return X as CSR with sorted columns and no duplicates; the user's matrix is not changed.

    Raise ValueError if the arrays inside the matrix do not fit together.
    """
    check_sparse(X, name)
    try:
        rows = sp.csr_array(X)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} cannot be converted to CSR: {error}.") from None
    if rows.format != X.format:
        check_sparse(rows, name)  # some formats hold lists, whose entries SciPy copies as they are
    stored = rows.indptr[-1]
    if stored < len(rows.indices):  # room for more entries, which are none
        arrays = rows.data[:stored], rows.indices[:stored], rows.indptr
        rows = sp.csr_array(arrays, shape=rows.shape)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def items_of(X: Any) -> Items:
    """Wrap a float32 or float64 table as items, without checking or copying its entries."""
    if sp.issparse(X):
        return SparseItems(as_csr(X))
    X = np.asarray(X)
    return MemmapItems(X) if is_mapped(X) else DenseItems(X)


def as_items(
    X: Any, name: str = "X", *, scan: bool = False, sparse: bool = True, finite: bool = True
) -> Items:
    """Check a user's table and return it as items; numbers other than float32 become float64.

    Set ``scan`` if column extremes will be needed: they also show NaN and infinity, so that one
    pass does both. Without ``sparse``, sparse matrices are refused. Without ``finite``, the entries
    are not looked at: the caller checks the rows that it reads.
    """
    if is_dask(X):
        # NumPy would compute it here, all of it.
        raise ValueError(
            f"{name} is a Dask array, expected rows in one memory: {name}.compute(). SDPMetric and "
            "TripletSDPMetric fit and transform Dask arrays as they are."
        )
    if sp.issparse(X):
        if not sparse:
            raise ValueError(f"{name} is sparse, expected a dense array.")
        X = as_csr(X, name)
    columns = names_of(X)
    X = as_real(name, X)
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"{name} must be a table of rows and columns, got shape {X.shape}.")
    if X.dtype not in (np.float32, np.float64):
        with np.errstate(over="ignore"):  # `check_finite` names an entry that is too large
            X = X.astype(np.float64)
    items = items_of(X)
    if finite:
        check_finite(items, name, scan=scan, columns=columns)
    return items


def check_finite(items: Items, name: str = "X", *, scan: bool = False, columns: Any = None) -> None:
    """Raise ValueError if an entry is NaN or infinite; the message names the first one.

    ``columns`` has their names, if they have any.
    """
    if scan:
        _ = items.extremes  # remembered, and enough to see that all entries are finite
    found = items.first_not_finite()
    if found is not None:
        row, column, value = found
        missing = bool(np.isnan(value))
        raise ValueError(
            f"{name} contains {'NaN' if missing else 'infinity (inf)'}, first at "
            f"{place(row, column, columns)}; expected finite numbers."
            + (f" {HELP}" if missing else "")
        )


def check_varied(X: Table) -> None:
    """Raise ValueError if all rows are identical."""
    low, high = X.extremes
    if np.array_equal(low, high):
        raise ValueError(
            f"X: all {X.shape[0]} rows are identical (n_samples={X.shape[0]}), expected rows that "
            "differ."
        )
