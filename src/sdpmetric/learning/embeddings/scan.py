"""Distances from query vectors to every row of the corpus, a block of rows at a time.

Rows are read, turned to float64 and mapped block by block: X may be a memory map larger than
memory. Blocks do not depend on the number of threads, so results do not either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..._support.typing import Dense, Floats
from ...engines.threads import map_parts
from ...linalg.blocks import slices
from ...linalg.distances import MappedRows
from ...linalg.products import squared_norms
from ...linalg.rounding import order_slack
from .corpus import Vectors
from .pairs import Pairs

__all__ = ["Scan", "query_positive_distances"]

# Rows of the corpus in a block, and queries that a thread takes at a time: a block of distances in
# float64 then has 8 MB a thread, whatever the size of the corpus.
ROWS = 2048
QUERIES = 512
# Rows whose mean is the centre. Distances are the same for any centre; a good one only makes
# rounding smaller, which is not worth a pass over a memory map.
_CENTRE = 1000
# Relative difference of squared lengths below which two components count as equally long.
_SAME_LENGTH = 1e-9


class Scan:
    """The corpus under a metric, or by Euclidean distance if there are no components.

    With an identity prior M is ``F'F + s I`` for a thin F: most rows of the components, which are
    eigenvectors, have one and the same length. Mapping by F and keeping the row itself costs the
    rank of F, not D, per row and column.
    """

    def __init__(self, vectors: Vectors, components: Floats | None) -> None:
        self.X, self.factors = vectors.X, vectors.factors
        n, D = self.X.shape
        # Spread over the corpus, whose first rows may be all of one topic.
        sample = np.linspace(0, n - 1, min(n, _CENTRE)).astype(np.int64)
        # Squared distances come from products, and products of centred rows round less.
        self.centre = self._in_range(self.X.rows(sample)).mean(axis=0, dtype=np.float64)
        self.kept, self.thin = _split(components, D)
        width = (D if self.kept > 0.0 else 0) + self.thin.shape[1]
        # Terms that rounding adds up in: D in the map of a row, the width in a distance.
        self.terms = D + width

    def map(self, rows: Dense) -> MappedRows:
        """Map rows so that Euclidean distances between them are those under the metric."""
        centred = self._in_range(rows) - self.centre
        parts = [centred @ self.thin]
        if self.kept > 0.0:
            parts.append(self.kept * centred)
        mapped = np.concatenate(parts, axis=1)
        return MappedRows.of(mapped)

    def _in_range(self, rows: Dense) -> Dense:
        return rows if self.factors is None else rows * self.factors

    def blocks(self) -> Iterator[tuple[slice, MappedRows]]:
        """The rows of the corpus in order, block by block, as slices and mapped rows."""
        for block in slices(0, len(self.X), ROWS):
            yield block, self.map(self.X.rows(block))

    def slack(self, A: MappedRows, B: MappedRows) -> Floats:
        """Differences of distances from A to rows of B up to this may be rounding, (len(A), 1)."""
        # One bound for all of B, by its longest row: a bound for each pair would be another table.
        squares = A.squares[:, None] + B.squares.max()
        bound: Floats = order_slack(self.terms, np.float64, squares)
        return bound

    def visit(self, n: int, work: Callable[[slice, slice, MappedRows], None]) -> None:
        """Call ``work(queries, rows, mapped rows)`` for blocks of n queries and of all rows."""
        queries = list(slices(0, n, QUERIES))
        # Rows outside, queries inside: each row of a large corpus is read and mapped once.
        for block, B in self.blocks():
            # Defaults bind this block: a closure would see the variables of a later one.
            def visit_part(numbers: slice, block: slice = block, B: MappedRows = B) -> None:
                for subset in queries[numbers]:
                    work(subset, block, B)

            map_parts(len(queries), visit_part)


def query_positive_distances(
    scan: Scan, vectors: Vectors, pairs: Pairs
) -> tuple[MappedRows, MappedRows, Floats]:
    """Mapped queries, mapped positives, and the squared distance of each positive to its query."""
    Q, P = (scan.map(vectors.gather(rows)) for rows in (pairs.queries, pairs.positive))
    # From differences, which round less than products; there are few enough of them.
    return Q, P, squared_norms(Q.rows[pairs.of_positive] - P.rows)


def _split(components: Floats | None, D: int) -> tuple[float, Floats]:
    """The root of s, and F', in ``components' components = F'F + s I``."""
    if components is None:
        return 1.0, np.empty((D, 0))
    lengths = squared_norms(components)
    # With fewer than D components the metric has a null space, so s is 0.
    s = float(lengths.min()) if len(components) == D else 0.0
    more = lengths > s * (1.0 + _SAME_LENGTH)
    shrunk = np.sqrt(1.0 - s / lengths[more])
    return float(np.sqrt(s)), np.ascontiguousarray(components[more].T * shrunk)
