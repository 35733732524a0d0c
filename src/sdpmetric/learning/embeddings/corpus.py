"""The vectors of the corpus and of the queries; a row is read only when it is needed.

One numbering covers both: rows of the corpus are 0 to n - 1, and queries that are vectors of their
own follow from n on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._support.typing import Dense, Ints
from ...linalg.dense_items import DenseItems
from ...linalg.distances import joint_extremes
from ...linalg.items import Items
from ...linalg.scaling import distance_factors

__all__ = ["Vectors"]


@dataclass(frozen=True, eq=False)
class Vectors:
    """The corpus X, and queries Q unless they are rows of X; either may be a memory map."""

    X: Items
    Q: Items | None = None

    @property
    def n_queries(self) -> int:
        """The number of rows that could be a query."""
        return len(self.X if self.Q is None else self.Q)

    @property
    def first(self) -> int:
        """The number of the first query."""
        return 0 if self.Q is None else len(self.X)

    @cached_property
    def factors(self) -> Dense | None:
        """Powers of two for the columns of extreme vectors; None for all others.

        The order of distances is the same, and squares neither over- nor underflow.
        """
        low, high = joint_extremes(self.X, self.X if self.Q is None else self.Q)
        return distance_factors(low, high, np.float64)[0]

    def own(self, queries: Ints) -> Ints:
        """The row of X of each query, or -1 if the query is not a row of X."""
        return queries if self.Q is None else np.full_like(queries, -1)

    def gather(self, numbers: Ints) -> Dense:
        """Copies of the rows with these numbers, in the precision of X."""
        # float64 would double the copy of float32 rows; distances turn one block at a time instead.
        inside = numbers < len(self.X)
        rows = np.empty((len(numbers), self.X.shape[1]), dtype=self.X.dtype)
        rows[inside] = self.X.rows(numbers[inside])
        if self.Q is not None:
            rows[~inside] = self.Q.rows(numbers[~inside] - len(self.X))
        return rows

    def compact(self, triplets: Ints) -> tuple[Items, Ints]:
        """The rows that triplets mention, and the triplets as places among these rows."""
        # X may be a memory map larger than memory: the fit gets no row that it does not use.
        numbers, codes = np.unique(triplets, return_inverse=True)
        return DenseItems(self.gather(numbers)), codes.reshape(triplets.shape).astype(np.int64)
