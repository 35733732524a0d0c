"""A start and a model of the curvature from the scatter S of the compared differences.

Were the differences Gaussian with scatter S, the Hessian of F with respect to P would be, in the
mean and up to sign and a common factor,

    V -> curvature S V (P' S P) / ||P||^2 + (<G, M> - G) V,

curvature being ``sum_r c_r loss''(z_r - rho)``. The right factor is what a scatter from the left
alone misses: columns of P with little weight are flat, others steep, the more so the larger C and
the smaller h. ``<G, M> - G``, psd at the optimum, is replaced by a share of ``far I + S``, which
has its units (G is a signed scatter, with weights that sum to 1 while rho > 0). S is a sketch:
its leading eigenvectors, and the least of their variances for all others. So the inverse is a
division in the eigenvectors of S and of P' S P. L-BFGS starts from it and learns the rest.

Evaluations to a relative gap of 1e-4 on MNIST (7,000 x 784), against ``S^(-1/2)`` from the left
alone: squared hinge, C = 200: 221 for 656; Huber, h = 0.05, C = 50: 242 for 587.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, qr

from .._typing import Floats
from ..objective import Objective, Station
from ..products import backward, forward
from ..spectraplex import Oracle

__all__ = ["Sketch", "scatter_sketch"]

_DAMPING = 0.05  # a share of far I + S
_POWER_STEPS = 2


@dataclass(frozen=True, eq=False)
class Sketch:
    """``S = floor I + axes diag(variances - floor) axes'``, and a factor to start from."""

    axes: Floats
    variances: Floats
    floor: float
    start: Floats

    def spread(self, P: Floats) -> Floats:
        """``P' S P / ||P||^2``."""
        Q = backward(self.axes, P)
        K = self.floor * (P.T @ P) + Q.T @ ((self.variances - self.floor)[:, None] * Q)
        return K / float(np.vdot(P, P))

    def inverse_hessian(self, point: Station, share: float) -> Callable[[Floats], Floats]:
        """The inverse of the model at a point, up to a factor; ``share`` as in the objective."""
        P, A = point.P, self.axes
        spread, W = eigh(self.spread(P))
        steep = share * point.curvature * np.maximum(spread, 0.0)
        far = point.far or 1.0
        base = 1.0 / (_DAMPING * (far + self.floor) + self.floor * steep)
        v = self.variances[:, None]
        change = 1.0 / (_DAMPING * (far + v) + v * steep) - base

        def apply(V: Floats) -> Floats:
            V = forward(V, W)
            turned = base * V
            turned += forward(A, change * backward(A, V))
            return forward(turned, W.T)

        return apply


def scatter_sketch(objective: Objective, oracle: Oracle, rank: int) -> Sketch:
    """Leading eigenvectors of the scatter, made once for all losses, C and weights of the prior."""
    k = min(rank, objective.n_features)
    key = "sketch", k, oracle.seed
    if key not in objective.memory:
        objective.memory[key] = _sketched(objective, oracle, k)
    sketch: Sketch = objective.memory[key]
    return sketch


def _sketched(objective: Objective, oracle: Oracle, k: int) -> Sketch:
    """By randomised subspace iteration."""
    Q = qr(oracle.directions(k), mode="economic")[0]
    for _ in range(_POWER_STEPS):
        Q = qr(objective.scatter(Q), mode="economic")[0]
    SQ = objective.scatter(Q)
    A = Q.T @ SQ
    variances, W = eigh(0.5 * (A + A.T))
    axes = Q @ W
    share = variances / variances[-1]
    live = share > 1e-12
    axes, variances = axes[:, live], variances[live]
    floor = 0.0 if k == objective.n_features else float(variances[0])
    return Sketch(axes, variances, floor, axes * np.sqrt(np.sqrt(share[live])))
