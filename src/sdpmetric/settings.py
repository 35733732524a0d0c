"""`Settings`: everything about a fit but its data, checked and carried out in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ._typing import Floats, Ints, Items
from ._warnings import warn
from .losses import Hinge
from .problem import build
from .result import Result, Status
from .solvers import SOLVERS, by_continuation
from .solvers.monitor import Callback
from .threads import working
from .validation import (
    as_loss,
    as_options,
    as_prior,
    check_bounded,
    check_integer,
    check_real,
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

    def check(self, n_features: int) -> None:
        """Raise ValueError for anything out of range, before any work."""
        C = check_real("C", self.C, *_C_RANGE, closed=True)
        check_bounded(as_loss(self.loss, self.h) or Hinge(), C)
        check_real("tol", self.tol, 0.0, 1.0)
        check_integer("max_iter", self.max_iter, 1)
        if self.time_limit is not None:
            check_real("time_limit", self.time_limit, 0.0)
        if self.n_jobs is not None and check_integer("n_jobs", self.n_jobs, -1) == 0:
            raise ValueError("n_jobs must be None, -1 for all cores or at least 1, got 0.")
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

    def fit(
        self,
        X: Items,
        indices: Ints,
        weights: Floats | None,
        start: Floats | None = None,
        callback: Callback | None = None,
    ) -> Result:
        """Solve for checked data; warns where ``tol`` was not reached."""
        loss = as_loss(self.loss, self.h)
        prior, t = as_prior(self.prior, self.prior_weight, X.shape[1])
        problem = build(X, indices, weights, loss or Hinge(), float(self.C), prior, t)
        solver = SOLVERS[self.solver]
        options: dict[str, Any] = as_options(self.solver_options, solver)
        options |= {
            "start": problem.lower(start),
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
            "time_limit": self.time_limit,
            "callback": callback,
            "seed": _seed(self.random_state),
        }
        with working(self.n_jobs):
            if loss is None:
                result = by_continuation(solver, problem.objective, **options)
            else:
                result = solver(problem.objective, **options)
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
