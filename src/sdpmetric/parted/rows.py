"""Rows in chunks: checks and statistics of columns, and the map to the coordinates of a fit.

A *chunk* is the list that `RowChunks.numbered` makes: a block of rows, its number, its first row
and its length. Each function is a task on one chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._support.typing import Dense, Floats, Ints
from ..linalg import pieces
from ..linalg.items import Items, as_items
from ..linalg.scaling import distance_factors
from ..problem.user_units import LARGE_OFFSET, LIGHT

__all__ = [
    "Columns",
    "RowMap",
    "checked",
    "columns",
    "columns_merged",
    "rows_of",
    "squared_deviations",
    "taken",
]


class Columns(NamedTuple):
    """Statistics of columns: rows, whether sparse, least and largest entries, sums."""

    n: int
    sparse: bool
    dtype: np.dtype[Any]
    low: Dense
    high: Dense
    total: Floats

    @property
    def mean(self) -> Floats:
        return self.total / self.n


@dataclass(frozen=True, eq=False)
class RowMap:
    """What is done to rows before a fit: each step is left out if it is None.

    Attributes
    ----------
    coordinates : (D,) factors of columns or a (D, D) map to the coordinates of the metric
    factors : powers of two that keep squares in range
    kept : columns that vary
    offset : subtracted from columns that lie far from zero
    dtype : precision, at last
    """

    coordinates: Floats | None = None
    factors: Dense | None = None
    kept: npt.NDArray[np.bool_] | None = None
    offset: Floats | None = None
    dtype: np.dtype[Any] | None = None

    def __call__(self, X: Items) -> Items:
        if self.coordinates is not None:
            whole = self.coordinates.ndim == 2
            X = X.mapped(self.coordinates) if whole else X.multiplied(self.coordinates)
        if self.factors is not None:
            X = X.multiplied(self.factors)
        if self.kept is not None:
            X = X.columns(self.kept)
        if self.offset is not None:
            X = X.centred(self.offset)
        return X if self.dtype is None else X.astype(self.dtype)

    def for_columns(self, found: Columns) -> tuple[RowMap, float, Any]:
        """The map of a fit to rows with these columns, in the coordinates of this map.

        Returns
        -------
        The map, the factor of all distances, and the basis of the columns kept (None: all)
        """
        factors, factor = distance_factors(found.low, found.high, found.dtype)
        low, high = found.low.astype(np.float64), found.high.astype(np.float64)
        mean = found.mean
        if factors is not None:
            low, high, mean = low * factors, high * factors, mean * factors
        varied = high > low
        basis = None if varied.all() else sp.eye_array(len(low), format="csc")[:, varied]
        far = np.abs(mean) > LARGE_OFFSET * (high - low)
        offset = np.where(far, mean, 0.0)[varied]
        small = found.dtype == np.float32 and found.n * len(low) <= LIGHT
        rows = RowMap(
            coordinates=self.coordinates,
            factors=factors,
            kept=None if basis is None else varied,
            offset=offset if offset.any() else None,
            dtype=np.dtype(np.float64) if small else None,
        )
        return rows, factor, basis


def checked(chunk: list[Any], n_features: int) -> Items:
    """The rows of a chunk as items, checked; a message names the chunk."""
    block, number, start, length = chunk
    name = f"X, chunk {number} (rows {start} to {start + length - 1}),"
    items = as_items(block, name, scan=True)
    if items.shape != (length, n_features):
        raise ValueError(f"{name} has shape {items.shape}, expected {(length, n_features)}.")
    return items


def rows_of(chunk: list[Any]) -> Items:
    """The rows of a chunk that has been checked, as items."""
    return as_items(chunk[0], finite=False)


def columns(chunk: list[Any], rows: RowMap, n_features: int) -> Columns:
    """Check a chunk; return statistics of its columns after a map."""
    X = rows(checked(chunk, n_features))
    n = len(X)
    return Columns(n, X.sparse, X.dtype, *X.extremes, n * X.mean())


def columns_merged(parts: list[Columns]) -> Columns:
    """Statistics of all rows of several chunks."""
    return Columns(
        sum(part.n for part in parts),
        any(part.sparse for part in parts),
        np.result_type(*(part.dtype for part in parts)),
        np.min([part.low for part in parts], axis=0),
        np.max([part.high for part in parts], axis=0),
        np.sum([part.total for part in parts], axis=0),
    )


def squared_deviations(chunk: list[Any], mean: Floats, factors: Floats) -> Floats:
    """Sums of squares of ``factors (x - mean)`` in each column of a chunk."""
    return pieces.squared_deviations(rows_of(chunk), mean, factors)


def taken(chunk: list[Any], wanted: Ints, rows: RowMap) -> Items:
    """The rows of a chunk among those wanted (ascending row numbers), mapped."""
    _, _, start, length = chunk
    low, high = np.searchsorted(wanted, [start, start + length])
    return rows(rows_of(chunk).take(wanted[low:high] - start))
