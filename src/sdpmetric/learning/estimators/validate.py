"""Check rows by scikit-learn's rules, with our own message for NaN and infinity."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from ..._support.messy import HELP, first_word, names_of
from ...engines.dask_arrays import is_dask
from ...linalg.items import Items, check_finite, items_of
from ...linalg.sparse_format import check_sparse

__all__ = ["rows_to_fit", "set_fitted", "validated"]

_COLUMNS = ("n_features_in_", "feature_names_in_")
_KEPT = np.dtype(np.float64), np.dtype(np.float32)
_UNCHECKED = "no_validation"  # scikit-learn's word for a y that it is not to look at


def validated(estimator: Any, X: Any) -> Items:
    """Return X as `Items`, checked by scikit-learn's rules against the columns of the fit."""
    return _checked(estimator, X, _UNCHECKED, reset=False)[0]


def rows_to_fit(estimator: Any, X: Any, y: Any = _UNCHECKED) -> tuple[Items, Any, dict[str, Any]]:
    """Check the rows of a fit, and leave the estimator as it is.

    scikit-learn's check would set the attributes of the columns at once. But a fit that is refused
    later, or fails, must not change a metric that works.

    Returns
    -------
    X as items whose extremes are known, y, and the attributes of the columns
    """
    scratch = copy(estimator)
    for name in _COLUMNS:
        vars(scratch).pop(name, None)
    items, y = _checked(scratch, X, y, reset=True)
    return items, y, {name: vars(scratch)[name] for name in _COLUMNS if name in vars(scratch)}


def set_fitted(estimator: Any, columns: dict[str, Any], **fitted: Any) -> None:
    """Set the attributes of a fit, all at once: no interrupt can leave half of them behind."""
    kept = {name: value for name, value in vars(estimator).items() if name not in _COLUMNS}
    estimator.__dict__ = kept | columns | fitted


def _checked(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[Items, Any]:
    if is_dask(X):
        # NumPy would compute it here, all of it.
        raise ValueError(
            f"X is a Dask array, and {type(estimator).__name__} needs its rows in one memory here; "
            "SDPMetric and TripletSDPMetric fit and transform Dask arrays, and X.compute() makes a "
            "NumPy array."
        )
    if reset and _is_plain(X, y):
        items, estimator.n_features_in_ = items_of(X), X.shape[1]
        check_finite(items, scan=True)
        return items, y if isinstance(y, np.ndarray) else None
    given = X
    check_sparse(X)  # scikit-learn would have SciPy convert a damaged matrix
    try:
        with np.errstate(over="ignore"):  # `check_finite` names an entry that is too large
            checked = validate_data(
                estimator,
                X,
                y,
                reset=reset,
                accept_sparse="csr",
                dtype=list(_KEPT),
                # scikit-learn's message does not name the row and the column: `check_finite` does.
                ensure_all_finite=False,
            )
    except OverflowError:
        raise ValueError("X must hold numbers that float64 can hold, got a larger one.") from None
    except (TypeError, ValueError) as error:
        # The message about a text does not say where it is. Other errors are clear as they are.
        of_cell = isinstance(error, TypeError) or "could not convert" in str(error)
        word = first_word(X) if of_cell else None
        if word is None:
            raise
        raise ValueError(f"X must hold numbers, got {word}. {HELP}") from None
    X, y = checked if isinstance(checked, tuple) else (checked, None)
    items = items_of(X)
    # Fits need the column extremes later: the pass for NaN finds these too.
    check_finite(items, scan=reset, columns=names_of(given))
    return items, y


def _is_plain(X: Any, y: Any) -> bool:
    """Whether scikit-learn's check of a fit would find nothing: its look takes 0.2 ms.

    X is an array of float32 or float64, y a label for each of its rows, whole numbers, or not
    checked.
    """
    if type(X) is not np.ndarray or X.dtype not in _KEPT or X.ndim != 2 or 0 in X.shape:
        return False
    if type(y) is np.ndarray:
        return y.shape == X.shape[:1] and y.dtype.kind in "iu"
    return isinstance(y, str) and y == _UNCHECKED
