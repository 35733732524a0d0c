"""A model of the curvature of F from the scatter S of the compared differences.

If the differences were Gaussian with scatter S, the Hessian of F with respect to P would be, in the
mean and up to sign and a common factor,

    V -> curvature S V (P' S P) / ||P||^2 + (<G, M> - G) V,

curvature being ``sum_r c_r loss''(z_r - rho)``. The right factor matters: F is flat along columns
of P with little weight and steep along others, more so for larger C and smaller h. A scatter from
the left alone misses that. ``<G, M> - G``, psd at the optimum, is replaced by a share of
``far_weight I + S``, which has its units (G is a signed scatter, with weights that sum to 1 while
rho > 0). S is a sketch: its leading eigenvectors, and the least of their variances for all others.
So the inverse is a division in the eigenvectors of S and of P' S P. L-BFGS starts from it and
learns the rest.

Evaluations to a relative gap of 1e-4 on MNIST (7,000 x 784), against ``S^(-1/2)`` from the left
alone: squared hinge, C = 200: 221 for 656; Huber, h = 0.05, C = 50: 242 for 587.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.linalg import eigh

from .._support.typing import Floats
from ..linalg.products import times, transposed_times
from ..problem.protocols import Iterate
from ..problem.scatter import Sketch

__all__ = ["InverseHessian", "inverse_hessian"]

# The share of far_weight I + S that stands for <G, M> - G. Without it flat directions would get
# unbounded steps.
_DAMPING = 0.05


@dataclass(frozen=True, eq=False)
class InverseHessian:
    """The inverse of the model, up to a factor: a division in the eigenvectors of S and P' S P.

    Attributes
    ----------
    axes : (D, k) eigenvectors of the sketch of S
    W : (d, d) eigenvectors of P' S P
    inside : (k, d) the inverse along both, less ``outside``
    outside : (d,) the inverse in all other directions; None if the axes are all there are
    """

    axes: Floats
    W: Floats
    inside: Floats
    outside: Floats | None

    def times(self, V: Floats) -> Floats:
        """Return the inverse times a change V of the factor."""
        V = times(V, self.W)
        turned = times(self.axes, self.inside * transposed_times(self.axes, V))
        if self.outside is not None:
            turned += self.outside * V
        return times(turned, self.W.T)

    def inner(self, V: Floats) -> float:
        """Return the inner product of V and the inverse times V."""
        V = times(V, self.W)
        T = transposed_times(self.axes, V)
        total = float(np.vdot(T, self.inside * T))
        return total if self.outside is None else total + float(np.vdot(V, self.outside * V))


def inverse_hessian(sketch: Sketch, point: Iterate, learned_share: float) -> InverseHessian:
    """Return the inverse of the model at a point, up to a factor that L-BFGS finds by itself."""
    spread, W = eigh(sketch.spread(point.P))
    steepness = learned_share * point.curvature * np.maximum(spread, 0.0)
    far_weight = point.far_weight or 1.0  # zero if all slopes are: any positive number will do
    v = sketch.variances[:, None]
    inside = 1.0 / (_DAMPING * (far_weight + v) + v * steepness)
    if sketch.whole:
        return InverseHessian(sketch.axes, W, inside, None)
    outside = 1.0 / (_DAMPING * (far_weight + sketch.floor) + sketch.floor * steepness)
    return InverseHessian(sketch.axes, W, inside - outside, outside)
