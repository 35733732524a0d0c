"""The default solver: certified from any start, deterministic, and its options act."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from problems import LOSSES, SMOOTH, Case, Floats, Ints, consistent, random_case, random_triplets
from sdpmetric import Progress, Result, knn_triplets, solve
from sdpmetric.factors import spectrum
from sdpmetric.solvers.lbfgs import History


def wide_case(loss: str = "squared_hinge") -> Case:
    """An optimum of rank well above one."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(60, 8))
    triplets = consistent(random_triplets(rng, 60, 400), X, np.eye(8))
    return Case(X, triplets, loss=loss, C=20.0)


@pytest.mark.parametrize(
    ("loss", "rank"), [*((s, r) for s in SMOOTH for r in (1, 64)), ("hinge", 1)]
)
def test_any_starting_rank_is_certified(loss: str, rank: int) -> None:
    case = wide_case(loss)
    result = case.solve(solver_options={"rank": rank})
    expected = case.solve(tol=1e-5).objective
    assert result.converged
    assert result.rank >= 4
    assert result.objective <= expected + 1e-4 * (1 + abs(expected))
    assert result.upper_bound >= expected - 1e-9 * (1 + abs(expected))


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
    case = wide_case()
    expected = case.solve(tol=1e-6).objective
    result = case.solve(start=np.eye(8)[:, :1], tol=1e-5)
    assert result.converged
    assert result.objective == pytest.approx(expected, abs=1e-4 * (1 + abs(expected)))


def test_a_good_start_saves_evaluations() -> None:
    case = wide_case()
    cold = case.solve(tol=1e-5)
    warm = case.solve(tol=1e-5, start=cold.factor)
    assert warm.converged
    assert warm.n_iter < cold.n_iter / 4


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("loss", LOSSES)
def test_tolerances_are_reached(loss: str, tol: float, wine: tuple[Floats, Ints]) -> None:
    X, y = wine
    result = Case(X, knn_triplets(X, y), loss=loss, C=10.0).solve(tol=tol)
    assert result.converged
    assert result.gap <= tol


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("random_state", [None, 3])
def test_deterministic(loss: str, random_state: int | None) -> None:
    case = random_case(8, loss)
    first, second = (case.solve(random_state=random_state) for _ in range(2))
    np.testing.assert_array_equal(first.components, second.components)
    assert (first.objective, first.gap) == (second.objective, second.gap)
    assert first.n_iter == second.n_iter


def test_random_state_matters_only_within_tol() -> None:
    case = wide_case()
    first, second = (case.solve(random_state=s) for s in (1, np.random.RandomState(2)))
    assert not np.array_equal(first.components, second.components)
    assert max(first.objective, second.objective) <= min(first.upper_bound, second.upper_bound)


def iterations(**options: Any) -> int:
    """Of a problem that is nearly non-smooth, where memory pays."""
    case = wide_case("huber").but(h=0.02)
    return case.solve(solver_options=options, tol=1e-4).n_iter


def test_corrections_act() -> None:
    assert iterations(corrections=1) != iterations(corrections=2)
    assert iterations(corrections=2) > iterations(corrections=5) > iterations(corrections=30)


def test_history_bytes_cap_the_corrections() -> None:
    """16 bytes x corrections x D x d: room for two of them is the least there is."""
    assert iterations(history_bytes=1) == iterations(corrections=2)
    room_for_five = 16 * 8 * 8 * 5
    assert iterations(history_bytes=room_for_five) == iterations(corrections=5)
    assert iterations(history_bytes=1 << 28) == iterations()


@pytest.mark.parametrize("D", [3, 40, 250])
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
    assert (lanczos.n_products != dense.n_products) == (D > 96)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("max_iter", [1, 2, 10, 30])
@pytest.mark.parametrize("loss", LOSSES)
def test_evaluations_are_counted_and_limited(loss: str, max_iter: int) -> None:
    result = wide_case(loss).solve(max_iter=max_iter, tol=1e-8)
    assert result.n_iter <= max_iter + 12
    assert result.converged or result.n_iter >= max_iter
    assert result.n_products > 0


def test_history_is_a_row_per_certificate() -> None:
    result = wide_case().solve()
    assert result.history.dtype.names == ("objective", "gap", "seconds")
    assert len(result.history) >= 1
    assert np.all(np.diff(result.history["seconds"]) >= 0.0)
    assert result.history["gap"][-1] == result.gap
    assert result.history["objective"][-1] == result.objective


@pytest.mark.parametrize("loss", LOSSES)
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


@pytest.mark.parametrize("k", [None, 2])
def test_spectrum_of_a_known_factor(k: int | None) -> None:
    rng = np.random.default_rng(6)
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    e = np.array([0.7, 0.2, 0.1])
    mixing = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    found = spectrum(3.0 * (Q[:, :3] * np.sqrt(e)) @ mixing, k=k)
    np.testing.assert_allclose(found.eigenvalues, e, atol=1e-12)
    kept = e[:k] / e[:k].sum()
    expected = (Q[:, : len(kept)] * kept) @ Q[:, : len(kept)].T
    np.testing.assert_allclose(found.components.T @ found.components, expected, atol=1e-12)
    assert found.retained == pytest.approx(e[:k].sum(), abs=1e-12)


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


def test_every_small_problem_reaches_a_tight_tolerance() -> None:
    for seed in range(20):
        assert random_case(seed, "squared_hinge").solve(tol=1e-6).converged


def test_a_rank_far_above_the_start_is_reached_soon() -> None:
    """Noisy answers in many dimensions: the optimum has a rank of about 50."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(400, 60))
    T = consistent(random_triplets(rng, 400, 4000), X, np.eye(60))
    small = solve(X, T, solver_options={"rank": 8}, tol=1e-3)
    assert small.rank > 24
    assert small.converged
    assert small.n_iter < 800
