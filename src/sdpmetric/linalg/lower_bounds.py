"""Tables of float32 rows whose products bound every squared distance from below.

Products in float32 cost half of those in float64. `rounding.lowered_norms` subtracts a bound on
their rounding, so an exact search needs the distances themselves, in float64 from X, only for the
few pairs whose bound is small enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.typing import Dense, Ints
from .blocks import LARGE_BYTES, slices
from .interface import Items
from .kernels.rows import add_sparse_products
from .products import squared_norms
from .rounding import lowered_norms
from .scaling import power_of_two
from .sparse_items import SparseItems

__all__ = ["CentredRows", "DenseTable", "SparseTable", "lower_bounds"]


def lower_bounds(items: Items, n_columns: int | None = None) -> DenseTable | SparseTable:
    """Make a table with ``lower[a] + lower[b] - 2 products[a, b] <= unit d(a, b)^2`` for all rows.

    Products are those with the first ``n_columns`` rows, with all by default.

    Its ``stored`` are the items in the form that compiled loops take; its ``tile`` is how many rows
    and columns of products are made at a time.
    """
    if isinstance(items, SparseItems):
        return SparseTable(items, n_columns)
    return DenseTable(items)


class CentredRows:
    """Dense rows as float32, centred, and scaled so that their squares fit into float32."""

    def __init__(self, items: Items) -> None:
        self.items = items
        self.mean = items.mean().astype(items.dtype)
        # From the extremes that the fit has cached: no pass over the rows.
        low, high = items.extremes
        size = float(max(np.max(high - self.mean), np.max(self.mean - low)))
        self.factor = power_of_two(size)  # a power of two adds no rounding
        self.unit = self.factor**2

    def rows(self, rows: slice | Ints) -> Dense:
        """Some rows, centred and scaled, as contiguous float32."""
        # Centred and scaled before the conversion: a large offset would use up float32's digits.
        block = self.items.rows(rows) - self.mean
        block *= block.dtype.type(self.factor)
        return np.ascontiguousarray(block, dtype=np.float32)


class DenseTable(CentredRows):
    """Dense items. Their float32 rows are kept if they fit into LARGE_BYTES, else made per tile."""

    tile = 2048, 1024  # a tile of float32 then fits into the cache
    small = 512, 1024  # where rows are not converted again for every tile

    def __init__(self, items: Items) -> None:
        super().__init__(items)
        n, D = items.shape
        self.stored = items.raw
        self.whole: Dense | None = None
        if 4 * n * D <= LARGE_BYTES:
            self.whole = self.rows(slice(0, n))
            self.tile = min(self.tile, self.small)
        parts = [squared_norms(self.rows(block)) for block in slices(0, n, self.tile[0])]
        self.lower = lowered_norms(np.concatenate(parts), D)

    def rows(self, rows: slice | Ints) -> Dense:
        return super().rows(rows) if self.whole is None else self.whole[rows]

    def products(self, A: Dense, columns: slice, room: Dense) -> Dense:
        """Return the products of some rows, from `rows`, with other rows, written into ``room``."""
        B = self.rows(columns)
        tile = room[: len(A) * len(B)].reshape(len(A), len(B))
        return np.matmul(A, B.T, out=tile)


class SparseTable:
    """CSR items, not centred, since a shift would fill the zeros; products go by feature."""

    def __init__(self, items: SparseItems, n_columns: int | None = None) -> None:
        data, indices, indptr = self.stored = items.arrays
        n_columns = n_columns or items.shape[0]
        self.tile = 128, n_columns  # a row's products with all others come at once
        factor = power_of_two(float(np.abs(data).max(initial=0.0)))
        self.unit = factor**2
        scaled = items.multiplied(factor).astype(np.float32)
        by_feature = scaled.raw[:n_columns].tocsc()
        self.by_row = scaled.raw.data, indices, indptr
        self.by_feature = by_feature.data, by_feature.indices, by_feature.indptr
        # The proof in `rounding` counts terms of a sum; zeros that are not stored add none.
        longest = int(np.diff(indptr).max(initial=0))
        self.lower = lowered_norms(scaled.squared_norms(), longest)

    def rows(self, rows: slice) -> slice:
        """The slice itself: a compiled loop reads the CSR arrays."""
        return rows

    def products(self, rows: Any, columns: slice, room: Dense) -> Dense:
        """Return the products of some rows with all columns, written into ``room``."""
        shape = rows.stop - rows.start, columns.stop
        tile = room[: shape[0] * shape[1]].reshape(shape)
        tile[:] = 0.0
        add_sparse_products(self.by_row, self.by_feature, rows.start, tile)
        return tile
