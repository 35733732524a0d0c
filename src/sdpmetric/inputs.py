"""Checks of data: items, labels, comparisons and weights; errors name row and column."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ._typing import Floats, Ints, Items
from .products import extremes

__all__ = [
    "as_csr",
    "as_items",
    "as_labels",
    "as_triplets",
    "as_weights",
    "check_finite",
    "check_varied",
    "not_finite",
]


def as_csr(X: Any) -> Items:
    """X as CSR with sorted columns, each but once; the user's own matrix is not touched."""
    rows = sp.csr_array(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def as_items(X: Any, name: str = "X") -> Items:
    """X as a finite float32 or float64 array, or CSR; anything else becomes float64."""
    if sp.issparse(X):
        X = as_csr(X)
        entries = X.data
    else:
        X = np.asarray(X)
        entries = X
    if X.dtype.kind not in "fiub":
        if X.dtype.kind not in "OUST":
            raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}.")
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must hold numbers, got dtype {X.dtype}.") from None
        entries = X.data if sp.issparse(X) else X
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"{name} must be a table of rows and columns, got shape {X.shape}.")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
        entries = X.data if sp.issparse(X) else X
    check_finite(X, entries, name)
    return X


def check_finite(X: Items, entries: npt.NDArray[Any], name: str = "X") -> None:
    """Name the first row that holds NaN or infinity."""
    found = not_finite(X, entries)
    if found is not None:
        row, column, value = found
        what = "NaN" if np.isnan(value) else "infinity (inf)"
        raise ValueError(
            f"{name} contains {what}, first at row {row}, column {column}; expected finite numbers."
        )


def not_finite(X: Items, entries: npt.NDArray[Any]) -> tuple[int, int, float] | None:
    """Row, column and value of the first entry that is NaN or infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(entries)):  # no temporary of the size of X
            return None
    finite = np.isfinite(entries)
    if finite.all():
        return None  # only the sum overflowed
    if sp.issparse(X):
        at = int(np.flatnonzero(~finite)[0])
        row = int(np.searchsorted(X.indptr, at, side="right")) - 1
        column, value = int(X.indices[at]), entries[at]
    else:
        row, column = (int(i) for i in np.argwhere(~finite)[0])
        value = entries[row, column]
    return row, column, float(value)


def check_varied(X: Items) -> None:
    """Some pair of rows must differ."""
    low, high = extremes(X)
    if np.array_equal(low, high):
        raise ValueError(
            f"X: all {X.shape[0]} rows are identical (n_samples={X.shape[0]}), expected rows that "
            "differ."
        )


def as_labels(y: Any) -> tuple[npt.NDArray[Any], Ints]:
    """The classes, and each row's class as 0, 1, ..."""
    from sklearn.utils.multiclass import check_classification_targets

    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must have one label per row, got shape {y.shape}.")
    try:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold one class label per row, all of a kind. {error}") from None
    if len(classes) < 2:
        raise ValueError(f"y has 1 class ({classes.tolist()[0]!r}), expected at least two.")
    return classes, codes.astype(np.int64)


def as_triplets(triplets: Any, n_items: int, name: str = "triplets") -> Ints:
    """Comparisons as int64 row indices, (m, 3) or (m, 4), each of them meaningful."""
    try:
        given = np.asarray(triplets)
        if given.dtype.kind == "O":  # nullable integers of pandas, for one
            given = given.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a table of row indices, 3 or 4 a row.") from None
    if given.ndim != 2 or given.shape[1] not in (3, 4):
        raise ValueError(
            f"{name} must have shape (m, 3) [anchor, near, far] or (m, 4) [near, near, far, far], "
            f"got shape {given.shape}."
        )
    if len(given) == 0:
        raise ValueError(f"{name} holds no comparison, expected at least one.")
    if given.dtype.kind not in "iuf":
        raise ValueError(f"{name} must hold integer row indices, got dtype {given.dtype}.")
    if given.dtype.kind == "f":
        _refuse(given, ~(np.isfinite(given) & (given == np.floor(given))), name, "whole numbers")
    _refuse(given, given < 0, name, "row indices that are not negative")
    _refuse(given, given >= n_items, name, f"row indices below the number of items, {n_items}")
    indices = given.astype(np.int64, copy=False)
    _check_meaning(indices, name)
    return indices


def _refuse(given: npt.NDArray[Any], bad: npt.NDArray[np.bool_], name: str, expected: str) -> None:
    rows = np.flatnonzero(bad.any(axis=1)) if bad.ndim == 2 else np.flatnonzero(bad)
    if len(rows):
        row = int(rows[0])
        raise ValueError(f"{name}: row {row} is {given[row].tolist()}, expected {expected}.")


def _check_meaning(indices: Ints, name: str) -> None:
    if indices.shape[1] == 3:
        anchor, near, far = indices.T
        _refuse(indices, anchor == near, name, "an anchor other than its near item")
        _refuse(indices, anchor == far, name, "an anchor other than its far item")
        _refuse(indices, near == far, name, "a near item other than the far item")
        return
    a, b, c, d = indices.T
    _refuse(indices, (a == b) | (c == d), name, "pairs of two different items")
    same = ((a == c) & (b == d)) | ((a == d) & (b == c))
    _refuse(indices, same, name, "a near pair other than the far pair")


def as_weights(weights: Any, m: int, name: str = "sample_weight") -> Floats | None:
    if weights is None:
        return None
    try:
        given = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, one per comparison.") from None
    if given.shape != (m,):
        raise ValueError(
            f"{name} must have one weight per comparison, shape ({m},), got shape {given.shape}."
        )
    bad = np.flatnonzero(~(np.isfinite(given) & (given >= 0.0)))
    if len(bad):
        raise ValueError(
            f"{name}: entry {bad[0]} is {given[bad[0]]}, expected a finite number not below 0."
        )
    if not given.any():
        raise ValueError(f"{name} is zero everywhere, expected at least one positive weight.")
    return given / float(given.max())  # only their ratios count
