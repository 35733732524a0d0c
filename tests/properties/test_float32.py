"""Single precision: light items are computed in double, heavy ones certified and finished in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdpmetric.linalg.items import items_of
from sdpmetric.problem import units as problem
from sdpmetric.problem.objective import EdgeObjective
from tests.support.lanes import some
from tests.support.problems import LOSSES, Case, consistent, random_case, random_triplets


def case() -> Case:
    rng = np.random.default_rng(0)
    X: Any = rng.normal(size=(60, 6)).astype(np.float32)
    planted = np.diag(np.arange(6) < 2).astype(float)
    return Case(X, consistent(random_triplets(rng, 60, 300), X, planted))


def test_light_items_reach_a_tight_tolerance() -> None:
    assert case().solve(tol=1e-7).converged


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["low-rank", "frank-wolfe"])
def test_heavy_items_are_certified_in_double(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = case().solve(tol=1e-6)
    monkeypatch.setattr(problem, "LIGHT", 0)
    found = case().solve(tol=1e-3, solver=solver)
    assert found.converged
    assert found.objective <= expected.upper_bound + 1e-12
    assert expected.objective <= found.upper_bound + 1e-12
    M = found.get_mahalanobis_matrix()
    double = case().but(X=case().X.astype(np.float64))
    assert found.objective == pytest.approx(double.best(M)[1], abs=1e-10)


def test_heavy_float32_items_do_not_stall_at_their_rounding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Steps in float32 ended at the limit of iterations with a gap of 3e-6."""
    rng = np.random.default_rng(0)
    X: Any = (rng.normal(size=(100, 10)) + 5.0).astype(np.float32)
    noisy = Case(X, consistent(random_triplets(rng, 100, 600), X, np.eye(10)), h=0.02)
    expected = noisy.solve(tol=1e-8)
    monkeypatch.setattr(problem, "LIGHT", 0)
    found = noisy.solve(tol=1e-7, max_iter=1000)
    assert found.converged
    assert found.objective <= expected.upper_bound + 1e-12
    assert expected.objective <= found.upper_bound + 1e-12


def evaluations(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each evaluation of the fits that follow is exact."""
    seen: list[bool] = []
    at = EdgeObjective.at

    def watched(self: EdgeObjective, *args: Any, **options: Any) -> Any:
        seen.append(not self.needs_exact or options.get("exact", False))
        return at(self, *args, **options)

    monkeypatch.setattr(EdgeObjective, "at", watched)
    return seen


@pytest.mark.parametrize("tol", [1e-4, 1e-9])
@pytest.mark.parametrize("seed", some(range(6), 2))
@pytest.mark.parametrize("loss", some(LOSSES, 3))
def test_float32_steps_on_float64_items(
    loss: str, seed: int, tol: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brackets overlap with those of float64 steps, and the value is exact; priors by the seed."""
    problem = random_case(seed, loss)
    tol = max(tol, 1e-6) if loss == "hinge" else tol
    double = problem.solve(tol=tol)
    monkeypatch.setattr("sdpmetric.problem.objective._SINGLE_LEAST", 0)
    exact = evaluations(monkeypatch)
    found = problem.solve(tol=tol)
    assert not all(exact)
    assert found.converged
    room = 1e-12 * (1.0 + abs(double.objective))
    assert found.objective <= double.upper_bound + room
    assert double.objective <= found.upper_bound + room
    M = found.get_mahalanobis_matrix()
    assert found.objective == pytest.approx(problem.best(M)[1], rel=1e-9, abs=1e-9)


def test_float32_steps_can_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdpmetric.problem.objective._SINGLE_LEAST", 0)
    exact = evaluations(monkeypatch)
    assert random_case(2).solve(solver_options={"screen": False}).converged
    assert all(exact)


def test_float32_copies_are_centred_and_only_made_where_they_can_be(tmp_path: Any) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3)) + 1e6
    single = items_of(X).single()
    assert single is not None
    expected = X - X.mean(axis=0)
    np.testing.assert_allclose(single.raw, expected, atol=1e-6)
    assert single.raw.dtype == np.float32
    assert items_of(X * 1e20).single() is None  # squares would overflow
    assert items_of(X.astype(np.float32)).single() is None  # they are float32 already
    X.tofile(tmp_path / "rows")
    assert items_of(np.memmap(tmp_path / "rows", shape=(50, 3))).single() is None
