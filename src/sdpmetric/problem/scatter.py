"""A sketch of the scatter S of the compared differences, and the factor to start from.

S is approximated by its leading eigenvectors; every other direction gets the least of their
variances. The start is ``S^(1/4)`` on those eigenvectors, so that its columns are as long as the
differences along them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.linalg import eigh
from scipy.linalg import qr

from .._support.typing import Floats
from ..linalg.products import transposed_times
from ..spectraplex.oracle import Oracle
from .protocols import Objective

__all__ = ["Sketch", "scatter_sketch"]

# Steps of subspace iteration. Few are enough: the sketch gives a start and a preconditioner, and no
# bound rests on it.
_POWER_STEPS = 2


@dataclass(frozen=True, eq=False)
class Sketch:
    """``S = floor I + axes diag(variances - floor) axes'``, and a factor to start from."""

    axes: Floats
    variances: Floats
    floor: float
    start: Floats

    @property
    def whole(self) -> bool:
        """Whether the axes are all directions there are."""
        return len(self.variances) == len(self.axes)

    def spread(self, P: Floats) -> Floats:
        """Return ``P' S P / ||P||^2``."""
        Q = transposed_times(self.axes, P)
        K = Q.T @ ((self.variances - self.floor)[:, None] * Q)
        if self.floor > 0.0:
            K += self.floor * (P.T @ P)
        K /= float(np.vdot(P, P))
        return K


def scatter_sketch(objective: Objective, oracle: Oracle, rank: int) -> Sketch:
    """Return the sketch of the scatter, made once for all losses, C and weights of the prior."""
    k = min(rank, objective.n_features)
    key = "sketch", k, oracle.seed
    if key not in objective.cache:
        objective.cache[key] = _make_sketch(objective, oracle, k)
    sketch: Sketch = objective.cache[key]
    return sketch


def _make_sketch(objective: Objective, oracle: Oracle, k: int) -> Sketch:
    """Decompose S whole if k = D, else sketch it by randomised subspace iteration."""
    whole = k == objective.n_features
    Q = np.eye(k)
    if not whole:
        Q = qr(oracle.directions(k), mode="economic")[0]
        for _ in range(0 if oracle.deadline.over else _POWER_STEPS):
            Q = qr(objective.scatter(Q), mode="economic")[0]
    A = objective.scatter(Q)
    A = A if whole else Q.T @ A
    variances, W = eigh(0.5 * (A + A.T))
    axes = W if whole else Q @ W
    relative = variances / variances[-1]
    live = relative > 1e-12  # below this a variance is rounding
    axes, variances = axes[:, live], variances[live]
    # All directions are known if k = D: then none needs a stand-in for its variance.
    floor = 0.0 if whole else float(variances[0])
    return Sketch(axes, variances, floor, axes * np.sqrt(np.sqrt(relative[live])))
