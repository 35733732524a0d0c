"""The model of the curvature, against the model written out densely."""

from __future__ import annotations

import numpy as np
import pytest

from sdpmetric.problem.protocols import Iterate
from sdpmetric.problem.scatter import Sketch
from sdpmetric.solvers.preconditioner import inverse_hessian


@pytest.mark.parametrize("k", [2, 5])
def test_inverse_of_the_model(k: int) -> None:
    """``V -> 0.05 (far_weight + S) V + share curvature S V (P' S P) / ||P||^2``, S the sketch."""
    rng = np.random.default_rng(k)
    axes = np.linalg.qr(rng.normal(size=(5, k)))[0]
    variances, floor = np.sort(rng.uniform(1.0, 9.0, size=k)), 0.7 if k < 5 else 0.0
    S = floor * np.eye(5) + axes @ np.diag(variances - floor) @ axes.T
    P, V = rng.normal(size=(2, 5, 3))
    K = P.T @ S @ P / np.sum(P**2)
    point = Iterate(P, value=0.0, rho=0.0, inner_GM=0.0, far_weight=2.0, curvature=3.0)
    model = inverse_hessian(Sketch(axes, variances, floor, axes), point, 0.4)
    curved = 0.05 * (2.0 * V + S @ V) + 0.4 * 3.0 * S @ V @ K
    np.testing.assert_allclose(model.times(curved), V, atol=1e-12)
    expected = float(np.sum(V * model.times(V)))
    assert model.inner(V) == pytest.approx(expected, rel=1e-12)
