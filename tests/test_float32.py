"""Single precision: light items are computed in double, heavy ones only certified in it."""

from __future__ import annotations

import numpy as np
import pytest

from problems import Case, consistent, random_triplets
from sdpmetric import problem


def case() -> Case:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6)).astype(np.float32)
    planted = np.diag(np.arange(6) < 2).astype(float)
    return Case(X, consistent(random_triplets(rng, 60, 300), X, planted))


def test_light_items_reach_a_tight_tolerance() -> None:
    assert case().solve(tol=1e-7).converged


@pytest.mark.parametrize("solver", ["low-rank", "frank-wolfe"])
def test_heavy_items_are_certified_in_double(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = case().solve(tol=1e-6)
    monkeypatch.setattr(problem, "_LIGHT", 0)
    found = case().solve(tol=1e-3, solver=solver)
    assert found.converged
    assert found.objective <= expected.upper_bound + 1e-12
    assert expected.objective <= found.upper_bound + 1e-12
    M = found.get_mahalanobis_matrix()
    double = case().but(X=case().X.astype(np.float64))
    assert found.objective == pytest.approx(double.best(M)[1], abs=1e-10)
