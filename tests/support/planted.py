"""A problem in any dimension whose optimum is known in closed form.

The far pairs are the axes ``(0, e_i)``, the near pairs half of them, so that the margin of
comparison i is ``a M_ii`` with ``a = 3/4 D`` in scaled units: off the diagonal M does not count.
With shares ``p_i`` and slopes ``w_i = -C p_i loss'(a M_ii - rho)`` the optimum has
``sum w_i = 1`` (rho) and all ``w_i`` equal (trace one), hence ``w_i = 1/D``. That gives
``t_i = a M_ii - rho`` for each loss, and the trace gives rho. Every eigenvalue of the gradient is
then the same, which is as hard as it gets for an eigenvalue bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import ortho_group

from tests.support.problems import Case, Floats, loss_value


@dataclass(frozen=True, eq=False)
class Planted:
    """``axes`` are rows; under each of them M* is as long as ``lengths`` say."""

    case: Case
    axes: Floats
    lengths: Floats
    rho: float
    objective: float


def planted(seed: int, loss: str, D: int) -> Planted:
    """Shares of the comparisons and the axes themselves are random."""
    rng = np.random.default_rng([seed, 21])
    C, h = float(rng.uniform(4.0, 8.0)), 0.3
    p = rng.uniform(0.5, 1.5, size=D)
    p /= p.sum()
    force = 1.0 / (C * D * p)  # -loss'(t), below 1 for these C
    if loss == "squared_hinge":
        t = -force / 2.0
    elif loss == "huber":
        t = h - 2.0 * h * force
    else:
        t = h * np.log(1.0 / force - 1.0)
    a = 0.75 * D
    rho = float(a - t.sum()) / D
    m = (rho + t) / a
    assert rho > 0.0
    assert m.min() > 0.0
    Q = ortho_group.rvs(D, random_state=rng) if D > 1 else np.eye(1)
    X = np.vstack([np.zeros((1, D)), Q.T, Q.T / 2.0]) + rng.normal(size=D)
    i = np.arange(1, D + 1)
    zero = np.zeros(D, dtype=np.int64)
    quadruplets = np.stack([zero, i + D, zero, i], axis=1)
    case = Case(X, quadruplets, weights=p, loss=loss, C=C, h=h)
    objective = rho - C * float(p @ loss_value(loss, h, t))
    return Planted(case, Q.T, m, rho, objective)
