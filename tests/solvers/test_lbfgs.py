"""Directions of L-BFGS where they are known."""

from __future__ import annotations

import numpy as np
import pytest

from sdpmetric.solvers.lbfgs import History


@pytest.mark.parametrize("part", [1, 1 << 19])
def test_lbfgs_on_a_quadratic_is_newton(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With as many pairs as dimensions and exact steps the direction is the Newton step.

    In parts, as for large factors, or not.
    """
    monkeypatch.setattr("sdpmetric.solvers.lbfgs._PART", part)
    rng = np.random.default_rng(7)
    A = rng.normal(size=(4, 4))
    H = A @ A.T + np.eye(4)
    history = History(10, 1 << 28)
    basis = np.linalg.eigh(H)[1]  # conjugate directions
    for i in range(4):
        s = basis[:, i : i + 1]
        history.learn(s, H @ s)
    g = rng.normal(size=(4, 1))
    expected = np.linalg.solve(H, g)
    np.testing.assert_allclose(history.direction(g), expected, atol=1e-10)
    assert len(history.carried(lambda V: V[:, :0])) == 0
    assert len(history.carried(lambda V: -V)) == len(history.pairs) == 4
    history.learn(basis[:, :1], -basis[:, :1])  # negative curvature: all is forgotten
    assert len(history.pairs) == 0


@pytest.mark.parametrize("part", [1, 1 << 19])
@pytest.mark.parametrize("steps", [3, 5, 17])
def test_direction_is_that_of_the_dense_update(
    steps: int, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``H <- (I - s y' / s'y) H (I - y s' / s'y) + s s' / s'y`` for the newest five pairs."""
    monkeypatch.setattr("sdpmetric.solvers.lbfgs._PART", part)
    rng = np.random.default_rng(steps)
    A = rng.normal(size=(6, 6))
    A = A @ A.T + np.eye(6)
    history, pairs = History(5, 1 << 28), []
    for _ in range(steps):
        s = rng.normal(size=6)
        y = A @ s
        history.learn(s.reshape(3, 2), y.reshape(3, 2))
        pairs.append((s, y))
    s, y = pairs[-1]
    H = np.eye(6) * (s @ y) / (y @ y)
    for s, y in pairs[-5:]:
        T = np.eye(6) - np.outer(s, y) / (s @ y)
        H = T @ H @ T.T + np.outer(s, s) / (s @ y)
    g = rng.normal(size=(3, 2))
    expected = (H @ g.ravel()).reshape(3, 2)
    np.testing.assert_allclose(history.direction(g), expected, rtol=1e-9, atol=1e-9)
    assert len(history.pairs) == min(steps, 5)


def test_grown_factors_keep_the_newest_pairs_that_fit() -> None:
    """Room for four pairs of two columns is room for two of four."""
    history = History(9, 4 * 16 * 6)
    for i in range(6):
        history.learn(np.full((3, 2), i + 1.0), np.full((3, 2), i + 1.0))
    assert [s[0, 0] for s, _ in history.pairs] == [3.0, 4.0, 5.0, 6.0]
    grown = history.carried(lambda V: np.hstack([V, np.zeros((3, 2))]))
    assert [s[0, 0] for s, _ in grown] == [5.0, 6.0]
    assert grown.shape == (3, 4)
