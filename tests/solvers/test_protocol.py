"""The contract of objectives and solvers, for every class that says it keeps it."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from sdpmetric import Huber, SquaredHinge, Status
from sdpmetric.linalg.items import items_of
from sdpmetric.problem.objective import EdgeObjective
from sdpmetric.problem.prior import Prior
from sdpmetric.problem.protocols import FactorPoint, Objective, Point
from sdpmetric.problem.screening import Screened
from sdpmetric.problem.units import Problem
from sdpmetric.solvers import SOLVERS, Limits, Solver
from sdpmetric.solvers.continuation import Continuation
from sdpmetric.solvers.protocol import until_interrupted
from tests.support.problems import random_case


def objective() -> EdgeObjective:
    case = random_case(8)
    prior = Prior(case.X.shape[1], 0.2)
    problem = Problem.from_triplets(
        items_of(case.X), case.triplets, loss=Huber(0.1), C=5.0, prior=prior
    )
    return problem.objective


def members(protocol: Any) -> set[str]:
    return {name for name in vars(protocol) if not name.startswith("_")}


class Recorded:
    """An objective that only does what the protocol says, and records what it is asked."""

    def __init__(self, whole: Objective, asked: set[str] | None = None) -> None:
        self.whole = whole
        self.asked: set[str] = set() if asked is None else asked

    def __getattr__(self, name: str) -> Any:
        assert name in members(Objective), f"{name} is not part of the contract"
        self.asked.add(name)
        found = getattr(self.whole, name)
        if name == "with_loss":
            return lambda loss: Recorded(found(loss), self.asked)
        if name == "screened":
            return lambda: self
        if name == "at":
            return lambda *a, **k: RecordedPoint(found(*a, **k))
        return found


class RecordedPoint:
    def __init__(self, point: Point) -> None:
        self._point = point

    def __getattr__(self, name: str) -> Any:
        allowed = members(Point) | members(FactorPoint)
        assert name in allowed, f"{name} is not part of the contract"
        found = getattr(self._point, name)
        return (lambda rho: RecordedPoint(found(rho))) if name == "with_rho" else found


@pytest.mark.parametrize("kind", [EdgeObjective, Screened])
def test_objectives_have_every_member(kind: type[Any]) -> None:
    fields = set(getattr(kind, "__dataclass_fields__", ()))
    assert members(Objective) <= {name for name, _ in inspect.getmembers(kind)} | fields


@pytest.mark.parametrize("name", [*SOLVERS, "hinge"])
def test_solvers_ask_for_nothing_beyond_the_contract(name: str) -> None:
    solver: Solver = Continuation(SOLVERS["low-rank"]()) if name == "hinge" else SOLVERS[name]()
    recorded: Any = Recorded(objective())
    limits = Limits(tol=0.1)
    found = solver(recorded, None, limits)
    expected = solver(objective(), None, limits)
    np.testing.assert_array_equal(found.factor, expected.factor)
    assert found.gap == expected.gap <= 0.1
    assert {"at", "learned_share", "n_features"} <= recorded.asked


def test_a_screened_objective_is_the_same_function() -> None:
    whole = objective()
    screened = Screened(whole)
    P = np.random.default_rng(0).normal(size=(whole.n_features, 2))
    assert (
        screened.with_loss(SquaredHinge()).at(P).value
        == whole.with_loss(SquaredHinge()).at(P).value
    )
    assert screened.screened() is screened
    np.testing.assert_array_equal(screened.scatter(P), whole.scatter(P))


def test_an_interrupt_is_a_status() -> None:
    def pressed() -> Status:
        raise KeyboardInterrupt

    assert until_interrupted(pressed) is Status.INTERRUPTED
    assert until_interrupted(lambda: Status.STALLED) is Status.STALLED


def test_no_evaluation_asks_for_the_certificate_of_the_start() -> None:
    o = objective()
    start = np.eye(o.n_features)
    for name in SOLVERS:
        found = SOLVERS[name]()(o, start, Limits(max_iter=0))
        np.testing.assert_allclose(
            found.factor @ found.factor.T, start @ start.T / o.n_features, atol=1e-12
        )
        assert found.objective <= found.upper_bound
