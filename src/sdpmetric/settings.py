"""`Settings`: everything about a fit but its data, checked and carried out in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ._typing import Floats, Ints, Items
from ._warnings import warn
from .all_triplets import AllTriplets
from .losses import Hinge
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

__all__ = ["Settings"]

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
        loss = as_loss(self.loss, self.h) or Hinge()
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
        check_bounded(as_loss(self.loss, self.h) or Hinge(), float(self.C), crowd)

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
            problem = self._build(X, indices, weights)
            result = self._solver()(problem.objective, **self._limits(problem, start, callback))
            return self._finish(problem, result)

    def fit_all(
        self, X: Items, triplets: AllTriplets, codes: Ints, start: Floats | None = None
    ) -> Result:
        """Solve for all triplets; the ones listed by ``codes`` give the units."""
        with working(self.n_jobs):
            problem = self._build(X, *triplets.indices(codes), every_item=True)
            limits = self._limits(problem, start, None)
            pool = TripletPool(problem, triplets, codes, limits["seed"])
            return self._finish(problem, by_working_sets(self._solver(), pool, **limits))

    def _build(self, X: Items, indices: Ints, weights: Floats | None, **options: Any) -> Problem:
        loss = as_loss(self.loss, self.h) or Hinge()
        prior, t = as_prior(self.prior, self.prior_weight, X.shape[1])
        return build(X, indices, weights, loss, float(self.C), prior, t, **options)

    def _solver(self) -> Callable[..., Result]:
        solver = SOLVERS[self.solver]
        options = as_options(self.solver_options, solver)
        if as_loss(self.loss, self.h) is None:
            return partial(by_continuation, solver, **options)
        return partial(solver, **options)

    def _limits(
        self, problem: Problem, start: Floats | None, callback: Callback | None
    ) -> dict[str, Any]:
        return {
            "start": problem.lower(start),
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
            "time_limit": self.time_limit,
            "callback": callback,
            "seed": _seed(self.random_state),
        }

    def _finish(self, problem: Problem, result: Result) -> Result:
        if result.gap <= float(self.tol):
            result = replace(result, status=Status.CONVERGED)
        _warn_unless_converged(result, float(self.tol))
        return problem.lift(result, self.n_components)


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


def _seed(random_state: Any) -> int:
    """One number from whatever scikit-learn calls a random state; None is always the same one."""
    if random_state is None:
        return 0
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
