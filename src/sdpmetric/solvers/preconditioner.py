"""A start and a preconditioner from the scatter of the compared differences.

Directions in which items differ much make F steep, so L-BFGS starts from ``S^(-1/2)``, S the
mean edge scatter: the change of variable ``P = S^(-1/4) Q``. Variances below a hundredth of the
largest are treated as equal, which leaves a low-rank change of the identity: a few sketched
eigenvectors are enough in any dimension. (Without that floor, digits needed 3 times the
evaluations; without a preconditioner, MNIST with the squared hinge, C = 200, needed up to twice.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, qr

from .._typing import Floats
from ..objective import Objective
from ..spectraplex import Oracle

__all__ = ["Preconditioner", "scatter_preconditioner"]

_FLOOR = 1e-2
_POWER_STEPS = 2


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """``V -> V + axes diag(gain) axes' V``, and a factor to start from."""

    axes: Floats
    gain: Floats
    start: Floats

    def apply(self, V: Floats) -> Floats:
        return V + self.axes @ (self.gain[:, None] * (self.axes.T @ V))


def scatter_preconditioner(objective: Objective, oracle: Oracle, rank: int) -> Preconditioner:
    """Leading eigenvectors of the scatter by randomised subspace iteration."""
    k = min(rank, objective.n_features)
    Q = qr(oracle.directions(k), mode="economic")[0]
    for _ in range(_POWER_STEPS):
        Q = qr(objective.scatter(Q), mode="economic")[0]
    SQ = objective.scatter(Q)
    A = Q.T @ SQ
    variances, W = eigh(0.5 * (A + A.T))
    axes = Q @ W
    share = variances / variances[-1]
    steep = share > _FLOOR
    gain = np.sqrt(_FLOOR / share[steep]) - 1.0
    live = share > 1e-12
    return Preconditioner(axes[:, steep], gain, axes[:, live] * np.sqrt(np.sqrt(share[live])))
