"""The bound by Lanczos processes: against dense algebra, and against its own probability."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ortho_group

from sdpmetric.spectraplex.lanczos import Lanczos
from tests.support.problems import Floats


def process(
    A: Floats, steps: int, seed: int = 0, *, count: int = 8, failure: float = 1e-12
) -> Lanczos:
    gaussian = np.random.default_rng(seed).standard_normal((len(A), count))
    lanczos = Lanczos(lambda V: np.asarray(A @ V), gaussian, failure)
    for _ in range(steps):
        lanczos.step()
    return lanczos


def tridiagonal(lanczos: Lanczos, i: int) -> Floats:
    inner = lanczos.betas[:-1, i]
    return np.asarray(np.diag(lanczos.alphas[:, i]) + np.diag(inner, 1) + np.diag(inner, -1))


def symmetric(rng: np.random.Generator, e: Floats) -> Floats:
    Q = ortho_group.rvs(len(e), random_state=rng)
    return np.asarray((Q * e) @ Q.T)


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_overlaps_against_the_inverse(steps: int) -> None:
    lanczos = process(symmetric(np.random.default_rng(1), np.linspace(-2.0, 1.0, 40)), steps)
    for i in range(8):
        T = tridiagonal(lanczos, i)
        level = float(np.linalg.eigvalsh(T)[-1]) + 0.3
        g = np.linalg.inv(level * np.eye(steps) - T)[:, 0]
        expected = lanczos.betas[-1, i] * g[-1] + 1e-3 * g.sum()
        assert lanczos.overlaps(level, 1e-3)[i] == pytest.approx(expected, rel=1e-10)
        assert lanczos.overlaps(level - 0.31, 1e-3)[i] == np.inf


@pytest.mark.parametrize("steps", [1, 3, 10, 30])
@pytest.mark.parametrize("low", [-1e6, -3.0, 0.999])
def test_the_bound_holds_and_becomes_exact(low: float, steps: int) -> None:
    for seed in range(10):
        e = np.append(np.random.default_rng(seed).uniform(low, 1.0, size=59), 1.1)
        A = symmetric(np.random.default_rng(seed), e)
        lanczos = process(A, steps, seed)
        found = lanczos.bound(lanczos.rounding)
        expected = float(np.linalg.eigvalsh(A)[-1])
        assert found >= expected
        assert steps < 30 or found <= expected + 0.1 * (1.1 - low)


@pytest.mark.parametrize("failure", [0.5, 0.1])
def test_it_fails_as_often_as_it_says(failure: float) -> None:
    """One vector and two steps: the largest eigenvalue is hidden as often as is allowed."""
    e = np.append(np.zeros(199), 1.0)
    trials = 2000
    failures = 0
    for seed in range(trials):
        gaussian = np.random.default_rng(seed).standard_normal((200, 1))
        lanczos = Lanczos(lambda V: e[:, None] * V, gaussian, failure)
        lanczos.step()
        failures += lanczos.bound(0.0) < 1.0
    assert 0.2 * failure * trials < failures <= failure * trials + 3.0 * np.sqrt(trials)


def test_a_multiple_of_the_identity() -> None:
    for factor in (-2.0, 0.0, 3.0):
        lanczos = process(factor * np.eye(30), 4)
        assert lanczos.bound(0.0) == pytest.approx(factor, abs=1e-12)


def test_a_process_that_ends_has_seen_all() -> None:
    """Products in exact arithmetic: two eigenvalues, so that every process ends after two steps."""
    e = np.append(np.zeros(3), [-4.0])
    start = np.array([[3.0, 0.0], [0.0, 0.0], [0.0, 5.0], [4.0, 0.0]])
    lanczos = Lanczos(lambda V: e[:, None] * V, start, 1e-12)
    for _ in range(5):
        lanczos.step()
    assert np.count_nonzero(lanczos.betas[:, 1]) == 0
    assert lanczos.bound(1e-16) == pytest.approx(0.0, abs=1e-6)
    assert lanczos.bound(1e-16) >= 0.0


def test_the_rounding_of_products_is_measured() -> None:
    rng = np.random.default_rng(2)
    A, noise = symmetric(rng, np.linspace(0.0, 1.0, 100)), 1e-6 * rng.normal(size=(100, 100))
    expected = float(np.linalg.norm(noise - noise.T))
    assert 0.5 * expected < process(A + noise, 1).rounding < 2.0 * expected
    assert process(A, 1).rounding < 1e-12


def test_products_that_are_not_numbers_prove_nothing() -> None:
    A = np.eye(20)
    A[3, 4] = np.nan
    assert process(A, 3).bound(1e-12) == np.inf
