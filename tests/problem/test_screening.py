"""Skipping comparisons changes nothing but time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdpmetric import Huber, Progress, SquaredHinge, solve
from sdpmetric.linalg.items import items_of
from sdpmetric.problem import screening
from sdpmetric.problem.prior import Prior
from sdpmetric.problem.screening import Screened, relative_change, worthwhile
from sdpmetric.problem.units import Problem
from tests.support.problems import Floats, Ints


@pytest.fixture(autouse=True)
def _even_for_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screening, "_MANY", 1)
    monkeypatch.setattr(screening, "_LONG", 1e9)


def spread(seed: int, D: int, m: int = 2000) -> tuple[Floats, Ints]:
    """Classes along the first two axes and far rows at random: most margins are large."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 6, size=300)
    X = rng.normal(size=(300, D))
    X[:, :2] += 3.0 * np.stack([np.cos(y), np.sin(y)], axis=1) * (1 + y[:, None])
    a, b, c = rng.integers(0, 300, size=(3, 20 * m))
    right = (y[a] == y[b]) & (a != b) & (y[a] != y[c])
    return X, np.stack([a, b, c], axis=1)[right][:m]


def objective(loss: Any = None, C: float = 5.0, t: float = 0.0) -> Any:
    X, triplets = spread(0, 6)
    prior = Prior(X.shape[1], t)
    problem = Problem.from_triplets(
        items_of(X), triplets, loss=loss or Huber(0.05), C=C, prior=prior
    )
    return problem.objective


SHARE = 0.05  # of the identity in B


@pytest.mark.parametrize("D", [3, 30])
def test_change_between_two_axes(D: int) -> None:
    """``M - M0 = e1 e1' - e0 e0'``; on e1, B is the identity's share alone."""
    e0, e1 = np.eye(D)[:, :1], np.eye(D)[:, 1:2]
    assert relative_change(e1, e0) == pytest.approx(D / SHARE, rel=1e-5)
    assert relative_change(e0, e0) == pytest.approx(0.0, abs=1e-9)


def test_change_of_a_diagonal() -> None:
    P, Q = np.diag([0.5, 0.3, 0.2]), np.diag([0.2, 0.3, 0.5])
    expected = 0.3 / (0.2 + SHARE / 3)  # of the first axis, relative to what it was
    assert relative_change(np.sqrt(P), np.sqrt(Q)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("D", [3, 30])
@pytest.mark.parametrize("size", [1e-6, 1e-2, 1.0])
def test_change_bounds_every_distance(D: int, size: float) -> None:
    rng = np.random.default_rng(1)
    for ranks in ((2, 2), (5, 1), (1, 5)):
        Q = rng.normal(size=(D, ranks[0]))
        P = np.zeros((D, ranks[1]))
        shared = min(ranks)
        P[:, :shared] = Q[:, :shared]
        P += size * rng.normal(size=P.shape)
        r = relative_change(P, Q)
        M, M0 = P @ P.T / np.sum(P**2), Q @ Q.T / np.sum(Q**2)
        B = M0 + SHARE / D * np.eye(D)
        v = rng.normal(size=(D, 300))
        v[:, :50] = np.linalg.eigh(M - M0)[1][:, rng.integers(0, D, 50)]
        change = np.einsum("ij,ik,kj->j", v, M - M0, v)
        assert np.all(np.abs(change) <= r * np.einsum("ij,ik,kj->j", v, B, v))
        assert r <= 1.01 * np.abs(np.linalg.eigvals(np.linalg.solve(B, M - M0))).max() + 1e-9


@pytest.mark.parametrize("loss", [Huber(0.05), Huber(0.5), SquaredHinge()])
@pytest.mark.parametrize("t", [0.0, 0.4])
def test_inside_a_ball_nothing_changes(loss: Any, t: float) -> None:
    whole = objective(loss, t=t)
    rng = np.random.default_rng(2)
    P = rng.normal(size=(6, 3))
    screened = Screened(whole)
    screened.at(P)
    screened.at(P * (1.0 + 1e-3 * rng.normal(size=P.shape)))
    assert screened.ball is not None
    centre, skipped = screened.ball.P, 0
    for size in np.geomspace(1e-4, 0.3, 60):
        Q = centre + size * rng.normal(size=P.shape)
        ball = screened.ball
        expected, found = whole.at(Q), Screened.at(screened, Q)
        skipped += found.objective is not whole
        for name in ("value", "rho", "inner_GM", "far_weight", "curvature", "slack"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-10), name
        np.testing.assert_allclose(found.gradient(), expected.gradient(), atol=1e-10)
        screened.ball = ball  # always the same one
    assert 10 < skipped < 60


def test_a_larger_rho_ends_a_ball() -> None:
    screened = Screened(objective())
    rng = np.random.default_rng(3)
    P = rng.normal(size=(6, 3))
    screened.at(P)
    screened.at(P * (1.0 + 1e-3 * rng.normal(size=P.shape)))
    assert screened.ball is not None
    object.__setattr__(screened.ball, "rho", -1.0)
    assert screened.at(P).objective is screened.whole


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"C": 3.0, "h": 0.3},
        {"loss": "squared_hinge", "C": 20.0},
        {"prior": "identity", "prior_weight": 0.3},
    ],
    ids=str,
)
def test_the_steps_are_the_same(options: dict[str, Any]) -> None:
    X, triplets = spread(4, 8)
    paths = []
    for screen in (True, False):
        seen: list[Progress] = []
        solve(X, triplets, callback=seen.append, solver_options={"screen": screen}, **options)
        paths.append([now.objective for now in seen])
    # Certificates evaluate again where something was skipped: those steps are seen twice.
    with_, without = (np.array(path)[np.diff(path, prepend=-np.inf) != 0.0] for path in paths)
    length = min(len(with_), len(without))
    assert length > 8
    np.testing.assert_allclose(with_[:length], without[:length], rtol=1e-8, atol=1e-10)


def test_most_is_skipped_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    original = Screened.at

    def at(self: Screened, P: Any, **options: Any) -> Any:
        before = self.skipped
        point = original(self, P, **options)
        seen.append((self.skipped - before) / len(self.whole.comparisons))
        return point

    monkeypatch.setattr(Screened, "at", at)
    assert solve(*spread(4, 8)).converged
    assert max(seen) > 0.5


def test_where_it_does_not_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    o = objective()
    assert worthwhile(o)

    class Offset(Huber):
        def value(self, t: Any, /) -> Any:
            return super().value(t) + 1.0

    assert not worthwhile(o.replace(loss=Offset(0.1)))
    monkeypatch.setattr(screening, "_LONG", 1e-9)
    assert not worthwhile(o)
    monkeypatch.undo()
    assert not worthwhile(o)
