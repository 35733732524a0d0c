"""Data prepared for a solver: comparisons that are listed, or all triplets of labelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..._support.typing import Floats
from ...parted.parts import PartedProblem
from ...problem.losses import Loss
from ...problem.result import Solution
from ...problem.units import Problem
from ...problem.user_units import UserUnits
from ...solvers import Limits, Solver
from ...solvers.working_set import solve_by_working_sets
from ...triplets.working_triplets import WorkingTriplets

__all__ = ["EveryTriplet", "ListedComparisons", "PartedComparisons", "Prepared", "Solvable"]


class Solvable(Protocol):
    """Data that a solver can be run on."""

    @property
    def problem(self) -> UserUnits:
        """The problem, which maps between the user's coordinates and those of the solver."""

    def solve(self, solver: Solver, start: Floats | None, limits: Limits) -> Solution:
        """Run the solver from a factor in its own coordinates."""


class Prepared(Solvable, Protocol):
    """Data that a solver can be run on, again and again with other settings."""

    @property
    def problem(self) -> Problem: ...

    def with_settings(self, loss: Loss, C: float, t: float) -> Prepared:
        """The same data with another loss, C or weight of the prior."""

    def saturation_C(self, factor: Floats) -> float:
        """The C above which the metric of this factor, which has rho = 0, stays optimal."""


@dataclass(frozen=True, eq=False)
class ListedComparisons:
    """Comparisons that are all in memory."""

    problem: Problem

    def solve(self, solver: Solver, start: Floats | None, limits: Limits) -> Solution:
        return solver(self.problem.objective, start, limits)

    def with_settings(self, loss: Loss, C: float, t: float) -> ListedComparisons:
        return ListedComparisons(self.problem.with_settings(loss, C, t))

    def saturation_C(self, factor: Floats) -> float:
        # A factor outside the span of the items says nothing about these comparisons.
        inside = self.problem.to_solver(factor)
        return np.inf if inside is None else self.problem.saturation_C(inside)


@dataclass(frozen=True, eq=False)
class PartedComparisons:
    """Comparisons in parts, on a cluster for example."""

    problem: PartedProblem

    def solve(self, solver: Solver, start: Floats | None, limits: Limits) -> Solution:
        return solver(self.problem.objective, start, limits)


@dataclass(frozen=True, eq=False)
class EveryTriplet:
    """All triplets of labelled rows, of which a working set is in memory."""

    working: WorkingTriplets

    @property
    def problem(self) -> Problem:
        return self.working.problem

    def solve(self, solver: Solver, start: Floats | None, limits: Limits) -> Solution:
        return solve_by_working_sets(solver, self.working, start, limits)

    def with_settings(self, loss: Loss, C: float, t: float) -> EveryTriplet:
        return EveryTriplet(self.working.with_settings(loss, C, t))

    def saturation_C(self, factor: Floats) -> float:
        # Triplets outside the working set may come inside the margin: no C is known to be enough.
        return np.inf
