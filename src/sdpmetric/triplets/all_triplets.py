"""Every triplet of a labelled set: a row, one of its targets, and any row of another class.

They are too many to list (132 million for 7,000 digits). But under a given metric, blocked matrix
products find all of them whose margin is below a limit. A triplet is one number, its code:
``(row * targets + target's rank) * rows + far row``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from .._support.typing import Floats, Ints
from ..engines.threads import map_parts
from ..linalg.blocks import tiles
from ..linalg.kernels.margins import count_margins, list_margins
from ..linalg.mapped import WeightedTables
from ..problem.losses import Loss
from ..problem.margin import best_rho

__all__ = ["AllTriplets"]

State = TypeVar("State")

_TILE = 1024, 1024  # rows and columns of products at a time: 8 MB of float64
# Bins of a histogram of margins. Wide bins only make a limit too large: more triplets are listed,
# none is missed.
_BINS = 1 << 14
_SAMPLE = 1000  # rows that estimate the first limit; `limit` itself always looks at all rows


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
        """The number of rows of other classes, for each row."""
        counts: Ints = len(self.y) - np.bincount(self.y)[self.y]
        return counts

    def count(self) -> int:
        """Return the number of triplets whose anchor has weight."""
        return int(np.sum(self.others * self._per_row * (self.weights > 0.0)))

    def total(self) -> float:
        """Return the sum of the weights of all triplets."""
        return float(np.sum(self.others * self._per_row * self.weights))

    @property
    def _per_row(self) -> Ints:
        counts: Ints = np.sum(self.targets >= 0, axis=1)
        return counts

    @property
    def _anchors(self) -> Ints:
        """The rows that have both triplets and weight."""
        return np.flatnonzero((self._per_row > 0) & (self.weights > 0.0))

    def codes(self, far: Ints) -> Ints:
        """Return the codes, ascending, of all rows, their targets and far rows (-1 for none)."""
        n, k = self.targets.shape
        codes = (np.arange(n * k).reshape(n, k, 1) * n) + far[:, None, :]
        there = (self.targets[:, :, None] >= 0) & (far[:, None, :] >= 0)
        return np.sort(codes[there & (self.weights > 0.0)[:, None, None]])

    def indices(self, codes: Ints) -> tuple[Ints, Floats]:
        """Return triplets as row indices [anchor, near, far], and their weights."""
        n, k = self.targets.shape
        pair, far = np.divmod(codes, n)
        anchor = pair // k
        near = self.targets.ravel()[pair]
        return np.stack([anchor, near, far], axis=1), self.weights[anchor]

    def limit(
        self, items: WeightedTables, loss: Loss, unit: float, rho: float
    ) -> tuple[float, float]:
        """Return the best rho over all triplets, or a little more; at most the given rho.

        And about how many triplets are inside the margin of that rho.

        ``unit`` times a weight is a coefficient of the objective. A histogram of margins stands for
        the margins: each bin counts at its upper end, where slopes are smaller, so that the
        returned rho is never too small.
        """
        # 1. Margins from top on have slope zero at every rho up to the given one. The lower end is
        #    a choice: margins below it are counted in the first bin, at too small a slope.
        top = rho + loss.support + items.rounding
        bottom = -top
        ends, weights = self._histogram(items, self._anchors, bottom, top)
        # 2. If the slopes, which are too small, still sum to more than one, rho* is smaller.
        excess = -unit * float(weights @ loss.slope(ends - rho)) - 1.0
        if excess > 0.0:
            rho = min(rho, best_rho(ends, unit * weights, loss, rho))
        return rho, self._number(ends, weights / self.total(), rho + loss.support)

    def first(self, items: WeightedTables, loss: Loss, unit: float) -> tuple[float, float]:
        """Return a rho to start from, and about how many triplets are inside its margin.

        They are enough for a bounded objective.
        """
        # The objective over a set is bounded if max_slope times the sum of its coefficients
        # exceeds 1. With half of C, the triplets inside the margin have twice the weight that
        # is needed. If half of C is too little, 1.1 times the least C is used.
        unit = min(unit, max(0.5 * unit, 1.1 / (loss.max_slope * self.total())))
        return self.estimate(items, loss, unit)

    def estimate(self, items: WeightedTables, loss: Loss, unit: float) -> tuple[float, float]:
        """Return about the best rho, and about how many triplets are inside its margin."""
        # 1. Some rows stand for all: an inexact rho costs time, and no correctness.
        seen = self._anchors
        if len(seen) > _SAMPLE:
            seen = seen[:: len(seen) // _SAMPLE]
        weight = float(np.sum((self.others * self._per_row * self.weights)[seen]))
        # 2. The rho of these margins. No margin exceeds ``top``, since
        #    d(a, b)^2 <= 2 (|a|^2 + |b|^2).
        top = 4.0 * float(items.norms.max())
        ends, weights = self._histogram(items, seen, -top, top)
        rho = best_rho(ends, unit / (weight / self.total()) * weights, loss)
        return rho, self._number(ends, weights / weight, rho + loss.support)

    def quantile(self, items: WeightedTables, weight: float) -> float:
        """Return the margin below which all triplets together have this weight."""
        top = 4.0 * float(items.norms.max())  # no margin exceeds it
        bottom = -top
        while True:
            ends, weights = self._histogram(items, self._anchors, bottom, top)
            place = int(np.argmax(np.cumsum(weights) >= weight))
            step = float(ends[1] - ends[0])
            # The bin itself ends one step earlier, see `_histogram`; a step to spare on each side.
            bottom, top = float(ends[place]) - 3.0 * step, float(ends[place])
            if not top - bottom > items.rounding:
                return 0.5 * (bottom + top)

    def _number(self, ends: Floats, shares: Floats, limit: float) -> float:
        """Return about how many margins are below a limit, from the weight's share in each bin."""
        return self.count() * float(np.sum(shares[ends < limit]))

    def inside(self, items: WeightedTables, limit: float) -> Ints:
        """Return the codes of all triplets whose margin is below the limit, ascending."""

        def collect(found: list[Ints], tile: Any) -> None:
            # Most tiles hold few triplets. A tile with more is listed twice: room for the worst
            # case would be rows x columns x targets numbers.
            room = np.empty(1 << 12, dtype=np.int64)
            count = list_margins(tile, limit, room)
            if count > len(room):
                room = np.empty(count, dtype=np.int64)
                list_margins(tile, limit, room)
            found.append(room[:count].copy())

        parts = self.visit(items, list, collect)
        # Stable: for int64 that is Timsort, which uses the runs that are sorted already.
        return np.sort(np.concatenate([codes for found in parts for codes in found]), kind="stable")

    def _histogram(
        self, items: WeightedTables, rows: Ints, bottom: float, top: float
    ) -> tuple[Floats, Floats]:
        """Return the upper ends of bins of margins from bottom to top, and the weight in each."""
        step = (top - bottom) / _BINS

        def fill(counts: Floats, tile: Any) -> None:
            count_margins(tile, bottom, step, counts)

        counts = np.sum(self.visit(items, lambda: np.zeros(_BINS), fill, rows), axis=0)
        # + 2, not + 1: rounding may have put a margin one bin too low.
        ends: Floats = bottom + step * (np.arange(_BINS, dtype=np.float64) + 2.0)
        return ends, counts

    def visit(
        self,
        items: WeightedTables,
        begin: Callable[[], State],
        work: Callable[[State, Any], None],
        rows: Ints | None = None,
    ) -> list[State]:
        """Call ``work`` on all tiles of products; return a state for each thread.

        A thread takes all columns of a block of rows, from left to right, before the next block.
        ``rows`` are all anchors by default.

        The margin of row i, its target j and a far column c is ``norms[c] - 2 x_i'x_c - reach``
        with ``reach = d(i, j)^2 - norms[i]``: only the product depends on both i and c.
        """
        n = len(self.y)
        rows = self._anchors if rows is None else rows
        # A missing target stands for row 0 until its reach is set below: any valid row will do.
        near = np.where(self.targets >= 0, self.targets, 0)

        def scan(part: slice) -> State:
            state = begin()
            for block, column_tiles in tiles(part, n, _TILE):
                # 1. Prepare a block of rows once for all columns.
                some = rows[block]
                weights = self.weights[some]
                reach = np.stack([items.distances(some, j) for j in near[some].T], axis=1)
                reach -= items.norms[some, None]
                # A target that is missing: -inf makes its margins infinite, so they never count.
                reach[self.targets[some] < 0] = -np.inf
                # 2. The margins of each tile, counted or listed by a compiled loop.
                for columns in column_tiles:
                    products = items.products(some, columns)
                    tile = products, items.norms, reach, weights, self.y, some, columns.start
                    work(state, tile)
            return state

        return map_parts(len(rows), scan, 64)
