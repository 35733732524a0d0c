"""Leading pairs and the bound of the whole matrix: nothing can hide from it."""

from __future__ import annotations

import numpy as np
import pytest

from sdpmetric._support.deadline import Deadline
from sdpmetric.spectraplex import krylov
from sdpmetric.spectraplex.krylov import certified_pairs, orthonormal
from sdpmetric.spectraplex.oracle import Oracle
from tests.support.hidden import Hidden
from tests.support.problems import Floats


def pairs(
    e: Floats, start: Floats, k: int = 1, goal: float = 1e-6, reached: float = np.inf
) -> tuple[Floats, Floats, float]:
    rng = np.random.default_rng(0)
    return certified_pairs(
        lambda V: e[:, None] * V, start, k, rng, goal=goal, reached=reached, deadline=Deadline()
    )


@pytest.mark.parametrize("D", [5, 50, 400])
def test_an_eigenvector_that_the_start_does_not_contain(D: int) -> None:
    """The block is invariant, and the largest eigenvalue is elsewhere."""
    e = np.linspace(-1.0, 1.0, D)
    e[-1] = 3.0
    start = np.eye(D)[:, : D // 2]
    values, vectors, bound = pairs(e, start)
    assert values[0] == pytest.approx(3.0, abs=1e-5)
    assert abs(vectors[-1, 0]) == pytest.approx(1.0, abs=1e-3)
    assert 3.0 <= bound <= 3.0 + 1e-5


@pytest.mark.parametrize("damped", [1e-30, 1e-13, 0.0])
def test_an_eigenvector_that_the_scatter_hides(damped: float) -> None:
    """Units 1e8 apart damp a direction of the start by 1e-16."""
    rng = np.random.default_rng(1)
    e = np.append(rng.uniform(-1.0, 1.0, size=299), 1.5)
    G = Hidden(e, np.append(np.ones(299), damped))
    for k in (1, 8):
        found = Oracle(G, dense_limit=1).leading(G, k, tol=1e-4)
        assert 1.5 <= found.bound <= 1.5 + 1e-4
        assert found.values[0] == pytest.approx(1.5, abs=1e-4)


def test_bounds_inside_and_outside_against_the_whole() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        values = np.sort(rng.normal(size=4))[::-1]
        E, beta = 10.0 ** rng.uniform(-6, 0) * rng.normal(size=(7, 4)), float(rng.normal())
        whole = np.block([[np.diag(values), E.T], [E, beta * np.eye(7)]])
        expected = float(np.linalg.eigvalsh(whole)[-1])
        goal = expected + 10.0 ** rng.uniform(-6, 0)
        found = krylov._combined(values, E.T @ E, beta, goal)
        assert expected <= found <= min(goal, expected + 1e-5 * (1.0 + float(np.linalg.norm(E))))


def test_more_pairs_than_dimensions() -> None:
    values, vectors, bound = pairs(np.array([2.0, 1.0, -1.0]), np.eye(3), k=8)
    np.testing.assert_allclose(values, [2.0, 1.0, -1.0])
    assert vectors.shape == (3, 3)
    assert bound == pytest.approx(2.0, abs=1e-12)


def test_a_matrix_of_zeros() -> None:
    values, vectors, bound = pairs(np.zeros(60), np.eye(60)[:, :8], k=2)
    assert bound == 0.0
    assert not values.any()
    assert np.linalg.norm(vectors) > 0.0


def test_a_proof_that_must_end_early_is_still_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(krylov, "_STEPS", 3)
    monkeypatch.setattr(krylov, "_RESTARTS", 2)
    e = np.random.default_rng(3).uniform(-1.0, 1.0, size=900)
    _, _, bound = pairs(e, np.eye(900)[:, :24], goal=1e-12)
    assert float(e.max()) <= bound <= 10.0


def test_random_vectors_of_a_proof_are_never_used_twice() -> None:
    G = Hidden(np.linspace(0.0, 1.0, 40), np.ones(40))
    first, second = (Oracle(G, dense_limit=1, stage=(i,)).proofs.standard_normal() for i in (0, 1))
    oracle = Oracle(G, dense_limit=1)
    assert len({first, second, *oracle.proofs.standard_normal(2), oracle.directions(1)[0, 0]}) == 5


def test_columns_of_rounding_are_not_directions() -> None:
    rng = np.random.default_rng(4)
    A = rng.normal(size=(20, 4))
    A[:, 3] = A[:, 0] + 1e-14 * rng.normal(size=20)
    Q = orthonormal(A)
    assert Q.shape == (20, 3)
    np.testing.assert_allclose(Q.T @ Q, np.eye(3), atol=1e-13)
    assert orthonormal(A, Q).shape == (20, 0)
