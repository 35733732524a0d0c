"""Solve problems whose comparisons are too many to list, by working sets.

A comparison whose margin exceeds ``rho + support`` has slope zero and does not matter. So the
solver runs on a small set, every comparison inside the margin under that metric is added, and this
repeats until there is none to add. rho over more comparisons can only be smaller. So value, rho and
slopes over all comparisons then equal those over the set, and its certificate holds for all.

If time is too short to list them, a set gives the objective of all comparisons without a list. That
objective only certifies the last metric.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from .._support.typing import Floats
from ..problem.protocols import Objective
from ..problem.result import Solution, Status
from .budget import Budget
from .protocol import Limits, Solver, until_interrupted

__all__ = ["WorkingSet", "solve_by_working_sets"]

_FIRST = 1e-2  # relative gap of the first set, which will change: more exact would be wasted
_CLOSER = 0.2  # the next gap over the last, while comparisons are still added


class WorkingSet(Protocol):
    """All comparisons, of which an objective holds some."""

    @property
    def listed(self) -> bool:
        """Whether there was time to list the comparisons inside the margin, so far."""

    def objective(self) -> Objective:
        """The objective of the comparisons in the set; of all, to certify, if not ``listed``."""

    def add(self, factor: Floats, rho: float, /) -> int:
        """Add every comparison inside the margin under ``M' = P P'``; return how many."""


def solve_by_working_sets(
    solver: Solver, working: WorkingSet, start: Floats | None, limits: Limits
) -> Solution:
    """Maximise F over all comparisons to a relative gap of ``limits.tol``."""
    sets = _Sets(solver, working, Budget(limits), start)
    status = until_interrupted(sets.run, lambda: sets.stage is not None)
    return sets.solution(status)


@dataclass
class _Sets:
    """The state: the working set, and the solution over it."""

    solver: Solver
    working: WorkingSet
    budget: Budget
    start: Floats | None
    stage: Solution | None = None
    upper_bound: float = np.inf
    searched: bool = False  # whether the set holds all comparisons inside the stage's margin
    complete: bool = False  # whether the stage's certificate is one over all comparisons

    def run(self) -> Status:
        """Solve, add the comparisons inside the margin, and repeat until there are none to add."""
        tol = self.budget.limits.tol
        goal = max(tol, _FIRST)
        resumed = self.budget.limits.resume is not None and self.working.listed
        if resumed and self.start is not None:
            # The first set alone would lead away from the solution over a larger one.
            self.working.add(self.start, self.working.objective().at(self.start, exact=True).rho)
        while self.working.listed:
            # 1. Solve over the set, then add every comparison inside the margin of that metric.
            stage = self._solve(self.budget, goal)
            added = self.working.add(stage.factor, stage.rho)
            self.searched = True
            # 2. Nothing was missing: the certificate holds for all comparisons.
            self.complete = not added
            if self.complete and goal <= tol:
                return stage.status
            # 3. The user or a limit ended the stage: `solution` certifies the last metric.
            if stage.ended_early or not stage.gap <= goal:
                return stage.status
            if self.budget.reached is not None:
                return self.budget.reached
            # 4. Solve the next set more closely, or at once to tol if nothing was added.
            goal = max(tol, _CLOSER * goal) if added else tol
        return Status.TIME_LIMIT  # no time for the list: `solution` certifies without it

    def _solve(self, budget: Budget, tol: float) -> Solution:
        """Run the solver on the working set and make its solution the current stage."""
        objective = self.working.objective()
        # More comparisons can only lower F: a bound over a smaller set is one over this set, too.
        stage = budget.run(self.solver, objective, self.start, tol, self.upper_bound)
        self.budget.add_history(stage)
        # Together, so that an interrupt cannot leave half of them behind.
        self.stage, self.start, self.searched, self.complete = stage, stage.factor, False, False
        self.upper_bound = stage.upper_bound
        return stage

    def solution(self, status: Status) -> Solution:
        """Return the last stage's solution, certified over all comparisons."""
        if self.stage is None or not self.complete:
            # A limit or Ctrl-C came first: max_iter=0 makes the certificate of the last metric, or
            # of the start, over every comparison inside its margin.
            if self.stage is not None and not self.searched:
                self.working.add(self.stage.factor, self.stage.rho)
            limits = replace(self.budget.limits, max_iter=0, callback=None)
            last = Budget(limits, stages=self.budget.stages)
            first = self.stage is None
            stage = self._solve(last, limits.tol)
            if first:  # its evaluation is the first of the fit, not one more for the certificate
                self.budget.count(stage)
        assert self.stage is not None
        return self.budget.combined(self.stage, status=status)
