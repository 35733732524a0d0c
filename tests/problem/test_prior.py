"""``M = (1 - t) M' + t M0``, by the same solvers with the same certificate."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sdpmetric import solve
from tests.support.problems import (
    LOSSES,
    SMOOTH,
    SOLVERS,
    Case,
    consistent,
    random_case,
    random_psd,
    random_triplets,
)


def case_with(prior: Any, t: float, loss: str = "huber") -> Case:
    rng = np.random.default_rng(12)
    X = rng.normal(size=(20, 4))
    triplets = consistent(random_triplets(rng, 20, 60), X, np.diag([1.0, 0.3, 0.0, 0.0]))
    return Case(X, triplets, loss=loss, prior=prior, t=t)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("prior", ["identity", "array"])
def test_weight_one_is_the_prior_itself(prior: Any, loss: str, solver: str) -> None:
    M0 = random_psd(np.random.default_rng(0), 4, 2) if prior == "array" else prior
    case = case_with(M0, 1.0, loss)
    result = case.solve(solver=solver)
    np.testing.assert_allclose(result.get_mahalanobis_matrix(), case.M0, atol=1e-12)
    _, expected = case.best(case.M0)
    assert result.objective == pytest.approx(expected, abs=1e-8)
    # The hinge is bounded through Huber's slopes: within tol, but not to rounding.
    room = 1e-8 if loss in SMOOTH else 1e-3
    assert expected - 1e-8 <= result.upper_bound <= expected + room
    assert result.converged


@pytest.mark.parametrize("prior", ["identity", np.diag([4.0, 3.0, 2.0, 1.0])])
def test_weight_zero_is_no_prior(prior: Any) -> None:
    expected = case_with(None, 0.0).solve()
    result = case_with(prior, 0.0).solve()
    np.testing.assert_array_equal(result.components, expected.components)


@pytest.mark.parametrize("t", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_prior_is_a_floor(t: float, loss: str) -> None:
    """M - t M0 is psd of trace 1 - t, and the gap is that of the whole problem."""
    M0 = random_psd(np.random.default_rng(1), 4)
    case = case_with(M0, t, loss)
    result = case.solve()
    M = result.get_mahalanobis_matrix()
    rest = np.linalg.eigvalsh(M - t * case.M0)
    assert rest[0] >= -1e-12
    assert rest.sum() == pytest.approx(1 - t, abs=1e-12)
    assert result.objective == pytest.approx(case.best(M)[1], abs=1e-8)
    if loss in SMOOTH:
        assert result.gap >= case.relative_gap(M, result.rho) - 1e-9


@pytest.mark.parametrize("factor", [1.0, 1e-200, 1e200])
def test_array_priors_are_normalised(factor: float) -> None:
    M0 = random_psd(np.random.default_rng(2), 4)
    expected = case_with(M0 / np.trace(M0), 0.3).solve()
    result = case_with(factor * M0, 0.3).solve()
    np.testing.assert_allclose(result.components, expected.components, atol=1e-9)


def test_identity_is_the_array_of_the_identity() -> None:
    named, given = (case_with(p, 0.3).solve(tol=1e-6) for p in ("identity", 7 * np.eye(4)))
    assert named.objective == pytest.approx(given.objective, abs=1e-9)
    np.testing.assert_allclose(
        named.get_mahalanobis_matrix(), given.get_mahalanobis_matrix(), atol=1e-6
    )


@pytest.mark.parametrize("prior", ["identity", "array"])
def test_fewer_items_than_dimensions(prior: Any) -> None:
    """The prior lives in all D dimensions though M' lives in the span of few items."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6, 12))
    M0 = random_psd(rng, 12) if prior == "array" else prior
    triplets = random_triplets(rng, 6, 15)
    case = Case(X, triplets, prior=M0, t=0.4, loss="squared_hinge")
    result = case.solve(tol=1e-6)
    M = result.get_mahalanobis_matrix()
    assert result.converged
    assert result.objective == pytest.approx(case.best(M)[1], abs=1e-9)
    assert np.linalg.eigvalsh(M - 0.4 * case.M0)[0] >= -1e-12
    sparse = solve(sp.csr_array(X), triplets, tol=1e-6, **case.settings)
    assert sparse.objective == pytest.approx(result.objective, abs=1e-5)


def test_more_weight_never_raises_the_optimum() -> None:
    optima = [case_with("identity", t).solve(tol=1e-5) for t in (0.0, 0.25, 0.5, 0.75, 1.0)]
    for less, more in pairwise(optima):
        assert more.objective <= less.upper_bound + 1e-9


def test_dropping_the_share_from_the_gap_would_show() -> None:
    """With t = 0.9 the gap of M' alone is ten times the gap of the problem."""
    case = random_case(8, "squared_hinge", prior="identity", t=0.9)
    with pytest.warns(UserWarning, match=r"gap"):
        result = case.solve(max_iter=2, tol=1e-8)
    expected = case.relative_gap(result.get_mahalanobis_matrix(), result.rho)
    assert result.gap == pytest.approx(expected, rel=1e-6)
