"""What every solver shares: limits, certificates, history, callback and the final result."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias
from weakref import ReferenceType, ref

import numpy as np

from .._typing import Floats
from ..factors import unit
from ..objective import Point
from ..result import Progress, Result, Status
from ..spectraplex import Leading, Oracle

__all__ = ["HISTORY", "Callback", "Monitor", "relative"]

Callback: TypeAlias = Callable[[Progress], object]

_ASKED = Status.STOPPED, Status.INTERRUPTED  # the gap may be good enough, but the user said stop

HISTORY = np.dtype([("objective", float), ("gap", float), ("seconds", float)])


def relative(gap: float, far: float, value: float) -> float:
    """A gap in units of the weighted far distance, ``sum_r w_r d_M(far_r)``.

    Where that is zero (no comparison counts, or all far items coincide under M) a gap that is but
    rounding of the objective is none.
    """
    if far > 0.0:
        return max(gap, 0.0) / far
    return 0.0 if gap <= 1e-10 * max(1.0, abs(value)) else np.inf


@dataclass
class Monitor:
    """Counts evaluations, keeps the best bound, decides when to stop."""

    oracle: Oracle
    share: float
    tol: float
    max_iter: int
    time_limit: float | None = None
    callback: Callback | None = None
    n_iter: int = 0
    upper_bound: float = np.inf
    gap: float = np.inf
    certified: ReferenceType[Point] | None = None  # without its arrays
    began: float = field(default_factory=time.perf_counter)
    rows: list[tuple[float, float, float]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def certify(self, point: Point, leading: Leading) -> float:
        """Record the bound ``F* <= F(M) + (1 - t)(lambda_max(G) - <G, M'>)``; return the gap."""
        gap = self.look(point, leading)
        self.upper_bound = min(self.upper_bound, point.value + gap)
        self.certified = ref(point)
        return self.gap

    def look(self, point: Point, leading: Leading) -> float:
        """Record the gap in the history but trust no bound to it; return it in absolute units."""
        # F and <G, M> are themselves rounded, which counts where the far distances are minute.
        rounding = 4.0 * np.finfo(float).eps * (abs(point.value) + abs(point.pull))
        gap = self.share * max(0.0, leading.bound - point.pull) + point.slack + rounding
        self.gap = relative(gap, point.far, point.value)
        self.rows.append((point.value, self.gap, self.seconds))
        return gap

    def stop(self, value: float, rank: int, factor: Callable[[], Floats]) -> Status | None:
        """Whether a limit is reached or the callback wants to end."""
        if self.callback is not None:
            now = Progress(self.n_iter, value, self.gap, self.seconds, rank, factor)
            if self.callback(now):
                return Status.STOPPED
        if self.n_iter >= self.max_iter:
            return Status.ITERATION_LIMIT
        if self.time_limit is not None and self.seconds >= self.time_limit:
            return Status.TIME_LIMIT
        return None

    def result(self, point: Point, P: Floats, status: Status) -> Result:
        """The certificate is that of ``point``, which must have been certified last."""
        return Result(
            factor=unit(P),
            rho=point.rho,
            objective=point.value,
            upper_bound=self.upper_bound,
            gap=self.gap,
            status=status if status in _ASKED or self.gap > self.tol else Status.CONVERGED,
            n_iter=self.n_iter,
            n_products=self.oracle.products,
            history=np.array(self.rows, dtype=HISTORY),
        )
