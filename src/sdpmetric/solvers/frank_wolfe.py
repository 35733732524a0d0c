"""The paper's solver: Algorithms 1 and 2, rank-one steps towards the leading eigenvector.

Algorithm 1 alternates the best rho for M with the best M for rho; Algorithm 2 finds the latter by
``M <- M + alpha (v v' - M)``, v the leading eigenvector of the gradient, alpha by line search
under the Wolfe conditions. Trace one and psd hold at every step by construction. M is kept as
rank-one terms and the margins are cached, so a step costs the eigenvector and one pass over X.

Two things differ from the print. The stop is the duality gap: with trace one, the eigenvalue that
the paper tests does not go to zero, so its rule (``epsilon``) rarely fires; it is there to be
studied. And the line search bisects where halving would jump over the second Wolfe condition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Floats
from ..factors import principal, unit
from ..objective import MemoryPoint, Objective
from ..result import Result, Status
from ..spectraplex import DENSE_LIMIT, Oracle
from .line_search import wolfe_step
from .monitor import Callback, Monitor

__all__ = ["frank_wolfe"]

_EIGENVECTOR = 1e-6  # relative accuracy of a step's eigenvector


def frank_wolfe(
    objective: Objective,
    *,
    start: Floats | None = None,
    tol: float = 1e-4,
    max_iter: int = 3000,
    time_limit: float | None = None,
    callback: Callback | None = None,
    K: int | None = None,
    J: int = 10,
    epsilon: float | None = None,
    c1: float = 1e-4,
    c2: float = 0.9,
    dense_limit: int = DENSE_LIMIT,
    seed: int = 0,
) -> Result:
    """Maximise F over the spectraplex by the paper's algorithm.

    Parameters
    ----------
    start : (D, d) factor to start from; the paper starts at rank one, and so does the default
    max_iter : steps in all
    K, J : the most rounds of Algorithm 1 (default: no limit) and steps of Algorithm 2 in each
    epsilon : the paper's tolerance; None leaves the stop to the gap alone
    c1, c2 : constants of the Wolfe conditions, ``0 < c1 < c2 < 1``
    """
    oracle = Oracle(objective, dense_limit=dense_limit, seed=seed)
    monitor = Monitor(oracle, objective.share, tol, max_iter, time_limit, callback)
    V = oracle.arpack(_Scatter(objective)).vectors if start is None else unit(start)
    search = _Search(objective, monitor, _Terms(V), objective.at(V).learned)
    status, rounds = None, 0
    try:
        while status is None:
            status = search.round(J, epsilon, c1, c2)
            rounds += 1
            if status is None and rounds == K:
                status = Status.ITERATION_LIMIT
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    if status is not Status.CONVERGED:
        search.proven()
    return monitor.result(search.final, search.final.P, status)


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
        if self.shrink < 1e-12:
            self.columns, self.shrink = ([self.factor()] if alpha < 1.0 else []), 1.0
        self.columns.append(np.sqrt(alpha / self.shrink) * v)
        if len(self.columns) > 2 * len(v):
            U, e = principal(self.factor())
            self.columns, self.shrink = [U * np.sqrt(e)], 1.0

    def factor(self) -> Floats:
        return float(np.sqrt(self.shrink)) * np.hstack(self.columns)


@dataclass
class _Search:
    """The state of Algorithm 1: M as terms, and the edge distances under it."""

    objective: Objective
    monitor: Monitor
    terms: _Terms
    learned: Floats
    rho: float = 0.0
    ended: float = -np.inf  # f at the end of the last round

    def round(self, J: int, epsilon: float | None, c1: float, c2: float) -> Status | None:
        """The best rho, then at most J steps of Algorithm 2 with that rho."""
        monitor = self.monitor
        best = self.objective.at_distances(self.learned, self.rho)
        self.rho = best.rho
        point: MemoryPoint = self.objective.replace(pinned=best.rho).at_distances(self.learned)
        for step in range(J):
            status = monitor.stop(point.value, len(self.terms.columns), self.terms.factor)
            if status is not None:
                return status
            leading = monitor.oracle.arpack(point, tol=_EIGENVECTOR)
            # In the first step rho is the best one, so this estimates the gap of F itself.
            if step == 0:
                monitor.look(best, leading)
                if monitor.gap <= monitor.tol and self.proven():
                    return Status.CONVERGED
            if epsilon is not None and leading.values[0] < epsilon:
                break  # Algorithm 2's test
            v = leading.vectors[:, :1]
            slope = self.objective.share * (float(leading.values[0]) - point.pull)
            line = point.toward(v)
            alpha = wolfe_step(line, point.value, slope, c1, c2)
            if alpha == 0.0:
                return Status.STALLED if step == 0 else None
            point = line.point(alpha)
            self.terms.mix(alpha, v)
            self.learned = point.learned
            monitor.n_iter += 1
        changes = abs(point.value - best.value), abs(best.value - self.ended)
        self.ended = point.value
        # Algorithm 1's test.
        return Status.STALLED if epsilon is not None and max(changes) < epsilon else None

    def proven(self) -> bool:
        """Whether the gap, computed afresh from the terms, is below tol."""
        self.final = self.objective.at(self.terms.factor(), rho=self.rho, exact=True)
        leading = self.monitor.oracle.leading(
            self.final, tol=0.1 * self.monitor.tol, reached=self.final.pull
        )
        return self.monitor.certify(self.final, leading) <= self.monitor.tol
