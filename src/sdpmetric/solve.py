"""`solve`: the metric of given comparisons, without scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ._typing import Floats, Ints, Items
from ._warnings import warn
from .losses import Hinge, Loss
from .problem import build
from .result import Result, Status
from .solvers import SOLVERS, by_continuation
from .solvers.monitor import Callback
from .threads import blas_threads
from .validation import (
    as_items,
    as_loss,
    as_options,
    as_prior,
    as_triplets,
    as_weights,
    check_bounded,
    check_integer,
    check_real,
)

__all__ = ["Settings", "solve"]

_IDENTITY_LIMIT = 20_000  # above this, all D rows of a metric with an identity prior are too many


def solve(
    X: Any,
    triplets: Any,
    *,
    sample_weight: Any = None,
    loss: str | Loss = "huber",
    C: float = 10.0,
    h: float = 0.02,
    prior: Any = None,
    prior_weight: float = 0.0,
    n_components: int | None = None,
    solver: str = "low-rank",
    solver_options: dict[str, Any] | None = None,
    tol: float = 1e-4,
    max_iter: int = 3000,
    time_limit: float | None = None,
    start: Any = None,
    callback: Callback | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Result:
    """Learn a metric from comparisons and prove how good it is.

    Maximises ``rho - sum_r c_r loss(z_r(M) - rho)`` over ``M`` psd of trace one and ``rho >= 0``,
    ``z_r = d_M(far_r) - d_M(near_r)``, ``c_r = C s_r / sum(s)``.

    Parameters
    ----------
    X : (n, D) items, dense or CSR
    triplets : (m, 3) row indices [anchor, near, far] or (m, 4) [near, near, far, far]
    sample_weight : (m,) weights s of the comparisons
    start : (D, d) factor to start from
    callback : called with a `Progress` after every step; return True to stop

    The other parameters are those of `SDPMetric`.

    Returns
    -------
    Result

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import solve
    >>> X = np.array([[0.0, 0.0], [0.0, 3.0], [1.0, 0.0], [1.0, 3.0]])
    >>> result = solve(X, [[0, 1, 2], [2, 3, 0]])  # the first column is what matters
    >>> abs(result.get_mahalanobis_matrix()).round(3).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    >>> bool(result.objective <= result.upper_bound), result.status.value
    (True, 'converged')
    """
    settings = Settings(
        loss,
        C,
        h,
        prior,
        prior_weight,
        n_components,
        solver,
        solver_options,
        tol,
        max_iter,
        time_limit,
        random_state,
        n_jobs,
    )
    items = as_items(X)
    settings.check(items.shape[1])
    indices = as_triplets(triplets, items.shape[0])
    weights = as_weights(sample_weight, len(indices))
    factor = None if start is None else _as_start(start, items.shape[1])
    return settings.fit(items, indices, weights, factor, callback)


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
        C = check_real("C", self.C, 0.0)
        check_bounded(as_loss(self.loss, self.h) or Hinge(), C)
        check_real("tol", self.tol, 0.0, 1.0)
        check_integer("max_iter", self.max_iter, 1)
        if self.time_limit is not None:
            check_real("time_limit", self.time_limit, 0.0)
        if self.n_jobs is not None and (check_integer("n_jobs", self.n_jobs, -1_000_000) == 0):
            raise ValueError("n_jobs must be None, a positive integer or -1 for all cores, got 0.")
        if self.solver not in SOLVERS:
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
            "start": None if start is None else problem.lower(start),
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
            "time_limit": self.time_limit,
            "callback": callback,
            "seed": _seed(self.random_state),
        }
        n, D = problem.objective.X.shape
        with blas_threads(self.n_jobs, float(n) * D * options.get("rank", 64)):
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
    Status.STALLED: "no further progress is possible in floating point; increase tol",
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


def _as_start(start: Any, n_features: int) -> Floats:
    factor = np.asarray(start, dtype=np.float64)
    if factor.ndim != 2 or factor.shape[0] != n_features or not np.isfinite(factor).all():
        raise ValueError(
            f"start must be a finite factor of shape ({n_features}, d), got shape {factor.shape}."
        )
    if not factor.any():
        raise ValueError("start is zero everywhere, expected a factor of positive norm.")
    return factor


def _seed(random_state: Any) -> int:
    """One number from whatever scikit-learn calls a random state; None is always the same one."""
    if random_state is None:
        return 0
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
