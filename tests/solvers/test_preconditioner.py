"""The model of the curvature, against the model written out densely."""

from __future__ import annotations

import numpy as np
import pytest

from sdpmetric.problem.protocols import Iterate
from sdpmetric.problem.scatter import Sketch
from sdpmetric.solvers.lbfgs import History
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


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("steps", [1, 4])
def test_direction_of_a_small_factor_is_that_of_a_large_one(
    k: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one compiled call, or loop by loop and product by product."""
    rng = np.random.default_rng(k)
    axes = np.linalg.qr(rng.normal(size=(5, k)))[0]
    floor = 0.7 if k < 5 else 0.0
    sketch = Sketch(axes, np.sort(rng.uniform(1.0, 9.0, size=k)), floor, axes)
    P, gradient = rng.normal(size=(2, 5, 3))
    point = Iterate(P, value=0.0, rho=0.0, inner_GM=0.0, far_weight=2.0, curvature=3.0)
    found = []
    for small in (1 << 14, 0):
        monkeypatch.setattr("sdpmetric.solvers.preconditioner._SMALL", small)
        history, steps_rng = History(3, 1 << 28), np.random.default_rng(1)
        history.model = inverse_hessian(sketch, point, 0.4)
        assert (history.model.arrays is None) == (small == 0)
        for _ in range(steps):  # more than there is room for: the ring begins anew
            s = steps_rng.normal(size=(5, 3))
            history.learn(s, 2.0 * s + 0.1 * steps_rng.normal(size=(5, 3)))
        kept = gradient.copy()
        found.append(history.direction(gradient))
        np.testing.assert_array_equal(gradient, kept)
    compiled, plain = found
    np.testing.assert_allclose(compiled, plain, rtol=1e-12, atol=1e-13)
