"""Items mapped by several factors, whose squared distances add up."""

from __future__ import annotations

import numpy as np

from .._support.typing import Floats, Ints
from .interface import Items
from .rounding import difference_error

__all__ = ["WeightedTables"]


class WeightedTables:
    """Items whose squared distances are a weighted sum of those in several tables.

    ``rounding`` bounds the rounding error of a margin, the difference of two of these distances.
    """

    def __init__(self, *tables: tuple[float, Items]) -> None:
        # A table of weight 0 (no prior, or the prior alone) would cost its products for nothing.
        self.tables = [(weight, table) for weight, table in tables if weight > 0.0]
        self.norms = np.sum([weight * Z.squared_norms() for weight, Z in self.tables], axis=0)
        both = 2.0 * float(self.norms.max())  # at least |a|^2 + |b|^2, whichever rows these are
        # The errors of the tables add up as their squares do, so the largest factor bounds all.
        self.rounding: float = max(
            difference_error(Z.shape[1], Z.dtype, both) for _, Z in self.tables
        )

    def products(self, rows: Ints, columns: slice) -> Floats:
        """Return the weighted sum of the inner products of some rows with a slice of rows."""
        (weight, Z), *others = self.tables
        total: Floats = np.asarray(weight * Z.products(rows, Z, columns), dtype=np.float64)
        for weight, Z in others:
            total += weight * Z.products(rows, Z, columns)
        return total

    def distances(self, a: Ints, b: Ints) -> Floats:
        """Return the squared distances of the pairs (a, b)."""
        total = np.zeros(len(a))
        for weight, Z in self.tables:
            total += weight * Z.squared_differences(a, b)
        return total
