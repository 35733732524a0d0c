"""`Settings`: everything about a fit but its data, checked and carried out in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ._typing import Floats, Ints, Items
from ._warnings import warn
from .all_triplets import AllTriplets
from .losses import Hinge, Loss
from .pool import TripletPool
from .problem import Problem, build
from .result import Result, Status
from .solvers import SOLVERS, by_continuation, by_working_sets
from .solvers.monitor import Callback
from .threads import working
from .validation import (
    as_loss,
    as_options,
    as_prior,
    check_bounded,
    check_integer,
    check_jobs,
    check_real,
    check_support,
)

__all__ = ["Ready", "Settings", "seed_of"]

Ready: TypeAlias = Problem | TripletPool

_C_RANGE = 1e-9, 1e12  # beyond, the objective is all margin or all loss to within rounding
_IDENTITY_LIMIT = 20_000  # above this, all D rows of a metric with an identity prior are too many


@dataclass(frozen=True, eq=False)
class Settings:
    """Everything about a fit but its data; `check` it, then `fit`."""

    loss: Any
    C: Any
    h: Any
    prior: Any
    prior_weight: Any
    n_components: Any
    solver: Any
    solver_options: Any
    tol: Any
    max_iter: Any
    time_limit: Any
    random_state: Any
    n_jobs: Any

    def check(self, n_features: int, *, every_triplet: bool = False) -> None:
        """Raise ValueError for anything out of range, before any work."""
        C = check_real("C", self.C, *_C_RANGE, closed=True)
        loss = self._loss()
        if every_triplet:
            check_support(loss)
        else:
            check_bounded(loss, C)
        check_real("tol", self.tol, 0.0, 1.0)
        check_integer("max_iter", self.max_iter, 1)
        if self.time_limit is not None:
            check_real("time_limit", self.time_limit, 0.0)
        check_jobs(self.n_jobs)
        if not isinstance(self.solver, str) or self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {sorted(SOLVERS)}, got {self.solver!r}.")
        as_options(self.solver_options, SOLVERS[self.solver])
        if self.n_components is not None:
            check_integer("n_components", self.n_components, 1, n_features)
        _, t = as_prior(self.prior, self.prior_weight, n_features)
        if (
            isinstance(self.prior, str)
            and t > 0.0
            and n_features > _IDENTITY_LIMIT
            and self.n_components is None
        ):
            raise ValueError(
                f"n_components must be given with an identity prior and more than "
                f"{_IDENTITY_LIMIT} features (here {n_features}): the metric has full rank."
            )

    def check_crowd(self, crowd: float) -> None:
        """Whether C is large enough where comparisons are that many times those it counts."""
        check_bounded(self._loss(), float(self.C), crowd)

    def after(self, used: int, seconds: float) -> Settings:
        """What is left of the limits for another round."""
        left = None if self.time_limit is None else max(1e-9, self.time_limit - seconds)
        return replace(self, max_iter=max(1, self.max_iter - used), time_limit=left)

    def fit(
        self,
        X: Items,
        indices: Ints,
        weights: Floats | None,
        start: Floats | None = None,
        callback: Callback | None = None,
    ) -> Result:
        """Solve for checked data; warns where ``tol`` was not reached."""
        with working(self.n_jobs):
            return self.solve(self.prepare(X, indices, weights), start, callback)

    def prepare(
        self, X: Items, indices: Ints, weights: Floats | None, *, every_item: bool = False
    ) -> Problem:
        """Checked data, ready to be solved, and again after `vary`."""
        prior, t = as_prior(self.prior, self.prior_weight, X.shape[1])
        loss, C = self._loss(), float(self.C)
        return build(X, indices, weights, loss, C, prior, t, every_item=every_item)

    def prepare_all(self, X: Items, triplets: AllTriplets, codes: Ints) -> TripletPool:
        """All triplets; the ones listed by ``codes`` give the units."""
        problem = self.prepare(X, *triplets.indices(codes), every_item=True)
        return TripletPool(problem, triplets, codes, seed_of(self.random_state))

    def vary(self, ready: Ready) -> Ready:
        """What was prepared with other settings of the loss, C and weight of the prior."""
        return ready.vary(self._loss(), float(self.C), float(self.prior_weight))

    def solve(
        self,
        ready: Ready,
        start: Floats | None = None,
        callback: Callback | None = None,
        *,
        one_of_many: bool = False,
    ) -> Result:
        """Solve what was prepared; warns where ``tol`` was not reached.

        An interrupted fit is a result, but for ``one_of_many``: then all of them are to end.
        """
        problem = ready if isinstance(ready, Problem) else ready.problem
        limits = {
            "start": problem.lower(start),
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
            "time_limit": self.time_limit,
            "callback": None if callback is None else _told(callback, problem),
            "seed": seed_of(self.random_state),
        }
        if isinstance(ready, Problem):
            result = self._solver()(ready.objective, **limits)
        else:
            result = by_working_sets(self._solver(), ready, **limits)
        if one_of_many and result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if result.gap <= float(self.tol):
            result = replace(result, status=Status.CONVERGED)
        _warn_unless_converged(result, float(self.tol))
        return problem.lift(result, self.n_components)

    def bounded(self) -> bool:
        """Whether slopes are, so that C must exceed a threshold."""
        return bool(np.isfinite(self._loss().max_slope))

    def _loss(self) -> Loss:
        return as_loss(self.loss, self.h) or Hinge()

    def _solver(self) -> Callable[..., Result]:
        solver = SOLVERS[self.solver]
        options = as_options(self.solver_options, solver)
        if as_loss(self.loss, self.h) is None:
            return partial(by_continuation, solver, **options)
        return partial(solver, **options)


def _told(callback: Callback, problem: Problem) -> Callback:
    """The callback, told of factors in the user's coordinates."""
    return lambda now: callback(replace(now, factor=lambda: problem.raised(now.factor())))


_ADVICE = {
    Status.ITERATION_LIMIT: "increase max_iter, or tol",
    Status.TIME_LIMIT: "increase time_limit, or tol",
    Status.STOPPED: "the callback asked to stop",
    Status.INTERRUPTED: "the fit was interrupted; fit again with warm_start=True to go on",
    Status.STALLED: "rounding allows no further progress; increase tol, standardise the columns, "
    "or use float64",
}


def _warn_unless_converged(result: Result, tol: float) -> None:
    if result.converged:
        return
    warn(
        f"The relative gap is {result.gap:.2g}, above tol = {tol:.2g} "
        f"({result.status} after {result.n_iter} iterations): {_ADVICE[result.status]}. "
        "The metric is valid and its gap is certified.",
        ConvergenceWarning,
    )


def seed_of(random_state: Any) -> int:
    """One number from whatever scikit-learn calls a random state; None is always the same one."""
    if random_state is None:
        return 0
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
