"""Share the limits of a fit between the stages that make it up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._support.typing import Floats
from ..problem.protocols import Objective
from ..problem.result import HISTORY, Callback, Progress, Solution, Status
from .protocol import Limits, Solver

__all__ = ["Budget"]


@dataclass
class Budget:
    """The limits of all stages together, how much of them is used, and the common history."""

    limits: Limits
    stages: int = 0
    used: int = 0
    products: int = 0
    rows: list[tuple[float, float, float]] = field(default_factory=list)

    @property
    def reached(self) -> Status | None:
        """The limit that is reached, None if none is."""
        return self.limits.reached(self.used)

    def run(
        self,
        solver: Solver,
        objective: Objective,
        start: Floats | None,
        tol: float,
        upper_bound: float = np.inf,
        **resume: float,
    ) -> Solution:
        """Run one stage with the evaluations that are left.

        ``resume`` has numbers that a later fit needs to go on from this stage.
        """
        left = replace(
            self.limits,
            tol=tol,
            max_iter=self.limits.max_iter - self.used,
            callback=self._callback(resume),
            upper_bound=upper_bound,
            stage=(*self.limits.stage, self.stages),
            resume=self.limits.resume if self.stages == 0 else None,
        )
        self.stages += 1
        return self.count(solver(objective, start, left))

    def count(self, stage: Solution) -> Solution:
        """Add the work of a stage to the totals; return the stage."""
        self.used += stage.n_iter
        self.products += stage.n_products
        return stage

    def add_history(self, stage: Solution) -> None:
        """Add a stage's certificates to the history of the whole fit."""
        self.rows.extend(stage.history.tolist())

    def combined(self, last: Solution, **changes: Any) -> Solution:
        """Return the last stage's solution with the counts and the history of all stages."""
        counts: dict[str, Any] = {"n_iter": self.used, "n_products": self.products}
        history = np.array(self.rows, dtype=HISTORY)
        return replace(last, **counts, history=history, **changes)

    def _callback(self, resume: dict[str, float]) -> Callback | None:
        """Wrap the user's callback so that it gets the evaluations of all stages."""
        callback, used = self.limits.callback, self.used
        if callback is None:
            return None

        def of_all_stages(now: Progress) -> object:
            return callback(replace(now, n_iter=now.n_iter + used, resume={**now.resume, **resume}))

        return of_all_stages
