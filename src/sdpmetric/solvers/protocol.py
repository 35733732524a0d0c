"""The contract of a solver: an objective, a start and limits in, a solution out.

A solver is an object that is called; its options are its attributes. Built-in solvers are frozen
dataclasses, so that options are named, typed and checked before any work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from .._support.deadline import Deadline
from .._support.typing import Floats
from ..problem.protocols import Objective
from ..problem.result import Callback, Solution, Status
from ..spectraplex.oracle import DENSE_LIMIT, Oracle

__all__ = ["Limits", "Solver", "certify_last", "until_interrupted"]


@dataclass(frozen=True)
class Limits:
    """When a solver stops, and how its certificates are made.

    Attributes
    ----------
    tol : relative gap to reach
    max_iter : evaluations of F (frank-wolfe: steps); 0 asks for the certificate of the start
    deadline : when to stop, counted from the call of the fit; by default never
    callback : called with a `Progress` before each step; returns True to stop
    seed : of random directions
    dense_limit : dimension up to which certificates decompose G whole
    upper_bound : a number that the optimum is known not to exceed
    stage : the number of each stage inside the one around it, so that no two of a fit share the
        random vectors of their certificates
    resume : `Progress.resume` of an earlier fit whose factor is the start; None: not resumed
    """

    tol: float = 1e-4
    max_iter: int = 3000
    deadline: Deadline = field(default_factory=Deadline)
    callback: Callback | None = None
    seed: int = 0
    dense_limit: int = DENSE_LIMIT
    upper_bound: float = np.inf
    stage: tuple[int, ...] = ()
    resume: Mapping[str, float] | None = None

    def oracle(self, objective: Objective) -> Oracle:
        """The oracle that certificates on this objective are made with."""
        return Oracle(
            objective,
            dense_limit=self.dense_limit,
            seed=self.seed,
            stage=self.stage,
            deadline=self.deadline,
        )

    def reached(self, n_iter: int) -> Status | None:
        """Return which limit is reached after so many evaluations, None if none is."""
        if n_iter >= self.max_iter:
            return Status.ITERATION_LIMIT
        return Status.TIME_LIMIT if self.deadline.over else None


class Solver(Protocol):
    """Maximise an objective over the spectraplex.

    The solution is the point certified last, and its status is why the loop ended. Ctrl-C and a
    lack of memory end the loop like a limit does (`until_interrupted`, `certify_last`): a solver
    does not raise KeyboardInterrupt or MemoryError once it has a certified point.
    """

    def __call__(
        self, objective: Objective, start: Floats | None, limits: Limits, /
    ) -> Solution: ...


def until_interrupted(
    loop: Callable[[], Status], has_point: Callable[[], bool] = lambda: True
) -> Status:
    """Run a solver's loop to its end, to Ctrl-C, or until memory runs out.

    The exception is raised again if ``has_point`` says that there is no point to certify yet.
    """
    try:
        return loop()
    except (KeyboardInterrupt, MemoryError) as error:
        if not has_point():
            raise
        interrupted = isinstance(error, KeyboardInterrupt)
        return Status.INTERRUPTED if interrupted else Status.OUT_OF_MEMORY


def certify_last(status: Status, certify: Callable[[], object], has_one: bool) -> Status:
    """Certify the point where a loop ended, unless an earlier certificate must do.

    It must if Ctrl-C comes once more, or if memory is short: an attempt could end in a library that
    ends the process.

    Parameters
    ----------
    status : why the loop ended
    certify : makes the certificate
    has_one : whether an earlier point is certified; if not, the exception is raised

    Returns
    -------
    Why the solver ended
    """
    if has_one and status is Status.OUT_OF_MEMORY:
        return status

    def certified() -> Status:
        certify()
        return status

    return until_interrupted(certified, lambda: has_one)
