"""``loss="hinge"``: the paper's SDP itself, by continuation."""

from __future__ import annotations

import numpy as np
import pytest

from sdpmetric import Progress, Status, knn_triplets
from tests.support.problems import Case, Floats, Ints, random_case


def test_closed_form() -> None:
    """One comparison along each axis: margins are ``far e_i' M e_i``, so M and rho are known.

    Two comparisons with margins 2 M_11 and 2 M_22 (after scaling) and C = 10: rho is the common
    margin, M = I/2 and F = rho = 1.
    """
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    result = Case(X, np.array([[0, 1, 2], [0, 1, 3]]), loss="hinge").solve(tol=1e-6)
    assert result.objective == pytest.approx(1.0, abs=1e-5)
    assert result.rho == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(result.get_mahalanobis_matrix(), np.eye(2) / 2, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
def test_bound_is_far_tighter_than_the_difference_of_losses(tol: float) -> None:
    """Huber's value is off by h / 4 per unit of C at its kink; the gap is below that at once."""
    result = random_case(6, "hinge").solve(tol=tol)
    assert result.converged
    assert result.upper_bound - result.objective >= 0.0
    assert result.gap <= tol


def test_history_has_a_row_per_width_and_the_bound_only_falls() -> None:
    result = random_case(6, "hinge").solve(tol=1e-6)
    assert len(result.history) > 2
    assert result.history["gap"][-1] == result.gap
    assert np.all(np.diff(result.history["seconds"]) >= 0.0)


def test_callback_counts_all_stages() -> None:
    seen: list[Progress] = []
    result = random_case(6, "hinge").solve(tol=1e-6, callback=seen.append)
    counts = [p.n_iter for p in seen]
    seconds = [p.seconds for p in seen]
    assert counts == sorted(counts)
    assert seconds == sorted(seconds)
    assert counts[-1] <= result.n_iter


def test_warm_start(wine: tuple[Floats, Ints]) -> None:
    X, y = wine
    case = Case(X, knn_triplets(X, y), loss="hinge")
    cold = case.solve(tol=1e-3)
    warm = case.solve(tol=1e-3, start=cold.factor)
    assert warm.status is Status.CONVERGED
    assert warm.objective <= cold.upper_bound
    assert cold.objective <= warm.upper_bound


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_upper_bound_is_one_of_the_smooth_problem_too(seed: int) -> None:
    """The hinge lies below Huber's loss, so its optimum lies above every Huber optimum."""
    case = random_case(seed, "hinge")
    hinge = case.solve(tol=1e-5)
    huber = case.but(loss="huber", h=1e-2).solve(tol=1e-5)
    assert hinge.upper_bound >= huber.objective - 1e-9
    assert hinge.objective <= huber.upper_bound + case.C * 1e-2 / 4 + 1e-9
