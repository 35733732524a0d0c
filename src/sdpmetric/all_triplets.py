"""Every triplet of a labelled set: a row, one of its targets, and any row of another class.

They are far too many to list (132 million for 7,000 digits) but easily searched: under a given
metric, blocked matrix products find all of them whose margin is below a limit. A triplet is one
number, ``(row * targets + target's rank) * rows + far row``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from ._typing import Floats, Ints, Items
from .kernels.margins import count_margins, list_margins
from .losses import Loss
from .margin import best_rho
from .products import squared_differences, squared_norms
from .threads import over

__all__ = ["AllTriplets", "Mapped"]

T = TypeVar("T")

_ROWS, _COLUMNS = 1024, 1024  # of a tile of products
_BINS = 1 << 14
_SAMPLE = 1000  # rows from which a limit is estimated


class Mapped:
    """Items whose squared distances are a weighted sum of those in several tables."""

    def __init__(self, *tables: tuple[float, Items]) -> None:
        self.tables = [(weight, table) for weight, table in tables if weight > 0.0]
        self.norms = np.sum([weight * squared_norms(T) for weight, T in self.tables], axis=0)
        # What rounding may do to a squared distance.
        slack = [(T.shape[1] + 16) * float(np.finfo(T.dtype).eps) for _, T in self.tables]
        self.rounding = 4.0 * max(slack) * float(self.norms.max())

    def products(self, rows: Ints, columns: slice) -> Floats:
        total = np.zeros((len(rows), columns.stop - columns.start))
        for weight, T in self.tables:
            tile = T[rows] @ T[columns].T
            total += weight * (tile.toarray() if sp.issparse(tile) else tile)
        return total

    def distances(self, a: Ints, b: Ints) -> Floats:
        total = np.zeros(len(a))
        for weight, T in self.tables:
            total += weight * squared_differences(T, a, b)
        return total


@dataclass(frozen=True, eq=False)
class AllTriplets:
    """All triplets of class codes ``y`` and targets (rows of the same class, -1 for none).

    ``weights`` are those of the anchors, 0 for rows that are left out.
    """

    y: Ints
    targets: Ints
    weights: Floats

    @property
    def others(self) -> Ints:
        """How many rows of another class each row has."""
        counts: Ints = len(self.y) - np.bincount(self.y)[self.y]
        return counts

    def count(self) -> int:
        return int(np.sum(self.others * self._per_row * (self.weights > 0.0)))

    def total(self) -> float:
        """The sum of all weights."""
        return float(np.sum(self.others * self._per_row * self.weights))

    @property
    def _per_row(self) -> Ints:
        counts: Ints = np.sum(self.targets >= 0, axis=1)
        return counts

    @property
    def _anchors(self) -> Ints:
        """The rows that have triplets, and weight."""
        return np.flatnonzero((self._per_row > 0) & (self.weights > 0.0))

    def codes(self, far: Ints) -> Ints:
        """The triplets of each row, all of its targets and its far rows ``far`` (-1 for none)."""
        n, k = self.targets.shape
        codes = (np.arange(n * k).reshape(n, k, 1) * n) + far[:, None, :]
        there = (self.targets[:, :, None] >= 0) & (far[:, None, :] >= 0)
        return np.sort(codes[there & (self.weights > 0.0)[:, None, None]])

    def indices(self, codes: Ints) -> tuple[Ints, Floats]:
        """Triplets as row indices [anchor, near, far], and their weights."""
        n, k = self.targets.shape
        pair, far = np.divmod(codes, n)
        anchor = pair // k
        near = self.targets.ravel()[pair]
        return np.stack([anchor, near, far], axis=1), self.weights[anchor]

    def limit(self, items: Mapped, loss: Loss, unit: float, rho: float) -> float:
        """The margin rho over all triplets, or a little more; at most the given one.

        ``unit`` times a weight is a coefficient of the objective. From a histogram whose bins
        count with their upper ends, so that slopes are too small and rho is never too small.
        """
        top = rho + loss.support + items.rounding
        bottom = -top
        ends, weights = self._histogram(items, self._anchors, bottom, top)
        excess = -unit * float(weights @ loss.slope(ends - rho)) - 1.0
        return min(rho, best_rho(ends, unit * weights, loss, rho)) if excess > 0.0 else rho

    def first(self, items: Mapped, loss: Loss, unit: float) -> Ints:
        """Triplets to start from: enough of them for a bounded objective."""
        seen = self._anchors
        if len(seen) > _SAMPLE:
            seen = seen[:: len(seen) // _SAMPLE]
        share = float(np.sum((self.others * self._per_row * self.weights)[seen])) / self.total()
        # Twice the weight that is needed, if there is so much.
        unit = min(unit, max(0.5 * unit, 1.1 / (loss.max_slope * self.total())))
        top = 4.0 * float(items.norms.max())
        ends, weights = self._histogram(items, seen, -top, top)
        rho = best_rho(ends, unit / share * weights, loss)
        return self.inside(items, rho + loss.support + items.rounding)

    def inside(self, items: Mapped, limit: float) -> Ints:
        """Every triplet whose margin is below the limit, ascending."""

        def collect(found: list[Ints], tile: Any) -> None:
            room = np.empty(1 << 12, dtype=np.int64)
            count = list_margins(tile, limit, room)
            if count > len(room):
                room = np.empty(count, dtype=np.int64)
                list_margins(tile, limit, room)
            found.append(room[:count].copy())

        parts = self._tiles(items, self._anchors, list, collect)
        return np.sort(np.concatenate([codes for found in parts for codes in found]), kind="stable")

    def _histogram(
        self, items: Mapped, rows: Ints, bottom: float, top: float
    ) -> tuple[Floats, Floats]:
        """Upper ends of bins of margins from bottom to top, and the weight in each."""
        step = (top - bottom) / _BINS

        def fill(counts: Floats, tile: Any) -> None:
            count_margins(tile, bottom, step, counts)

        counts = np.sum(self._tiles(items, rows, lambda: np.zeros(_BINS), fill), axis=0)
        # Rounding may have put a margin one bin too low.
        ends: Floats = bottom + step * (np.arange(_BINS, dtype=np.float64) + 2.0)
        return ends, counts

    def _tiles(
        self,
        items: Mapped,
        rows: Ints,
        begin: Callable[[], T],
        work: Callable[[T, Any], None],
    ) -> list[T]:
        """Tiles of some rows and all columns, worked into what ``begin`` makes, one a thread."""
        n = len(self.y)
        near = np.where(self.targets >= 0, self.targets, 0)

        def scan(part: slice) -> T:
            state = begin()
            for start in range(part.start, part.stop, _ROWS):
                some = rows[start : min(start + _ROWS, part.stop)]
                reach = np.stack([items.distances(some, j) for j in near[some].T], axis=1)
                reach -= items.norms[some, None]
                reach[self.targets[some] < 0] = -np.inf
                for column in range(0, n, _COLUMNS):
                    products = items.products(some, slice(column, min(column + _COLUMNS, n)))
                    weights = self.weights[some]
                    work(state, (products, items.norms, reach, weights, self.y, some, column))
            return state

        return over(len(rows), scan, 64)
