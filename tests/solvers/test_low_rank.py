"""The default solver: certified from any start, deterministic, and its options act."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from sdpmetric import Progress, Result, knn_triplets, solve
from sdpmetric.problem.objective import EdgeObjective
from sdpmetric.solvers.lbfgs import History
from tests.support.lanes import some
from tests.support.problems import (
    LOSSES,
    SMOOTH,
    Case,
    Floats,
    Ints,
    consistent,
    random_case,
    random_triplets,
)
from tests.support.reference import ACCURACY, reference


def wide_case(loss: str = "squared_hinge") -> Case:
    """An optimum of rank well above one."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(60, 8))
    triplets = consistent(random_triplets(rng, 60, 400), X, np.eye(8))
    return Case(X, triplets, loss=loss, C=20.0)


@cache
def optimum(loss: str) -> float:
    """Of `wide_case`, by Clarabel."""
    return reference(wide_case(loss))[0]


@pytest.mark.parametrize(
    ("loss", "rank"),
    [
        *((s, r) for s in SMOOTH for r in (1, 64)),
        pytest.param("hinge", 1, marks=pytest.mark.slow),
    ],
)
def test_any_starting_rank_is_certified(loss: str, rank: int) -> None:
    result = wide_case(loss).solve(solver_options={"rank": rank}, tol=1e-5)
    expected = optimum(loss)
    room = ACCURACY * (1 + abs(expected))
    assert result.converged
    assert result.rank >= 4
    assert result.objective <= expected + room
    assert expected <= result.upper_bound + room
    assert result.objective == pytest.approx(expected, abs=1e-4 * (1 + abs(expected)))


def ranks(case: Case, **options: Any) -> list[int]:
    seen: list[int] = []

    def watch(now: Progress) -> None:
        seen.append(now.rank)

    assert case.solve(callback=watch, solver_options=options).converged
    return seen


def test_the_starting_rank_acts() -> None:
    small, large = ranks(wide_case(), rank=1), ranks(wide_case(), rank=6)
    assert (small[0], large[0]) == (1, 6)
    assert max(small) >= 4


def test_a_start_that_spans_one_axis_must_grow() -> None:
    result = wide_case().solve(start=np.eye(8)[:, :1], tol=1e-5)
    expected = optimum("squared_hinge")
    assert result.converged
    assert result.objective == pytest.approx(expected, abs=1e-4 * (1 + abs(expected)))


def test_a_good_start_saves_evaluations() -> None:
    case = wide_case()
    cold = case.solve(tol=1e-5)
    warm = case.solve(tol=1e-5, start=cold.factor)
    assert warm.converged
    assert warm.n_iter < cold.n_iter / 4


@pytest.mark.parametrize("tol", some([1e-2, 1e-4, 1e-6], 2))
@pytest.mark.parametrize("loss", some(LOSSES, 3))
def test_tolerances_are_reached(loss: str, tol: float, wine: tuple[Floats, Ints]) -> None:
    X, y = wine
    result = Case(X, knn_triplets(X, y), loss=loss, C=10.0).solve(tol=tol)
    assert result.converged
    assert result.gap <= tol


@pytest.mark.parametrize("loss", some(LOSSES, 3))
@pytest.mark.parametrize("random_state", [None, 3])
def test_deterministic(loss: str, random_state: int | None) -> None:
    case = random_case(8, loss)
    first, second = (case.solve(random_state=random_state) for _ in range(2))
    np.testing.assert_array_equal(first.components, second.components)
    assert (first.objective, first.gap) == (second.objective, second.gap)
    assert first.n_iter == second.n_iter


def test_random_state_matters_only_within_tol() -> None:
    case = wide_case()
    # A sketch of fewer directions than there are is random.
    options = {"rank": 4}
    first, second = (
        case.solve(random_state=s, solver_options=options) for s in (1, np.random.RandomState(2))
    )
    assert not np.array_equal(first.components, second.components)
    assert max(first.objective, second.objective) <= min(first.upper_bound, second.upper_bound)


def iterations(**options: Any) -> int:
    """Of a problem that is nearly non-smooth, where memory pays."""
    case = wide_case("huber").but(h=0.02)
    return case.solve(solver_options=options, tol=1e-4).n_iter


def remembered(monkeypatch: pytest.MonkeyPatch, **options: Any) -> int:
    """The most steps that L-BFGS had in memory at once during such a fit."""
    kept: list[int] = []
    learn = History.learn

    def watched(self: History, s: Floats, y: Floats) -> None:
        learn(self, s, y)
        kept.append(len(self.pairs))

    with monkeypatch.context() as patch:
        patch.setattr(History, "learn", watched)
        iterations(**options)
    return max(kept)


