"""Distances from some vectors to every row of the corpus, a block of rows at a time.

Rows are read, turned to float64 and mapped block by block: X may be a memory map larger than
memory. Blocks do not depend on the number of threads, and neither do results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .._typing import Dense, Floats
from ..products import squared_norms
from ..threads import over
from .pairs import Pairs
from .vectors import Vectors

__all__ = ["Mapped", "Scan", "sides", "squared"]

ROWS = 2048  # of the corpus in a block
QUERIES = 512  # at a time, by each thread
_CENTRE = 1000  # rows whose mean is near enough to that of all


@dataclass(frozen=True, eq=False)
class Mapped:
    """Rows under a metric, and their squared norms."""

    rows: Floats
    squares: Floats

    def __getitem__(self, part: slice) -> Mapped:
        return Mapped(self.rows[part], self.squares[part])

    def __len__(self) -> int:
        return len(self.rows)


class Scan:
    """The corpus under a metric, None for Euclidean distance.

    With an identity prior M is ``F'F + s I`` for a thin F: most rows of the components, which are
    eigenvectors, have one and the same length. Mapping by F and keeping the row itself costs the
    rank of F, not D, per row and column.
    """

    def __init__(self, X: Dense, components: Floats | None) -> None:
        self.X = X
        n, D = X.shape
        some = np.linspace(0, n - 1, min(n, _CENTRE)).astype(np.int64)
        self.centre = X[some].mean(axis=0, dtype=np.float64)  # products of centred rows round less
        self.kept, self.factor = _split(components, D)
        width = (D if self.kept > 0.0 else 0) + self.factor.shape[1]
        self.unit = 4.0 * (D + width + 16) * float(np.finfo(np.float64).eps)

    def map(self, rows: Dense) -> Mapped:
        centred = rows - self.centre
        parts = [centred @ self.factor]
        if self.kept > 0.0:
            parts.append(self.kept * centred)
        mapped = np.concatenate(parts, axis=1)
        return Mapped(mapped, squared_norms(mapped))

    def blocks(self) -> Iterator[tuple[slice, Mapped]]:
        """All rows, in order."""
        for start in range(0, len(self.X), ROWS):
            block = slice(start, min(start + ROWS, len(self.X)))
            yield block, self.map(np.asarray(self.X[block], dtype=np.float64))

    def slack(self, A: Mapped, B: Mapped) -> Floats:
        """By how much rounding may change distances of A to any of B, (len(A), 1)."""
        bound: Floats = self.unit * (A.squares[:, None] + B.squares.max())
        return bound

    def visit(self, n: int, work: Callable[[slice, slice, Mapped], None]) -> None:
        """``work(queries, rows, mapped rows)`` on blocks of n queries and of all rows of X."""
        starts = range(0, n, QUERIES)
        for block, B in self.blocks():

            def part(numbers: slice, block: slice = block, B: Mapped = B) -> None:
                for start in starts[numbers]:
                    work(slice(start, min(start + QUERIES, n)), block, B)

            over(len(starts), part)


def squared(A: Mapped, B: Mapped) -> Floats:
    """Squared distances, (len(A), len(B))."""
    distances: Floats = A.rows @ B.rows.T
    distances *= -2.0
    distances += A.squares[:, None]
    distances += B.squares
    return distances


def sides(scan: Scan, vectors: Vectors, pairs: Pairs) -> tuple[Mapped, Mapped, Floats]:
    """Queries, their positives, and the squared distance of each positive to its query."""
    Q, P = (scan.map(vectors.gather(rows)) for rows in (pairs.asked, pairs.positive))
    return Q, P, squared_norms(Q.rows[pairs.of_positive] - P.rows)


def _split(components: Floats | None, D: int) -> tuple[float, Floats]:
    """The root of s and F' of ``components' components = F'F + s I``."""
    if components is None:
        return 1.0, np.empty((D, 0))
    lengths = squared_norms(components)
    s = float(lengths.min()) if len(components) == D else 0.0
    more = lengths > s * (1.0 + 1e-9)
    shrunk = np.sqrt(1.0 - s / lengths[more])
    return float(np.sqrt(s)), np.ascontiguousarray(components[more].T * shrunk)
