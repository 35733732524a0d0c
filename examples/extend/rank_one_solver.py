"""A whole solver, the plainest there is: rank-one steps with the best step length."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sdpmetric import Status
from sdpmetric.problem.protocols import Objective
from sdpmetric.problem.result import Solution
from sdpmetric.solvers import Limits
from sdpmetric.solvers.certificate import Monitor
from sdpmetric.solvers.line_search import best_step
from sdpmetric.solvers.protocol import until_interrupted
from sdpmetric.spectraplex.factors import unit


@dataclass(frozen=True)
class RankOne:
    """Move M towards v v', v the leading eigenvector of the gradient, as far as F grows.

    Parameters
    ----------
    longest : the longest step, as a share of the way to v v'
    """

    longest: float = 1.0

    def __call__(self, objective: Objective, start: Any, limits: Limits, /) -> Solution:
        monitor = Monitor.of(objective, limits)
        oracle = monitor.oracle
        P = unit(oracle.directions(1) if start is None else start)
        point = objective.at(P, exact=True)

        def loop() -> Status:
            nonlocal P, point
            while True:
                leading = oracle.leading(point, reached=point.inner_GM)
                if monitor.certify(point, leading) <= limits.tol:
                    return Status.CONVERGED
                status = monitor.stop(point.value, P.shape[1], partial(unit, P))
                if status is not None:
                    return status
                v = leading.vectors[:, :1]
                alpha = min(self.longest, best_step(point.toward(v)))
                if alpha == 0.0:
                    return Status.STALLED
                P = np.hstack([np.sqrt(1 - alpha) * P, np.sqrt(alpha) * v])
                point = objective.at(P, rho=point.rho, exact=True)
                monitor.n_iter += 1

        def certify() -> None:
            if not monitor.has_proven(point):  # Ctrl-C in a step
                monitor.prove(point)

        return monitor.solution(until_interrupted(loop), certify)
