"""Is a certificate true? A result against `LongProblem`, at the point that was returned."""

from __future__ import annotations

import numpy as np

from sdpmetric import Result
from tests.support.longdouble import LongProblem
from tests.support.problems import Floats

__all__ = ["check_certificate", "check_metric"]

# Of the size of the terms that are summed. A fit in float64 loses 2e-16 at each step; sums over
# comparisons, rows and columns lose a few hundred times that.
_ROUNDING = 1e-11


def check_metric(components: Floats) -> None:
    """M is finite, psd (it is a product) and has trace one."""
    assert np.isfinite(components).all()
    assert abs(float(np.sum(components**2)) - 1.0) < 1e-9


def check_certificate(problem: LongProblem, result: Result, whole: Floats | None = None) -> None:
    """Objective, gap and bound of a result, recomputed from the definition.

    ``whole`` has the components of M where those of the result are cut.
    """
    components = result.components if whole is None else whole
    assert np.isfinite([result.objective, result.rho, result.scale]).all()
    assert result.rho >= 0.0
    # Both are infinite where no bound could be proven, and never NaN. The relative gap alone is
    # infinite where all far distances are zero: they are what it is relative to.
    assert result.gap >= 0.0
    assert np.isfinite(result.upper_bound) or result.gap == np.inf
    # 1. The objective is F at the returned point.
    value = problem.best(components)
    w = problem.slopes(components, result.rho)
    slack = _ROUNDING * (1.0 + problem.size(w) + abs(value) + result.rho)
    assert abs(result.objective - value) <= 10.0 * slack
    # 2. Nothing exceeds the bound: not this point, nor points toward the steepest direction.
    G = problem.gradient(w)
    top, v = problem.steepest(G)
    assert result.upper_bound >= value - slack
    for step in (0.01, 0.1, 0.5, 1.0):
        moved = np.vstack([np.sqrt(1.0 - step) * components, np.sqrt(step) * v])
        if problem.t > 0.0:
            break  # the prior's share would have to stay: 3. covers it
        other = problem.best(moved)
        assert result.upper_bound >= other - 10.0 * slack
    # 3. The gap is no smaller than the true one. The hinge has no slope at its kink: its bound
    #    comes from other slopes, and 2. is what can be checked.
    if problem.loss == "hinge":
        return
    M = components.T.astype(np.longdouble) @ components.astype(np.longdouble)
    learned = np.sum(G * M)
    if problem.t > 0.0:
        assert problem.M0 is not None
        learned = learned - problem.t * np.sum(G * problem.M0)
    gap = float((1.0 - problem.t) * top - learned)
    far = float(problem.scale * (w @ np.sum((problem.far @ components.T) ** 2, axis=1)))
    assert result.gap == np.inf or result.gap * far >= gap - 10.0 * slack
