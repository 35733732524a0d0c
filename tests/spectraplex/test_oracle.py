"""The spectraplex: projection, random points, the span, and the check that needs no gap."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy.linalg import orth

from sdpmetric.spectraplex.oracle import _top
from sdpmetric.spectraplex.points import project, random_point
from sdpmetric.spectraplex.span import span_basis
from tests.support.lanes import some
from tests.support.problems import SMOOTH, Floats, random_case, random_psd


def test_projection_against_cvxpy() -> None:
    rng = np.random.default_rng(0)
    for D in (1, 2, 5):
        A = rng.normal(size=(D, D))
        A = A + A.T
        N = cp.Variable((D, D), PSD=True)
        cp.Problem(cp.Minimize(cp.sum_squares(N - A)), [cp.trace(N) == 1]).solve(cp.CLARABEL)
        expected = N.value
        np.testing.assert_allclose(project(A), expected, atol=1e-6)


def test_projection_is_idempotent_and_feasible() -> None:
    rng = np.random.default_rng(1)
    for D in (1, 3, 8):
        M = project(rng.normal() * random_psd(rng, D) - np.eye(D))
        assert np.trace(M) == pytest.approx(1.0, abs=1e-12)
        assert np.linalg.eigvalsh(M)[0] >= -1e-12
        np.testing.assert_allclose(project(M), M, atol=1e-12)


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_random_points_have_their_rank(rank: int) -> None:
    M = random_point(6, rank, np.random.default_rng(2))
    values = np.linalg.eigvalsh(M)
    assert values.sum() == pytest.approx(1.0, abs=1e-12)
    assert values[0] >= -1e-12
    assert np.sum(values > 1e-9) == rank


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("seed", some(range(10), 2))
def test_optimum_is_a_fixed_point_of_projected_gradient(seed: int, loss: str) -> None:
    """With Q = project(M' + s G), ``||Q - M'||^2 <= s <G, Q - M'>``: at most s times the gap.

    All of it inside the span of the compared differences, where M' lives.
    """
    case = random_case(seed, loss)
    result = case.solve(tol=1e-6)
    M = result.get_mahalanobis_matrix()
    learned = (M - case.t * case.M0) / (1 - case.t)
    rho, _ = case.best(M)
    span = orth(np.vstack([case.near, case.far]).T)
    inside, G = (span.T @ A @ span for A in (learned, case.gradient(M, rho)))
    assert np.trace(inside) == pytest.approx(1.0, abs=1e-9)
    step = 1.0 / float(case.slopes(M, rho) @ case.form(case.far, M))
    moved = np.linalg.norm(project(inside + step * G) - inside)
    assert moved <= 1.1e-3


@pytest.mark.parametrize("loss", SMOOTH)
def test_projected_gradient_moves_elsewhere(loss: str) -> None:
    """The check above would notice a metric that is not optimal."""
    rng = np.random.default_rng(3)
    moved = []
    for seed in range(10):
        case = random_case(seed, loss, prior=None, t=0.0)
        D = case.X.shape[1]
        if D == 1:
            continue
        M = random_point(D, D, rng)
        G = case.gradient(M, case.best(M)[0])
        moved.append(np.linalg.norm(project(M + G / np.linalg.norm(G)) - M))
    assert min(moved) > 0.05


def test_span_of_full_rank_is_everything() -> None:
    rng = np.random.default_rng(4)
    R = rng.normal(size=(5, 5))
    assert span_basis(R, 5) is None
    R[:, 4] = R[:, 3] + 1e-9 * rng.normal(size=5)  # all but a copy is no copy
    assert span_basis(R, 5) is None
    R[:, 4] = R[:, 3]
    assert span_basis(R, 5) is not None


@pytest.mark.parametrize("units", [np.ones(5), 10.0 ** np.array([-3, 3, 0, 2, -2])])
def test_span_does_not_depend_on_units(units: np.ndarray) -> None:
    rng = np.random.default_rng(5)
    A = rng.normal(size=(5, 3))
    A[4] = 0.0  # a constant column
    A *= units[:, None]
    basis = span_basis(A.T, 3)
    assert basis is not None
    assert basis.shape == (5, 3)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-12)
    inside = basis @ (basis.T @ A)
    np.testing.assert_allclose(inside / units[:, None], A / units[:, None], atol=1e-6)


def test_span_without_constant_columns_keeps_the_axes() -> None:
    R = np.zeros((4, 4))
    R[:, [0, 2]] = np.random.default_rng(6).normal(size=(4, 2))
    basis = span_basis(R, 4)
    assert basis is not None
    np.testing.assert_array_equal(basis, np.eye(4)[:, [0, 2]])


@pytest.mark.parametrize(("n", "k"), [(5, 8), (16, 1), (40, 3), (40, 12)])
def test_leading_pairs_of_a_part_or_of_the_whole_spectrum(n: int, k: int) -> None:
    A = np.random.default_rng(n).normal(size=(n, n))
    A = A + A.T
    found, expected = _top(A, k, 0.0), np.linalg.eigvalsh(A)[::-1][:k]
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)
    np.testing.assert_allclose(A @ found.vectors, found.vectors * found.values, atol=1e-11)
    assert expected[0] <= found.bound <= expected[0] + 1e-11


@pytest.mark.parametrize("fails", [False, True])
def test_pairs_that_lapack_leaves_out_are_found(
    fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The solver for a part of the spectrum may come back without a cluster of it, or fail."""

    def short(A: Floats, **_: object) -> tuple[Floats, Floats]:
        if fails:
            raise np.linalg.LinAlgError("Internal Error.")
        return np.zeros(0), np.zeros((len(A), 0))

    monkeypatch.setattr("sdpmetric.spectraplex.formed.eigh", short)
    found = _top(np.diag(np.arange(40.0)), 2, 0.0)
    assert found.values.tolist() == [39.0, 38.0]
