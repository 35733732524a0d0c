"""The objective of parts against the one in memory, on every engine: the same to 1e-10."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from sdpmetric.engines.dask_client import DaskClient
from sdpmetric.engines.engine import Engine, LostResultsError
from sdpmetric.engines.processes import Processes
from sdpmetric.engines.threads import Threads, thread_pool
from sdpmetric.problem.losses import Hinge
from sdpmetric.solvers import FrankWolfe, Limits, LowRank
from sdpmetric.solvers.continuation import Continuation
from tests.support.lanes import some
from tests.support.parts import objective_of, parted
from tests.support.problems import LOSSES, SMOOTH, Case, Floats, random_case

# Cases of `random_case` by seed: weights in all, a prior in 2 (the identity) and 3 (a matrix).
CASES = [(loss, seed) for loss in SMOOTH for seed in (0, 2, 3)]


@pytest.fixture(scope="module")
def threads() -> Iterator[Engine]:
    with thread_pool(2):
        yield Threads()


@pytest.fixture(scope="module")
def processes() -> Iterator[Engine]:
    with Processes(2) as engine:
        yield engine


@pytest.fixture(scope="module")
def cluster(client: Any) -> Engine:
    return DaskClient(client)


def factor(case: Case, columns: int = 3, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=(case.X.shape[1], columns))


def close(found: Any, expected: Any) -> bool:
    size = float(np.max(np.abs(expected)))
    return bool(np.max(np.abs(np.subtract(found, expected))) <= 1e-10 * max(size, 1e-3))


@pytest.mark.parametrize("engine", ["threads", "processes", "cluster"])
@pytest.mark.parametrize(("loss", "seed"), some(CASES, 9))
@pytest.mark.slow
def test_a_point_is_the_same_in_parts(
    engine: str, loss: str, seed: int, request: pytest.FixtureRequest
) -> None:
    case = random_case(seed, loss)
    whole = objective_of(case)
    divided = parted(case, request.getfixturevalue(engine), 3)
    P, V = factor(case), factor(case, 2, seed=1)
    point, expected = divided.at(P, rho=0.3), whole.at(P, rho=0.3)
    for name in ("value", "rho", "inner_GM", "inner_GM0", "far_weight", "curvature"):
        assert close(getattr(point, name), getattr(expected, name)), name
    assert 0.0 <= point.slack <= 1e-10
    assert close(point.gradient(), expected.gradient())
    assert close(point.times(V), expected.times(V))
    # Edges that two parts share count twice.
    assert 0.999 * expected.rounding <= point.rounding <= 3.0 * expected.rounding
    line, expected_line = point.toward(V), expected.toward(V)
    assert close(line(0.3), expected_line(0.3))
    assert close(line.point(0.3).value, expected_line.point(0.3).value)
    fixed, expected_fixed = point.with_rho(0.1), expected.with_rho(0.1)
    assert fixed.rho == 0.1
    assert close(fixed.value, expected_fixed.value)
    assert close(fixed.with_rho(None).value, expected.value)


@pytest.mark.parametrize("engine", ["threads", pytest.param("cluster", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("loss", "kind"), [*((loss, "dense") for loss in LOSSES), ("huber", "csr")]
)
def test_the_certificate_of_a_point_is_the_same_in_parts(
    engine: str, loss: str, kind: str, request: pytest.FixtureRequest
) -> None:
    case = random_case(2, "huber" if loss == "hinge" else loss)
    X = sp.csr_array(case.X) if kind == "csr" else None
    divided: Any = parted(case, request.getfixturevalue(engine), 2, X)
    whole: Any = objective_of(case, X)
    solver: Any = LowRank()
    if loss == "hinge":
        solver = Continuation(solver)
        divided, whole = divided.with_loss(Hinge()), whole.with_loss(Hinge())
    P = factor(case)
    # The gradient at a given rho: the best rho of the hinge is a margin, where the slope jumps.
    point, expected = replace(divided, fixed_rho=0.1).at(P), whole.at(P).with_rho(0.1)
    assert close(point.value, expected.value)
    assert close(point.gradient(), expected.times(P))
    # Value and bound at the best rho: no step is made, so this is the certificate of P itself.
    found, proven = (solver(o, P, Limits(max_iter=0)) for o in (divided, whole))
    assert np.isfinite(proven.upper_bound)
    for name in ("objective", "upper_bound", "gap"):
        assert getattr(found, name) == pytest.approx(getattr(proven, name), rel=1e-10), name


@pytest.mark.parametrize("guess", [0.0, 1e-9, 0.3, 50.0])
@pytest.mark.parametrize("loss", SMOOTH)
def test_rho_is_found_from_any_guess(threads: Engine, loss: str, guess: float) -> None:
    for seed in range(4):
        case = random_case(seed, loss)
        P = factor(case)
        expected = objective_of(case).at(P)
        divided = parted(case, threads, 2)
        divided.cache["moved"] = 1e-12  # a window that misses rho, unless the guess is right
        point = divided.at(P, rho=guess)
        assert close(point.rho, expected.rho)
        assert close(point.value, expected.value)


def test_the_best_rho_is_zero_in_parts_too(threads: Engine) -> None:
    case = random_case(1, "squared_hinge").but(C=1e4)
    case = case.but(triplets=case.triplets[:, [0, 2, 1]])
    P = factor(case)
    expected = objective_of(case).at(P)
    assert expected.rho == 0.0
    assert parted(case, threads, 3).at(P, rho=0.5).rho == 0.0


@pytest.mark.parametrize("kind", ["csr", "float32"])
def test_rows_of_every_kind(threads: Engine, kind: str) -> None:
    case = random_case(2, "huber")
    X: Any = sp.csr_array(case.X) if kind == "csr" else case.X.astype(np.float32)
    P = factor(case)
    divided, whole = parted(case, threads, 2, X), objective_of(case, X)
    point, expected = divided.at(P, exact=True), whole.at(P, exact=True)
    assert divided.needs_exact == (kind == "float32")
    assert divided.eps == whole.eps
    assert close(point.value, expected.value)
    assert close(point.gradient(), expected.gradient())


@pytest.mark.parametrize("solver", [LowRank(), FrankWolfe()])
def test_solvers_reach_the_same_optimum(threads: Engine, solver: Any) -> None:
    case = random_case(3, "huber")
    limits = Limits(tol=1e-3 if solver == LowRank() else 0.1, max_iter=300)
    one = solver(parted(case, threads, 3), None, limits)
    other = solver(objective_of(case), None, limits)
    assert max(one.gap, other.gap) <= limits.tol
    assert max(one.objective, other.objective) <= min(one.upper_bound, other.upper_bound)


def test_the_hinge_is_certified_in_parts(threads: Engine) -> None:
    case = random_case(2, "huber")
    solver = Continuation(LowRank())
    limits = Limits(tol=1e-2)
    one = solver(parted(case, threads, 2).with_loss(Hinge()), None, limits)
    other = solver(objective_of(case).replace(loss=Hinge()), None, limits)
    assert max(one.gap, other.gap) <= 1e-2
    assert max(one.objective, other.objective) <= min(one.upper_bound, other.upper_bound)


def test_the_span_of_the_differences_is_that_of_all_parts(threads: Engine) -> None:
    """Each part alone spans less: a bound within its span would be none."""
    case = random_case(0, "huber")
    divided, whole = parted(case, threads, 6), objective_of(case)
    (R,) = divided.scatter_roots()
    expected = list(whole.scatter_roots())[-1]
    # Shared edges count twice, so only the spans are equal.
    assert np.linalg.matrix_rank(R) == np.linalg.matrix_rank(np.vstack([R, expected]))
    V = np.eye(case.X.shape[1])
    S, expected_S = divided.scatter(V), whole.scatter(V)
    assert np.linalg.matrix_rank(S) == np.linalg.matrix_rank(expected_S)


class Forgetful(Threads):
    """Loses all results at one call of `collect`, like a client that loses its connection."""

    def __init__(self, at: int) -> None:
        self.at, self.epoch = at, 0

    def collect(self, results: Any) -> list[Any]:
        self.at -= 1
        if self.at == 0:
            self.epoch += 1
            raise LostResultsError
        return super().collect(results)


@pytest.mark.parametrize("at", range(1, 5))
def test_results_that_are_lost_are_computed_again(at: int) -> None:
    case = random_case(2, "huber")
    P, V = factor(case), factor(case, 2, seed=1)
    expected = objective_of(case).at(P)
    divided = parted(case, Forgetful(at), 3)
    point = divided.at(P)
    line = point.toward(V)
    assert close(point.value, expected.value)
    assert close(point.times(V), expected.times(V))
    assert close(line(0.5), expected.toward(V)(0.5))
    assert close(divided.scatter(V).shape, V.shape)
    assert divided.engine.epoch == 1


def test_a_changed_loss_keeps_what_depends_on_rows_alone(threads: Engine) -> None:
    divided = parted(random_case(0, "huber"), threads, 2)
    divided.cache["sketch"] = 1
    assert divided.with_loss(Hinge()).cache == {"sketch": 1}
    assert replace(divided, fixed_rho=0.5).at(factor(random_case(0, "huber"))).rho == 0.5
