"""The energy of each class: the loss that a row would have if it belonged to that class.

The rule is that of Weinberger and Saul (LMNN, 2009) in our terms. With squared distances d to the
training rows and a margin W, the energy of class c is the sum of

- the distances to the k nearest rows of c, which should be small;
- a hinge for each of them and each of the m nearest rows of other classes, which should be farther
  away by W;
- a hinge for each training row of another class that would have the row nearer than its own k-th
  nearest row of the same class plus W.

W is the mean distance of the training rows to their k nearest rows of the same class, so no unit
enters. Why this rule and not others: benchmarks/README.md, bench-rules. The other rules, whose
"energies" are the mean distance alone or the number of votes, are here too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from ..._support.typing import Floats, Ints
from ...linalg.blocks import RESULT_BYTES, blocks

__all__ = ["RULES", "ClassEnergies"]

RULES = "energy", "mean", "vote"

_IMPOSTORS = 10  # m: the nearest rows of other classes that should be farther away


@dataclass(frozen=True, eq=False)
class ClassEnergies:
    """Training rows in order of their classes, and what the rule needs to know of each.

    Attributes
    ----------
    rows : (n, k) mapped rows, by class
    starts : (classes + 1,) where each class begins; the last is n
    perimeters : (n,) distance within which a row of another class costs
    margin : W
    n_neighbors : k
    """

    rows: Floats
    starts: Ints
    perimeters: Floats
    margin: float
    n_neighbors: int

    @classmethod
    def learn(cls, rows: Floats, codes: Ints, n_neighbors: int) -> Self:
        """Learn the perimeters of mapped rows whose classes are 0, 1, ..., in this order."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(codes))])
        farthest = np.full(len(rows), np.nan)  # a row alone in its class has no near row
        near = np.full(len(rows), np.nan)
        for low, high in pairwise(starts):
            k = min(n_neighbors, high - low - 1)
            if k < 1:
                continue
            for block in blocks(high - low, high - low, RESULT_BYTES):
                own = np.arange(block.start, block.stop)
                distances = _squared_distances(rows[low + own], rows[low:high])
                distances[np.arange(len(own)), own] = np.inf
                smallest = np.partition(distances, k - 1, axis=1)[:, :k]
                near[low + own], farthest[low + own] = smallest.mean(axis=1), smallest[:, -1]
        alone = np.isnan(near)
        margin = float(near[~alone].mean()) if not alone.all() else 0.0
        perimeters = np.where(alone, margin, farthest) + margin
        # Rows that all coincide have no scale of their own: any one will do.
        return cls(rows, starts, perimeters, margin if margin > 0.0 else 1.0, n_neighbors)

    def by(self, rule: str, queries: Floats, own: Ints | None = None) -> Floats:
        """(queries, classes) energies by one of the `RULES`, the best class least."""
        how = {"energy": self.of, "mean": self.nearest, "vote": self.votes}
        return how[rule](queries, own)

    def of(self, queries: Floats, own: Ints | None = None) -> Floats:
        """(queries, classes) energies in units of the margin, the best class least.

        ``own`` has the training row that each query is, which then does not count.
        """
        energies = np.empty((len(queries), len(self.starts) - 1))
        for block, distances in self._distances(queries, own):
            energies[block] = self._energies(distances) / self.margin
        return energies

    def nearest(self, queries: Floats, own: Ints | None = None) -> Floats:
        """(queries, classes) mean squared distances to the k nearest rows of each class."""
        means = np.empty((len(queries), len(self.starts) - 1))
        for block, distances in self._distances(queries, own):
            means[block] = (
                _filled(self._near(distances, self.n_neighbors)).mean(axis=2) / self.margin
            )
        return means

    def votes(self, queries: Floats, own: Ints | None = None) -> Floats:
        """(queries, classes) votes of the k nearest rows of all classes, negative."""
        counts = np.empty((len(queries), len(self.starts) - 1))
        k = min(self.n_neighbors, len(self.rows) - (own is not None))
        for block, distances in self._distances(queries, own):
            nearest = np.argpartition(distances, k - 1, axis=1)[:, :k]
            voters = np.searchsorted(self.starts, nearest, side="right") - 1
            counts[block] = (voters[:, :, None] == np.arange(counts.shape[1])).sum(axis=1)
        return -counts

    def _distances(self, queries: Floats, own: Ints | None) -> Iterator[tuple[slice, Floats]]:
        # Three arrays of this size are alive at a time.
        for block in blocks(len(queries), 3 * len(self.rows), RESULT_BYTES):
            distances = _squared_distances(queries[block], self.rows)
            if own is not None:
                distances[np.arange(len(distances)), own[block]] = np.inf
            yield block, distances

    def _near(self, distances: Floats, k: int) -> Floats:
        """(queries, classes, k) the least distances of each class, ascending; inf if too few."""
        found = np.full((len(distances), len(self.starts) - 1, k), np.inf)
        for c, (low, high) in enumerate(pairwise(self.starts)):
            own, size = distances[:, low:high], min(k, high - low)
            smallest = np.partition(own, size - 1, axis=1)[:, :size] if size < high - low else own
            found[:, c, :size] = np.sort(smallest, axis=1)
        return found

    def _energies(self, distances: Floats) -> Floats:
        k, W = self.n_neighbors, self.margin
        near = self._near(distances, max(k, _IMPOSTORS))
        own = _filled(near[:, :, :k])
        energies: Floats = own.sum(axis=2)
        # 1. Rows of other classes that would be too near. At most _IMPOSTORS of the first
        # 2 * _IMPOSTORS rows belong to the class itself.
        n, n_classes, _ = near.shape
        candidates = near[:, :, :_IMPOSTORS].reshape(n, -1)
        kept = min(2 * _IMPOSTORS, candidates.shape[1])
        which = np.argpartition(candidates, kept - 1, axis=1)[:, :kept]
        found = np.take_along_axis(candidates, which, axis=1)
        order = np.argsort(found, axis=1)
        found = np.take_along_axis(found, order, axis=1)
        classes = np.take_along_axis(which, order, axis=1) // _IMPOSTORS
        for c in range(n_classes):
            others = np.sort(np.where(classes == c, np.inf, found), axis=1)[:, :_IMPOSTORS]
            # Neither term of an infinite difference counts: that row does not exist.
            limits = np.where(np.isfinite(others), W - others, -np.inf)
            excess = own[:, c, :, None] + limits[:, None, :]
            energies[:, c] += np.fmax(excess, 0.0).sum(axis=(1, 2))
        # 2. Training rows of other classes inside whose perimeter the row would lie.
        invaded = np.maximum(self.perimeters - distances, 0.0)
        by_class = np.add.reduceat(invaded, self.starts[:-1], axis=1)
        energies += by_class.sum(axis=1, keepdims=True) - by_class
        return energies


def _filled(near: Floats) -> Floats:
    """The last distance of a class of few rows stands for those that are missing."""
    last = np.where(np.isfinite(near), near, -np.inf).max(axis=2, keepdims=True)
    # None at all: the query is the only row of its class, and infinitely far from it.
    last = np.where(np.isfinite(last), last, np.inf)
    filled: Floats = np.where(np.isfinite(near), near, last)
    return filled


def _squared_distances(A: Floats, B: Floats) -> Floats:
    products = A @ B.T
    squared = np.sum(A**2, axis=1)[:, None] + np.sum(B**2, axis=1) - 2.0 * products
    positive: Floats = np.maximum(squared, 0.0)
    return positive
