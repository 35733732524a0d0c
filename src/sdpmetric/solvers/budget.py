"""What is left for the next stage, where several solves make one fit."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..objective import Objective
from ..result import Progress, Result
from .monitor import HISTORY, Callback

__all__ = ["Budget"]


@dataclass
class Budget:
    """Evaluations and seconds shared by the stages, and a callback told of all of them."""

    max_iter: int
    time_limit: float | None
    callback: Callback | None
    used: int = 0
    products: int = 0
    rows: list[tuple[float, float, float]] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def run(self, solver: Callable[..., Result], objective: Objective, **options: Any) -> Result:
        """One stage, with what is left."""
        elapsed = self.seconds
        stage = solver(
            objective,
            max_iter=self.max_iter - self.used,
            time_limit=None if self.time_limit is None else max(0.0, self.time_limit - elapsed),
            callback=self._told(elapsed),
            **options,
        )
        self.used += stage.n_iter
        self.products += stage.n_products
        return stage

    def note(self, stage: Result, elapsed: float) -> None:
        """Take a stage's certificates into the history of the whole fit."""
        for objective, gap, seconds in stage.history.tolist():
            self.rows.append((objective, gap, seconds + elapsed))

    def whole(self, last: Result, **changes: Any) -> Result:
        """The last stage's result as that of all stages."""
        counts: dict[str, Any] = {"n_iter": self.used, "n_products": self.products}
        history = np.array(self.rows, dtype=HISTORY)
        return replace(last, **counts, history=history, **changes)

    def _told(self, elapsed: float) -> Callback | None:
        """The user's callback, told the evaluations and seconds of all stages."""
        callback, used = self.callback, self.used
        if callback is None:
            return None

        def told(now: Progress) -> object:
            return callback(replace(now, n_iter=now.n_iter + used, seconds=now.seconds + elapsed))

        return told
