"""The paper's solver: Algorithms 1 and 2, rank-one steps towards the leading eigenvector.

Algorithm 1 alternates the best rho for M with the best M for rho; Algorithm 2 finds that M by
``M <- M + alpha (v v' - M)``, v the leading eigenvector of the gradient, alpha by line search
under the Wolfe conditions. Trace one and psd hold at every step by construction. M is kept as
rank-one terms and the margins are cached, so a step costs the eigenvector and one pass over X.

Two things differ from the paper. The solver stops by the duality gap: with trace one, the
eigenvalue that the paper tests does not go to zero, so the paper's rule (``epsilon``) rarely ends a
fit; it is an option, for study. And the line search bisects where halving would jump over the
second Wolfe condition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._support.checks import check_integer, check_real
from .._support.typing import Floats
from ..problem.protocols import FactorPoint, Objective, Point
from ..problem.result import Solution, Status
from ..spectraplex.factors import principal, unit
from .certificate import Monitor
from .line_search import wolfe_step
from .protocol import Limits, until_interrupted

__all__ = ["FrankWolfe"]

# Relative accuracy of a step's eigenvector. A step needs only a direction of ascent; a certificate
# has its own eigenvector.
_EIGENVECTOR = 1e-6


@dataclass(frozen=True)
class FrankWolfe:
    """Maximise F over the spectraplex by the paper's algorithm.

    A given start is used as it is; the paper starts at rank one, and so does the default.

    Parameters
    ----------
    K, J : the most rounds of Algorithm 1 (default: no limit) and steps of Algorithm 2 in each
    epsilon : the paper's tolerance; None leaves the stop to the gap alone
    c1, c2 : constants of the Wolfe conditions, ``0 < c1 < c2 < 1``
    """

    K: int | None = None
    J: int = 10
    epsilon: float | None = None
    c1: float = 1e-4
    c2: float = 0.9

    def __post_init__(self) -> None:
        check_integer("solver_options['J']", self.J, 1)
        if self.K is not None:
            check_integer("solver_options['K']", self.K, 1)
        if self.epsilon is not None:
            check_real("solver_options['epsilon']", self.epsilon, 0.0)
        c1 = check_real("solver_options['c1']", self.c1, 0.0, 1.0)
        c2 = check_real("solver_options['c2']", self.c2, 0.0, 1.0)
        if not c1 < c2 < 1.0:
            raise ValueError(f"solver_options must have 0 < c1 < c2 < 1, got c1={c1:g}, c2={c2:g}.")

    def __call__(self, objective: Objective, start: Floats | None, limits: Limits, /) -> Solution:
        monitor = Monitor.of(objective, limits)
        V = monitor.oracle.arpack(_Scatter(objective)).vectors if start is None else unit(start)
        first = objective.at(V, exact=True)
        search = _Search(objective, monitor, self, _Terms(V), first, first)
        status = until_interrupted(search.run)
        # A converged search has just certified the point where it is.
        certified = status is Status.CONVERGED
        return monitor.solution(status, lambda: None if certified else search.certify())


class _Scatter:
    """The edge scatter as an operator: its leading eigenvector is the rank-one start."""

    def __init__(self, objective: Objective) -> None:
        self.times = objective.scatter


class _Terms:
    """``M = sum_i theta_i v_i v_i'``; weights are shrunk all at once by a common factor."""

    def __init__(self, V: Floats) -> None:
        self.columns, self.shrink = [V], 1.0

    def mix(self, alpha: float, v: Floats) -> None:
        """``M <- (1 - alpha) M + alpha v v'``."""
        self.shrink *= 1.0 - alpha
        # Columns are divided by the common factor, so it must not underflow.
        if self.shrink < 1e-12:
            self.columns, self.shrink = ([self.factor()] if alpha < 1.0 else []), 1.0
        self.columns.append(np.sqrt(alpha / self.shrink) * v)
        # More than 2 D terms are at most D directions: compressed, memory stays bounded, and each
        # SVD is paid for by the next D steps.
        if len(self.columns) > 2 * len(v):
            U, e = principal(self.factor())
            self.columns, self.shrink = [U * np.sqrt(e)], 1.0

    def factor(self) -> Floats:
        """P with ``M = P P'``."""
        return float(np.sqrt(self.shrink)) * np.hstack(self.columns)


@dataclass
class _Search:
    """The state of Algorithm 1: M as terms, and the objective at it.

    ``first`` is the point of the start until a step is taken.
    """

    objective: Objective
    monitor: Monitor
    options: FrankWolfe
    terms: _Terms
    point: Point
    first: FactorPoint | None
    ended: float = -np.inf  # f at the end of the last round

    def run(self) -> Status:
        """Run Algorithm 1: rounds until one of them returns a status, at most K of them."""
        rounds = 0
        while True:
            status = self.round()
            rounds += 1
            if status is not None:
                return status
            if rounds == self.options.K:
                return Status.ITERATION_LIMIT

    def round(self) -> Status | None:
        """Compute the best rho, then take at most J steps of Algorithm 2 with that rho."""
        # 1. The best rho for M; it stays fixed in this round.
        monitor, o = self.monitor, self.options
        best = self.point = self.point.with_rho(None)
        point = best.with_rho(best.rho)
        for step in range(o.J):
            # 2. Limits, then the leading eigenvector of the gradient.
            status = monitor.stop(point.value, len(self.terms.columns), self.terms.factor)
            if status is not None:
                return status
            leading = monitor.oracle.arpack(point, tol=_EIGENVECTOR)
            if monitor.reached is not None:
                return monitor.reached
            # 3. In the first step rho is the best one, so this estimates the gap of F itself.
            if step == 0:
                monitor.estimate_gap(best, leading)
                if monitor.gap <= monitor.limits.tol and self.certify() <= monitor.limits.tol:
                    return Status.CONVERGED
            if o.epsilon is not None and leading.values[0] < o.epsilon:
                break  # Algorithm 2's test
            # 4. A step along the segment to v v'.
            v = leading.vectors[:, :1]
            slope = self.objective.learned_share * (float(leading.values[0]) - point.inner_GM)
            line = point.toward(v)
            alpha = wolfe_step(line, point.value, slope, o.c1, o.c2)
            if alpha == 0.0:
                return Status.STALLED if step == 0 else None
            point = line.point(alpha)
            self.terms.mix(alpha, v)
            self.point, self.first = point, None
            monitor.n_iter += 1
        changes = abs(point.value - best.value), abs(best.value - self.ended)
        self.ended = point.value
        # 5. Algorithm 1's test, on the change within this round and since the last one.
        return Status.STALLED if o.epsilon is not None and max(changes) < o.epsilon else None

    def certify(self) -> float:
        """Recompute F and the gap from the terms; return the gap."""
        # The cached margins of `point` have collected the rounding of all steps so far.
        point = self.first or self.objective.at(self.terms.factor(), rho=self.point.rho, exact=True)
        return self.monitor.prove(point)
