"""`solve`: the metric of given comparisons, without scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._typing import Floats
from .inputs import as_items, as_triplets, as_weights
from .losses import Loss
from .result import Result
from .settings import Settings
from .solvers.monitor import Callback

__all__ = ["solve"]


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
    ``z_r = d_M(far_r) - d_M(near_r)``, ``c_r = C s_r / sum(s)``. Parameters that are not listed
    here are those of `SDPMetric`.

    Parameters
    ----------
    X : (n, D) items, dense or CSR
    triplets : (m, 3) row indices [anchor, near, far] or (m, 4) [near, near, far, far]
    sample_weight : (m,) weights s of the comparisons
    start : (D, d) factor to start from
    callback : called with a `Progress` after every step; return True to stop

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
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be None or a function, got {callback!r}.")
    items = as_items(X)
    settings.check(items.shape[1])
    indices = as_triplets(triplets, items.shape[0])
    weights = as_weights(sample_weight, len(indices))
    factor = None if start is None else _as_start(start, items.shape[1])
    return settings.fit(items, indices, weights, factor, callback)


def _as_start(start: Any, n_features: int) -> Floats:
    try:
        factor = np.asarray(start, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"start must be an array of numbers, got {start!r}.") from None
    if factor.ndim != 2 or factor.shape[0] != n_features or not np.isfinite(factor).all():
        raise ValueError(
            f"start must be a finite factor of shape ({n_features}, d), got shape {factor.shape}."
        )
    if not factor.any():
        raise ValueError("start is zero everywhere, expected a factor of positive norm.")
    return factor / float(np.abs(factor).max())
