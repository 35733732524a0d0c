"""Stored vectors, the corpus and the queries, of which only the rows that are asked for are read.

A row of the corpus goes by its number. Queries that are vectors of their own come after the last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Dense, Ints

__all__ = ["Vectors"]


@dataclass(frozen=True, eq=False)
class Vectors:
    """The corpus X, and queries Q unless they are rows of X; either may be a memory map."""

    X: Dense
    Q: Dense | None = None

    @property
    def n_queries(self) -> int:
        """How many rows could be a query."""
        return len(self.X if self.Q is None else self.Q)

    @property
    def first(self) -> int:
        """The number of the first query."""
        return 0 if self.Q is None else len(self.X)

    def own(self, asked: Ints) -> Ints:
        """The row of X that each query itself is, -1 if it is none."""
        return asked if self.Q is None else np.full_like(asked, -1)

    def gather(self, numbers: Ints) -> Dense:
        """Copies of these rows, in the precision of X."""
        inside = numbers < len(self.X)
        rows = np.empty((len(numbers), self.X.shape[1]), dtype=self.X.dtype)
        rows[inside] = self.X[numbers[inside]]
        if self.Q is not None:
            rows[~inside] = self.Q[numbers[~inside] - len(self.X)]
        return rows

    def compact(self, triplets: Ints) -> tuple[Dense, Ints]:
        """The rows that triplets mention, and the triplets in terms of these."""
        numbers, codes = np.unique(triplets, return_inverse=True)
        return self.gather(numbers), codes.reshape(triplets.shape).astype(np.int64)
