"""A clock that moves only when work is done, so that time limits are tested without time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sdpmetric._support import deadline
from sdpmetric.problem.edge_points import EdgePoint
from sdpmetric.problem.objective import EdgeObjective
from sdpmetric.solvers.certificate import Monitor
from sdpmetric.spectraplex.oracle import Oracle

__all__ = ["Clock"]


class Clock:
    """Seconds pass by evaluations, by steps of frank-wolfe and by products of eigenvectors.

    ``log`` has the name of each piece of work and the second at which it began.
    """

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, *, evaluation: float = 1.0, product: float = 0.0
    ) -> None:
        self.now = 0.0
        self.log: list[tuple[str, float]] = []
        self.patch = monkeypatch
        monkeypatch.setattr(deadline, "time", self)
        self.costs(EdgeObjective, "at", evaluation)
        self.costs(EdgePoint, "toward", 0.5 * evaluation)
        self.costs(Oracle, "_apply", product)
        self.costs(Monitor, "certify", 0.0)

    def monotonic(self) -> float:
        return self.now

    def costs(self, owner: Any, name: str, seconds: float) -> None:
        """Let every call of a function take so long."""
        work: Callable[..., Any] = getattr(owner, name)

        def timed(*args: Any, **options: Any) -> Any:
            self.log.append((name, self.now))
            self.now += seconds
            return work(*args, **options)

        self.patch.setattr(owner, name, timed)

    def after(self, end: float, name: str) -> int:
        """How often some work began at or after a moment."""
        return sum(1 for what, when in self.log if what == name and when >= end)
