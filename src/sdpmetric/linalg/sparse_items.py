"""Items in a CSR matrix, never made dense."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._support.typing import Dense, Floats, Ints
from ..engines.threads import map_parts
from .blocks import PRODUCT
from .dense_items import DenseItems
from .extremes import csr_extremes, first_not_finite
from .fingerprints import array_digest
from .interface import Items
from .products import add_distances

__all__ = ["SparseItems"]

_DOUBLE = np.dtype(np.float64)


class SparseItems(Items):
    """A CSR matrix with sorted columns, each stored once per row."""

    sparse: ClassVar[bool] = True

    def __init__(self, X: Any) -> None:
        self.raw = X
        self.shape, self.dtype = X.shape, X.dtype

    @property
    def arrays(self) -> tuple[Dense, Ints, Ints]:
        """Data, column indices and bounds of rows: the form that compiled loops take."""
        return self.raw.data, self.raw.indices, self.raw.indptr

    def times(self, P: Floats, *, exact: bool = False) -> Dense:
        dtype = _DOUBLE if exact else self.dtype
        P = np.ascontiguousarray(P, dtype=dtype)
        out = np.empty((self.shape[0], P.shape[1]), dtype=dtype)

        def multiply(rows: slice) -> None:
            out[rows] = self._view(rows, dtype) @ P

        map_parts(self.shape[0], multiply, PRODUCT // max(1, P.size))
        return out

    def transposed_times(self, S: Dense, *, exact: bool = False) -> Floats:
        dtype = _DOUBLE if exact else self.dtype
        S = S.astype(dtype, copy=False)

        def multiply(rows: slice) -> Floats:
            return np.asarray(self._view(rows, dtype).T @ S[rows], dtype=np.float64)

        least = PRODUCT // max(1, self.shape[1] * S.shape[1])
        parts = map_parts(self.shape[0], multiply, least)
        return sum(parts[1:], start=parts[0])

    def _view(self, rows: slice, dtype: np.dtype[Any]) -> Any:
        """Return a block of rows that shares X's arrays; SciPy's own slices are copies."""
        X = self.raw
        stored = slice(X.indptr[rows.start], X.indptr[rows.stop])
        starts = X.indptr[rows.start : rows.stop + 1] - stored.start
        data = X.data[stored].astype(dtype, copy=False)
        shape = (rows.stop - rows.start, X.shape[1])
        return sp.csr_array((data, X.indices[stored], starts), shape=shape)

    def magnitudes(self, p: Floats) -> Floats:
        out: Floats = abs(self.raw) @ p
        return out

    def products(self, rows: slice | Ints, other: Items, columns: slice) -> Dense:
        # A slice of all rows would be a copy of all rows.
        whole = columns == slice(0, len(other))
        with_ = other.raw if whole else other.raw[columns]
        tile: Dense = (self.raw[rows] @ with_.T).toarray()
        return tile

    def rows(self, which: slice | Ints) -> Dense:
        some: Dense = self.raw[which].toarray()
        return some

    def squared_norms(self) -> Floats:
        return np.asarray(self.raw.astype(np.float64).power(2).sum(axis=1)).ravel()

    def squared_differences(
        self, a: Ints, b: Ints, out: Floats | None = None, other: Items | None = None
    ) -> Floats:
        others = self.arrays if other is None else SparseItems(other.raw).arrays
        return add_distances(self.arrays, others, a, b, self.shape[1], out)

    def _scan(self) -> tuple[Dense, Dense]:
        return csr_extremes(self.raw)

    def _average(self) -> Floats:
        data, indices, _ = self.arrays  # SciPy would sum float32 in float32
        return np.bincount(indices, data, self.shape[1]) / self.shape[0]

    def first_not_finite(self) -> tuple[int, int, float] | None:
        # Finite extremes of every column prove that all entries are finite: no second pass.
        if self._extremes is not None and all(np.isfinite(bound).all() for bound in self._extremes):
            return None
        data, indices, indptr = self.arrays
        place = first_not_finite(data)
        if place is None:
            return None
        row = int(np.searchsorted(indptr, place, side="right")) - 1
        return row, int(indices[place]), float(data[place])

    def fingerprint(self) -> bytes:
        return b"".join(map(array_digest, self.arrays)) + str(self.shape).encode()

    def take(self, rows: Ints) -> Items:
        return SparseItems(self.raw[rows])

    def columns(self, kept: npt.NDArray[np.bool_]) -> Items:
        return SparseItems(self.raw[:, kept])

    def multiplied(self, factors: Floats | float) -> Items:
        # Entry by entry: a product of sparse matrices would leave columns unsorted.
        data, indices, indptr = self.arrays
        given = np.asarray(factors, dtype=self.dtype)
        scaled = data * (given if given.ndim == 0 else given[indices])
        return SparseItems(sp.csr_array((scaled, indices, indptr), shape=self.shape))

    def centred(self, offset: Floats) -> Items:
        data, indices, indptr = self.arrays
        stored = np.bincount(indices, minlength=self.shape[1])
        if np.any(stored[offset != 0.0] < len(self)):
            raise TypeError("sparse columns with zeros cannot be centred: zeros must stay zero")
        shifted = data - offset.astype(self.dtype)[indices]
        return SparseItems(sp.csr_array((shifted, indices, indptr), shape=self.shape))

    def astype(self, dtype: npt.DTypeLike) -> Items:
        if self.dtype == dtype:
            return self
        items = SparseItems(self.raw.astype(dtype))
        if self._extremes is not None:
            # Rounding is monotone, so the extremes of rounded entries are the rounded extremes.
            low, high = self._extremes
            items._extremes = low.astype(dtype), high.astype(dtype)
        return items

    def mapped(self, components: Floats | None, *, exact: bool = False) -> Items:
        return self if components is None else DenseItems(self.times(components.T, exact=exact))
