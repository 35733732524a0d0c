"""The working set of a fit to all triplets: the triplets that are listed."""

from __future__ import annotations

import numpy as np

from .._support.deadline import GRACE, Deadline
from .._support.typing import Floats, Ints
from ..linalg.mapped import WeightedTables
from ..problem.comparisons import Comparisons
from ..problem.losses import Loss
from ..problem.objective import EdgeObjective
from ..problem.scatter import scatter_sketch
from ..problem.units import Problem
from ..spectraplex.oracle import Oracle
from .all_triplets import AllTriplets
from .streamed import StreamedObjective

__all__ = ["WorkingTriplets"]

_SKETCH = 32  # directions of the start whose margins choose the first triplets: an estimate
# Seconds that a triplet costs until a list with it is certified: 0.6 microseconds, measured for 112
# million of 784 columns (docs/reliability.md), more with a prior.
_SECONDS = 1e-6
# The share of all triplets whose list takes about as long as a certificate by tiles. A shorter list
# is made in any case: without it no time would be saved.
_SHORT = 0.02


class WorkingTriplets:
    """A list of those triplets of a labelled set that have been inside the margin in a fit.

    ``problem`` is that of the k-nearest triplets, ``codes``. It gives the units, so that C and h
    mean the same, and the first triplets of the list. If C is so small that the objective of these
    alone would be unbounded, more are added from the start.

    ``listed`` is False once a list would have taken longer than the time left. From then on the
    objective is that of all triplets, streamed, which can certify a metric and not improve it.
    """

    def __init__(
        self,
        problem: Problem,
        triplets: AllTriplets,
        codes: Ints,
        seed: int,
        deadline: Deadline | None = None,
    ) -> None:
        self.problem, self.triplets, self.codes, self.seed = problem, triplets, codes, seed
        self.deadline = deadline or Deadline()
        self.listed = True
        base = problem.objective
        start = scatter_sketch(base, Oracle(base, seed=seed), _SKETCH).start
        items = problem.mapped(start)
        self._list(items, *triplets.first(items, base.loss, problem.unit))

    def with_settings(self, loss: Loss, C: float, t: float) -> WorkingTriplets:
        """Keep the list of triplets under another loss, C or weight of the prior."""
        problem = self.problem.with_settings(loss, C, t)
        return WorkingTriplets(problem, self.triplets, self.codes, self.seed, self.deadline)

    def objective(self) -> EdgeObjective | StreamedObjective:
        """The objective of the listed triplets, or of all where there is no time to list them."""
        # The span of the differences must be that of all triplets, not of the listed ones: M may
        # use every direction, and the oracle looks for its bound in that span.
        n = len(self.triplets.y)
        if not self.listed:
            base = self.problem.objective
            spanning = self.problem.with_comparisons(base.comparisons.joined(n))
            return StreamedObjective(self.problem, self.triplets, spanning, base.loss)
        indices, weights = self.triplets.indices(self.codes)
        comparisons = Comparisons.from_indices(indices, weights)
        return self.problem.with_comparisons(comparisons.joined(n))

    def add(self, factor: Floats, rho: float) -> int:
        """Add every triplet inside the margin under this metric; return how many were added.

        Without the time to list them, none is listed, and the number is about how many there are.
        """
        items, loss = self.problem.mapped(factor), self.problem.objective.loss
        return self._list(items, *self.triplets.limit(items, loss, self.problem.unit, rho))

    def _list(self, items: WeightedTables, rho: float, number: float) -> int:
        """Add every triplet inside the margin of rho, about so many; return how many were added."""
        long = number > _SHORT * self.triplets.count()
        if long and number * _SECONDS > self.deadline.extended(GRACE).left:
            self.listed = False
            return max(1, int(number))
        # Rounding is added to the limit, so that a triplet inside the margin is never missed.
        limit = rho + self.problem.objective.loss.support + items.rounding
        before = len(self.codes)
        self.codes = _merged(self.codes, self.triplets.inside(items, limit))
        return len(self.codes) - before


def _merged(a: Ints, b: Ints) -> Ints:
    """Return the union of two ascending arrays of codes."""
    # `numpy.union1d` hashes, which took two thirds of a fit with millions of triplets
    # (docs/performance.md, "All triplets").
    both = np.concatenate([a, b])
    both.sort(kind="stable")  # the sort that recognises the two sorted runs
    return both[np.diff(both, prepend=-1) > 0]
