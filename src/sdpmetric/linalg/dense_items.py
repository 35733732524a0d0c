"""Items in a dense array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .._support.typing import Dense, Floats, Ints
from ..engines.threads import map_parts
from . import products
from .blocks import PRODUCT, blocks
from .extremes import column_extremes, first_not_finite
from .fingerprints import array_digest
from .interface import Items
from .scaling import extreme_factor

__all__ = ["DenseItems"]

_DOUBLE = np.dtype(np.float64)
# Columns up to which a block has a thousand rows: products of fewer rows waste the cache.
_NARROW = 512


class DenseItems(Items):
    """A NumPy array."""

    def __init__(self, X: Dense) -> None:
        self.raw = X
        self.shape, self.dtype = X.shape, X.dtype

    @property
    def array(self) -> Dense | None:
        whole: Dense = self.raw
        return whole

    def times(self, P: Floats, *, exact: bool = False) -> Dense:
        if not exact or self.dtype == _DOUBLE:
            return products.times(self.raw, P)
        # A float64 copy of float32 items would need twice their memory.
        return self._times_by_blocks(P, _DOUBLE)

    def transposed_times(self, S: Dense, *, exact: bool = False) -> Floats:
        if not exact or self.dtype == _DOUBLE:
            return products.transposed_times(self.raw, S)
        return self._transposed_by_blocks(S.__getitem__, S.shape[1], _DOUBLE)

    def transposed_rows(
        self, rows: Callable[[slice], Dense], width: int, *, exact: bool = False
    ) -> Floats:
        if self.shape[1] > _NARROW:
            return super().transposed_rows(rows, width, exact=exact)
        return self._transposed_by_blocks(rows, width, _DOUBLE if exact else self.dtype)

    def _times_by_blocks(self, P: Floats, dtype: np.dtype[Any]) -> Dense:
        """``X @ P``, converting a block of rows at a time, never all of X."""
        P = np.ascontiguousarray(P, dtype=dtype)
        out = np.empty((self.shape[0], P.shape[1]), dtype=dtype)

        def multiply(part: slice) -> None:
            for rows, block in self._blocks(part, dtype):
                np.matmul(block, P, out=out[rows])

        map_parts(self.shape[0], multiply, PRODUCT // max(1, P.size))
        return out

    def _transposed_by_blocks(
        self, S: Callable[[slice], Dense], width: int, dtype: np.dtype[Any]
    ) -> Floats:
        """``X.T @ S``, making and converting a block of rows at a time."""

        def multiply(part: slice) -> Floats:
            # float64 also for float32 blocks: a long float32 sum would lose digits.
            total = np.zeros((self.shape[1], width))
            for rows, block in self._blocks(part, dtype):
                total += block.T @ S(rows).astype(dtype, copy=False)
            return total

        least = PRODUCT // max(1, self.shape[1] * width)
        parts = map_parts(self.shape[0], multiply, least)
        return sum(parts[1:], start=parts[0])

    def _blocks(self, part: slice, dtype: np.dtype[Any]) -> Iterator[tuple[slice, Dense]]:
        for block in blocks(part.stop - part.start, self.shape[1]):
            rows = slice(part.start + block.start, part.start + block.stop)
            yield rows, self.raw[rows].astype(dtype, copy=False)

    def magnitudes(self, p: Floats) -> Floats:
        out = np.empty(self.shape[0])
        for rows, block in self._blocks(slice(0, self.shape[0]), _DOUBLE):
            np.matmul(np.abs(block), p, out=out[rows])
        return out

    def products(self, rows: slice | Ints, other: Items, columns: slice) -> Dense:
        tile: Dense = self.raw[rows] @ other.raw[columns].T
        return tile

    def rows(self, which: slice | Ints) -> Dense:
        some: Dense = self.raw[which]
        return some

    def squared_norms(self) -> Floats:
        return products.squared_norms(self.raw)

    def squared_differences(
        self, a: Ints, b: Ints, out: Floats | None = None, other: Items | None = None
    ) -> Floats:
        others = self.raw if other is None else other.raw
        return products.add_distances(self.raw, others, a, b, self.shape[1], out)

    def _scan(self) -> tuple[Dense, Dense]:
        return column_extremes(self.raw)

    def _average(self) -> Floats:
        mean: Floats = self.raw.mean(axis=0, dtype=np.float64)
        return mean

    def first_not_finite(self) -> tuple[int, int, float] | None:
        # Finite extremes of every column prove that all entries are finite: no second pass.
        if self._extremes is not None and all(np.isfinite(bound).all() for bound in self._extremes):
            return None
        place = first_not_finite(self.raw)
        if place is None:
            return None
        row, column = divmod(place, self.shape[1])
        return row, column, float(self.raw[row, column])

    def fingerprint(self) -> bytes:
        return array_digest(self.raw)

    def take(self, rows: Ints) -> Items:
        return DenseItems(self.raw[rows])

    def columns(self, kept: npt.NDArray[np.bool_]) -> Items:
        items = DenseItems(self.raw[:, kept])
        if self._extremes is not None:
            items._extremes = self._extremes[0][kept], self._extremes[1][kept]
        return items

    def multiplied(self, factors: Floats | float) -> Items:
        return DenseItems(self.raw * np.asarray(factors, dtype=self.dtype))

    def centred(self, offset: Floats) -> Items:
        return DenseItems(self.raw - offset.astype(self.dtype))

    def astype(self, dtype: npt.DTypeLike) -> Items:
        if self.dtype == dtype:
            return self
        items = DenseItems(self.raw.astype(dtype))
        if self._extremes is not None:
            # Rounding is monotone, so the extremes of rounded entries are the rounded extremes.
            low, high = self._extremes
            items._extremes = low.astype(dtype), high.astype(dtype)
        return items

    def single(self) -> Items | None:
        if self.dtype != _DOUBLE or extreme_factor(*self.extremes, np.float32) != 1.0:
            return None
        rows, mean = np.empty(self.shape, dtype=np.float32), self.mean()
        for block in blocks(*self.shape):
            # The difference in float64: a large offset would use up float32's digits.
            np.subtract(self.raw[block], mean, out=rows[block], casting="same_kind")
        return DenseItems(rows)

    def mapped(self, components: Floats | None, *, exact: bool = False) -> Items:
        return self if components is None else DenseItems(self.times(components.T, exact=exact))
