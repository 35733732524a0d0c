"""The working set of a fit to all triplets."""

from __future__ import annotations

import numpy as np

from ._typing import Floats, Ints
from .all_triplets import AllTriplets
from .comparisons import Comparisons
from .losses import Loss
from .objective import Objective
from .problem import Problem
from .solvers.preconditioner import scatter_sketch
from .spectraplex import Oracle

__all__ = ["TripletPool"]

_SKETCH = 32


class TripletPool:
    """All triplets of a labelled set, of which those that have mattered are listed.

    The problem is that of the k-nearest triplets, ``codes``: it gives the units, so that C and h
    mean the same, and the set to begin with. Where C is so small that these alone would leave the
    objective unbounded, more are added from the start.
    """

    def __init__(self, problem: Problem, triplets: AllTriplets, codes: Ints, seed: int) -> None:
        self.problem, self.triplets, self.seed = problem, triplets, seed
        base = problem.objective
        start = scatter_sketch(base, Oracle(base, seed=seed), _SKETCH).start
        near = triplets.first(problem.mapped(start), base.loss, problem.unit)
        self.codes = _merged(codes, near)

    def vary(self, loss: Loss, C: float, t: float) -> TripletPool:
        """Another loss, C or weight of the prior; what has mattered is likely to matter again."""
        problem = self.problem.vary(loss, C, t)
        return TripletPool(problem, self.triplets, self.codes, self.seed)

    def objective(self) -> Objective:
        indices, weights = self.triplets.indices(self.codes)
        comparisons = Comparisons.from_indices(indices, weights)
        return self.problem.on(comparisons.joined(len(self.triplets.y)))

    def add(self, factor: Floats, rho: float) -> int:
        """Add every triplet inside the margin under this metric; return how many that was."""
        items, loss = self.problem.mapped(factor), self.problem.objective.loss
        rho = self.triplets.limit(items, loss, self.problem.unit, rho)
        found = self.triplets.inside(items, rho + loss.support + items.rounding)
        before = len(self.codes)
        self.codes = _merged(self.codes, found)
        return len(self.codes) - before


def _merged(a: Ints, b: Ints) -> Ints:
    """The union of two ascending arrays; `numpy.union1d` would hash, a hundred times as long."""
    both = np.concatenate([a, b])
    both.sort(kind="stable")  # merges runs
    return both[np.diff(both, prepend=-1) > 0]