@pytest.mark.parametrize("corrections", [1, 2, 5, 12])
def test_corrections_are_the_steps_remembered(
    corrections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert remembered(monkeypatch, corrections=corrections) == corrections


def test_history_bytes_cap_the_corrections(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 bytes x corrections x D x d: room for two of them is the least there is."""
    assert remembered(monkeypatch, history_bytes=1) == 2
    room_for_five = 16 * 8 * 8 * 5
    assert remembered(monkeypatch, history_bytes=room_for_five) == 5
    assert remembered(monkeypatch, history_bytes=1 << 28) == 15


@pytest.mark.slow
def test_a_cap_by_bytes_is_a_cap_by_number() -> None:
    assert iterations(history_bytes=1) == iterations(corrections=2)
    assert iterations(history_bytes=16 * 8 * 8 * 5) == iterations(corrections=5)
    assert iterations(history_bytes=1 << 28) == iterations()


@pytest.mark.parametrize("D", some([3, 250], 1))
@pytest.mark.parametrize("solver", ["low-rank", "frank-wolfe"])
def test_dense_limit_is_crossed_in_any_dimension(D: int, solver: str) -> None:
    """Frank-Wolfe stops early: what matters here is that its last bound is a true one."""
    rng = np.random.default_rng(D)
    X = rng.normal(size=(2 * D + 4, D))
    case = Case(X, consistent(random_triplets(rng, len(X), 90), X, np.eye(D)))
    tol = 1e-4 if solver == "low-rank" else 0.3
    lanczos = case.solve(solver=solver, tol=tol, solver_options={"dense_limit": 1})
    dense = case.solve(solver=solver, tol=tol)
    assert lanczos.converged
    assert lanczos.objective <= dense.upper_bound + 1e-9
    assert dense.objective <= lanczos.upper_bound + 1e-9
    # A Krylov basis is everything up to a block; frank-wolfe asks for few certificates here.
    crossed = D > 24 and solver == "low-rank"
    assert (lanczos.n_products != dense.n_products) == crossed


NOT_CONVERGED = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def told(case: Case, **settings: Any) -> tuple[Result, list[int]]:
    """A result, and the evaluations at every look at the limits."""
    counts: list[int] = []
    result = case.solve(callback=lambda now: counts.append(now.n_iter), **settings)
    return result, counts


@NOT_CONVERGED
@pytest.mark.parametrize("max_iter", [1, 2, 3, 5, 7, 10, 30])
@pytest.mark.parametrize("loss", some(LOSSES, 3))
def test_evaluations_never_exceed_the_limit(loss: str, max_iter: int) -> None:
    """``max_iter=5`` gave 21 once: a line search that had begun went on, and so did a growth."""
    for case in (wide_case(loss), random_case(6, loss), random_case(19, loss)):
        for tol in (1e-8, 1e-2):
            result, counts = told(case, max_iter=max_iter, tol=tol)
            assert all(n < max_iter for n in counts[:-1])
            assert counts[-1] <= result.n_iter <= max_iter
            assert result.converged or result.n_iter == max_iter
            assert result.n_products > 0


@NOT_CONVERGED
@pytest.mark.parametrize("max_iter", [1, 2, 5, 10, 3000])
@pytest.mark.parametrize("loss", SMOOTH)
def test_evaluations_are_counted(loss: str, max_iter: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, but for one that the last certificate may need."""
    calls: list[None] = []
    at = EdgeObjective.at

    def counted(self: EdgeObjective, *args: Any, **options: Any) -> Any:
        calls.append(None)
        return at(self, *args, **options)

    monkeypatch.setattr(EdgeObjective, "at", counted)
    result = wide_case(loss).solve(max_iter=max_iter, tol=1e-8)
    assert result.n_iter <= len(calls) <= result.n_iter + 1


def test_history_is_a_row_per_certificate() -> None:
    result = wide_case().solve()
    assert result.history.dtype.names == ("objective", "gap", "seconds")
    assert len(result.history) >= 1
    assert np.all(np.diff(result.history["seconds"]) >= 0.0)
    assert result.history["gap"][-1] == result.gap
    assert result.history["objective"][-1] == result.objective


@pytest.mark.parametrize("loss", some(LOSSES, 3))
def test_callback_sees_progress(loss: str) -> None:
    seen: list[Progress] = []
    result: Result = wide_case(loss).solve(callback=seen.append)
    counts = [p.n_iter for p in seen]
    assert counts == sorted(counts)
    assert counts[-1] <= result.n_iter
    assert all(p.objective <= result.upper_bound + 1e-9 for p in seen if loss != "hinge")
    assert all(p.rank >= 1 and p.seconds >= 0.0 for p in seen)


def test_planted_metric_is_recovered() -> None:
    """Strongly anisotropic and rotated: rows and columns of eigenvectors cannot be confused."""
    rng = np.random.default_rng(5)
    Q = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    expected = (Q * np.array([0.85, 0.12, 0.03, 0.0, 0.0])) @ Q.T
    X = rng.normal(size=(150, 5))
    triplets = consistent(random_triplets(rng, 150, 6000), X, expected)
    result = Case(X, triplets, loss="huber", C=100.0, h=0.02).solve(tol=1e-3)
    M = result.get_mahalanobis_matrix()
    np.testing.assert_allclose(M, expected, atol=0.05)
    leading = result.components[0] / np.linalg.norm(result.components[0])
    assert abs(leading @ Q[:, 0]) > 0.999
    assert result.eigenvalues[0] == pytest.approx(0.85, abs=0.03)


@pytest.mark.slow
def test_every_small_problem_reaches_a_tight_tolerance() -> None:
    for seed in range(20):
        assert random_case(seed, "squared_hinge").solve(tol=1e-6).converged


@pytest.mark.slow
def test_a_rank_far_above_the_start_is_reached_soon() -> None:
    """Noisy answers in many dimensions: the optimum has a rank of about 50."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(400, 60))
    T = consistent(random_triplets(rng, 400, 4000), X, np.eye(60))
    small = solve(X, T, solver_options={"rank": 8}, tol=1e-3)
    assert small.rank > 24
    assert small.converged
    assert small.n_iter < 800
