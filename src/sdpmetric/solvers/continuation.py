"""Solve the hinge loss, the paper's SDP (eq. 4), by Huber losses of decreasing width.

Each stage solves a Huber problem from the solution of the stage before. The slopes w of the Huber
problem satisfy ``0 <= w_r <= c_r`` and ``sum w >= 1``, so they are a feasible dual point of the
hinge problem: ``F*_hinge <= (1 - t) lambda_max(G(w)) + t <G(w), M0>``. This bound is much tighter
than a bound on the difference of the two losses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .._support.typing import Floats
from ..problem.losses import Hinge, Huber
from ..problem.protocols import Objective
from ..problem.result import Solution, Status
from .budget import Budget
from .certificate import bracket, relative
from .protocol import Limits, Solver, certify_last, until_interrupted

__all__ = ["Continuation"]

_FIRST_WIDTH = 0.5  # the default h of Huber's loss: an easy problem
# The next width over the last. A larger ratio solves more problems; a smaller one starts each of
# them from a worse point.
_SHRINK = 0.25
_SMALLEST_WIDTH = 1e-9  # in units of the mean far distance: below it margins are rounding


@dataclass(frozen=True)
class Continuation:
    """A solver for the hinge loss; ``solver`` solves each stage."""

    solver: Solver

    def __call__(self, objective: Objective, start: Floats | None, limits: Limits, /) -> Solution:
        stages = _Stages(self.solver, objective, Budget(limits), limits.upper_bound, start)
        # The first widths would lead away from the solution of a narrow one, and without its gap
        # each stage would end too soon.
        resume = limits.resume or {}
        stages.width = resume.get("width", stages.width)
        stages.gap = resume.get("gap", stages.gap)
        status = until_interrupted(stages.run, lambda: stages.stage is not None)
        return stages.solution(status)


@dataclass
class _Stages:
    """The state of a continuation: the last stage, and the certificate of the hinge at its end."""

    solver: Solver
    objective: Objective
    budget: Budget
    upper_bound: float
    start: Floats | None
    width: float = _FIRST_WIDTH
    gap: float = 0.1  # a first guess, for the tolerance of the first stage
    stage: Solution | None = None
    certified: Solution | None = None

    def run(self) -> Status:
        """Solve ever narrower Huber problems until the hinge is certified or a limit is reached."""
        tol = self.budget.limits.tol
        while True:
            # 1. Solve the Huber problem. A tenth of the last gap of the hinge is exact enough,
            #    since the width limits that gap; a quarter of tol leaves room for the width.
            goal = max(0.25 * tol, 0.1 * min(self.gap, 1.0))
            smooth = self.objective.with_loss(Huber(self.width))
            self.stage = self.budget.run(
                self.solver, smooth, self.start, goal, width=self.width, gap=min(self.gap, 1.0)
            )
            self.start = self.stage.factor
            # 2. Certify the hinge at its solution.
            self.certify()
            # 3. Stop, or make the loss narrower. Whoever asked for an end comes first: a small gap
            #    must not hide Ctrl-C from outer loops.
            if self.stage.ended_early:
                return self.stage.status
            if self.gap <= tol:
                return Status.CONVERGED
            if not self.stage.gap <= goal:
                return self.stage.status
            if self.budget.reached is not None:
                return self.budget.reached
            if self.width * _SHRINK < _SMALLEST_WIDTH:
                return Status.STALLED
            self.width *= _SHRINK

    def certify(self) -> None:
        """Compute objective, bound and gap of the hinge at the last stage's solution."""
        assert self.stage is not None
        # The stage's certificate has the bound of its slopes: only the value is another.
        dual, rho = self.stage.dual, self.stage.rho
        primal = self.objective.with_loss(Hinge()).at(self.stage.factor, rho=rho, exact=True)
        usual, most = dual.rounding
        gap = dual.bound - primal.value
        self.upper_bound, _ = bracket(primal.value, gap, self.upper_bound, most)
        gap = self.upper_bound - primal.value + usual
        self.gap = relative(gap, dual.far_weight, primal.value)
        self.budget.rows.append((primal.value, self.gap, self.budget.limits.deadline.seconds))
        self.certified = replace(
            self.stage,
            rho=primal.rho,
            objective=primal.value,
            upper_bound=self.upper_bound,
            gap=self.gap,
        )

    def solution(self, status: Status) -> Solution:
        """Return the last stage's solution with the certificate of the hinge."""
        last, certified = self.stage, self.certified
        assert last is not None
        # An interrupt may have come between the stage and its certificate.
        done = certified is not None and certified.factor is last.factor
        status = certify_last(
            status, lambda: None if done else self.certify(), certified is not None
        )
        assert self.certified is not None
        return self.budget.combined(self.certified, status=status)
