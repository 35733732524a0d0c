"""`solve`: a metric from comparisons by one function call, without an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._support.checks import as_floats, check_choice
from ..._support.deadline import Deadline
from ..._support.typing import Floats
from ...engines.threads import thread_pool
from ...linalg.items import as_items
from ...problem.checks import as_triplets, as_weights
from ...problem.losses import Loss
from ...problem.result import Callback, Result, Status
from .parameters import FitParameters

__all__ = ["solve"]


def solve(
    X: Any,
    triplets: Any,
    *,
    sample_weight: Any = None,
    loss: str | Loss = "huber",
    C: float = 7.0,
    h: float = 0.05,
    prior: Any = "identity",
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
    on_interrupt: str = "raise",
) -> Result:
    """Learn a metric from comparisons and prove how good it is.

    Maximises ``rho - sum_r c_r loss(z_r(M) - rho)`` over ``M`` psd of trace one and ``rho >= 0``,
    ``z_r = d_M(far_r) - d_M(near_r)``, ``c_r = C s_r / sum(s)``. Parameters that are not listed
    here are those of `SDPMetric`.

    Parameters
    ----------
    X : (n, D) items, dense or CSR
    triplets : (m, 3) row indices [anchor, near, far] or (m, 4) [near, near, far, far]
    sample_weight : (m,) weights s of the comparisons
    start : (D, d) factor to start from
    callback : called with a `Progress` after every step; return True to stop
    on_interrupt : "raise", or "return" to get the last certified metric after Ctrl-C, with
        ``status`` "interrupted"

    Returns
    -------
    Result

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import solve
    >>> X = np.array([[0.0, 0.0], [0.0, 3.0], [1.0, 0.0], [1.0, 3.0]])
    >>> result = solve(X, [[0, 1, 2], [2, 3, 0]])  # only the first column matters
    >>> abs(result.get_mahalanobis_matrix()).round(3).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    >>> bool(result.objective <= result.upper_bound), result.status.value
    (True, 'converged')
    """
    deadline = Deadline()
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be None or a function, got {callback!r}.")
    check_choice("on_interrupt", on_interrupt, ("raise", "return"))
    # One pass finds NaN and the column extremes, which the problem needs to choose its units.
    items = as_items(X, scan=True)
    fit = FitParameters(
        loss=loss,
        C=C,
        h=h,
        prior=prior,
        prior_weight=prior_weight,
        n_components=n_components,
        solver=solver,
        solver_options=solver_options,
        tol=tol,
        max_iter=max_iter,
        time_limit=time_limit,
        random_state=random_state,
        n_jobs=n_jobs,
    ).resolve(items.shape[1], deadline)
    indices = as_triplets(triplets, items.shape[0])
    weights = as_weights(sample_weight, len(indices))
    factor = None if start is None else _as_start(start, items.shape[1])
    with thread_pool(fit.n_jobs):
        result = fit.run(fit.prepare(items, indices, weights), factor, callback)
    if result.status is Status.INTERRUPTED and on_interrupt == "raise":
        raise KeyboardInterrupt
    return result


def _as_start(start: Any, n_features: int) -> Floats:
    """Check a factor to start from."""
    factor = as_floats("start", start)
    if factor.ndim != 2 or factor.shape[0] != n_features:
        raise ValueError(
            f"start must be a factor of shape ({n_features}, d), got shape {factor.shape}."
        )
    if not factor.any():
        raise ValueError("start is zero everywhere, expected a factor of positive norm.")
    # The solver scales the factor to trace one; squares of huge entries would overflow on the way.
    return factor / float(np.abs(factor).max())
