"""The working set of a fit to all triplets: the triplets that are listed."""

from __future__ import annotations

import numpy as np

from .._support.typing import Floats, Ints
from ..problem.comparisons import Comparisons
from ..problem.losses import Loss
from ..problem.objective import EdgeObjective
from ..problem.scatter import scatter_sketch
from ..problem.units import Problem
from ..spectraplex.oracle import Oracle
from .all_triplets import AllTriplets

__all__ = ["WorkingTriplets"]

_SKETCH = 32  # directions of the start whose margins choose the first triplets: an estimate


class WorkingTriplets:
    """A list of those triplets of a labelled set that have been inside the margin in a fit.

    ``problem`` is that of the k-nearest triplets, ``codes``. It gives the units, so that C and h
    mean the same, and the first triplets of the list. If C is so small that the objective of these
    alone would be unbounded, more are added from the start.
    """

    def __init__(self, problem: Problem, triplets: AllTriplets, codes: Ints, seed: int) -> None:
        self.problem, self.triplets, self.seed = problem, triplets, seed
        base = problem.objective
        start = scatter_sketch(base, Oracle(base, seed=seed), _SKETCH).start
        near = triplets.first(problem.mapped(start), base.loss, problem.unit)
        self.codes = _merged(codes, near)

    def with_settings(self, loss: Loss, C: float, t: float) -> WorkingTriplets:
        """Keep the list of triplets under another loss, C or weight of the prior."""
        problem = self.problem.with_settings(loss, C, t)
        return WorkingTriplets(problem, self.triplets, self.codes, self.seed)

    def objective(self) -> EdgeObjective:
        """The objective of the listed triplets."""
        indices, weights = self.triplets.indices(self.codes)
        comparisons = Comparisons.from_indices(indices, weights)
        # The span of the differences must be that of all triplets, not of the listed ones: M may
        # use every direction, and the oracle looks for its bound in that span.
        return self.problem.with_comparisons(comparisons.joined(len(self.triplets.y)))

    def add(self, factor: Floats, rho: float) -> int:
        """Add every triplet inside the margin under this metric; return how many were added."""
        # Rounding is added to the limit, so that a triplet inside the margin is never missed.
        items, loss = self.problem.mapped(factor), self.problem.objective.loss
        rho = self.triplets.limit(items, loss, self.problem.unit, rho)
        found = self.triplets.inside(items, rho + loss.support + items.rounding)
        before = len(self.codes)
        self.codes = _merged(self.codes, found)
        return len(self.codes) - before


def _merged(a: Ints, b: Ints) -> Ints:
    """Return the union of two ascending arrays of codes."""
    # `numpy.union1d` hashes, which took two thirds of a fit with millions of triplets
    # (docs/performance.md, "All triplets").
    both = np.concatenate([a, b])
    both.sort(kind="stable")  # the sort that recognises the two sorted runs
    return both[np.diff(both, prepend=-1) > 0]
