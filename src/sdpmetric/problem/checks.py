"""Check comparisons and their weights; error messages name the row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._support.checks import as_real
from .._support.typing import Floats, Ints

__all__ = ["as_triplets", "as_weights"]


def as_triplets(triplets: Any, n_items: int, name: str = "triplets") -> Ints:
    """Return comparisons as int64 row indices, (m, 3) or (m, 4), after checking every row."""
    try:
        given = np.asarray(triplets)
        if given.dtype.kind == "O":  # for example nullable integers of pandas
            given = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
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
    # pandas turns integers beside a missing entry into floats, so whole numbers in floats pass.
    if given.dtype.kind == "f":
        _refuse(given, ~(np.isfinite(given) & (given == np.floor(given))), name, "whole numbers")
    _refuse(given, given < 0, name, "row indices that are not negative")
    _refuse(given, given >= n_items, name, f"row indices below the number of items, {n_items}")
    indices = given.astype(np.int64, copy=False)
    _check_meaning(indices, name)
    return indices


def _refuse(given: npt.NDArray[Any], bad: npt.NDArray[np.bool_], name: str, expected: str) -> None:
    """Raise ValueError for the first bad row, if any."""
    rows = np.flatnonzero(bad.any(axis=1)) if bad.ndim == 2 else np.flatnonzero(bad)
    if len(rows):
        row = int(rows[0])
        raise ValueError(f"{name}: row {row} is {given[row].tolist()}, expected {expected}.")


def _check_meaning(indices: Ints, name: str) -> None:
    """Raise ValueError for a comparison of an item with itself, or of a pair with itself."""
    # Such a row has margin 0, or a distance of 0, under every metric: most likely a mistake.
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
    """Return weights in [0, 1], one per comparison, or None for equal weights."""
    if weights is None:
        return None
    with np.errstate(over="ignore"):  # a longer float may become infinite, which is refused below
        given: Floats = as_real(name, weights).astype(np.float64)
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
    # Only ratios matter; the largest becomes 1, so that sums of extreme weights stay in range.
    return given / float(given.max())
