"""The one place where the status of a fit is decided."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import SDPMetric, Status
from sdpmetric._support.deadline import Deadline
from sdpmetric.learning.fit.parameters import FitParameters
from sdpmetric.learning.fit.run import Fit
from sdpmetric.linalg.items import items_of
from sdpmetric.problem.result import Result, Solution
from sdpmetric.solvers import LowRank
from sdpmetric.solvers.continuation import Continuation
from tests.support.problems import random_case


@dataclass(frozen=True)
class Says:
    """A solver that ends as it is asked to, with a gap of 0.5 or less than 1e-4."""

    status: Status
    gap: float

    def __call__(self, objective: Any, start: Any, limits: Any, /) -> Solution:
        return replace(LowRank()(objective, start, limits), status=self.status, gap=self.gap)


def parsed(**changes: Any) -> Fit:
    given = SDPMetric().get_params() | changes
    names = FitParameters.__dataclass_fields__
    parameters = FitParameters(**{name: given[name] for name in names})
    return parameters.resolve(random_case(8).X.shape[1], Deadline())


def run(status: Status, gap: float) -> Result:
    case = random_case(8)
    fit = replace(parsed(), solver=Says(status, gap))
    return fit.run(fit.prepare(items_of(case.X), case.triplets, None))


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.INTERRUPTED])
def test_a_small_gap_is_convergence_however_the_loop_ended(status: Status) -> None:
    assert run(status, 1e-5).status is Status.CONVERGED


@pytest.mark.parametrize("gap", [1e-5, 0.5])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_interrupt_stays_one(gap: float) -> None:
    """The caller must raise it again."""
    assert run(Status.INTERRUPTED, gap).status is Status.INTERRUPTED


@pytest.mark.parametrize("gap", [0.5, float("nan"), float("inf")])
def test_a_solver_cannot_claim_convergence(gap: float) -> None:
    with pytest.warns(ConvergenceWarning, match="above tol"):
        assert run(Status.CONVERGED, gap).status is Status.STALLED


def test_parameters_are_parsed_into_what_they_stand_for() -> None:
    options = {"rank": 7, "dense_limit": 3}
    fit = parsed(loss="hinge", prior="identity", prior_weight=0.25, solver_options=options)
    assert fit.solver == Continuation(LowRank(rank=7))
    assert fit.limits.dense_limit == 3
    assert (fit.prior.weight, fit.prior.matrix) == (0.25, None)
    assert fit.bounded
    assert not parsed(loss="squared_hinge").bounded


@pytest.mark.parametrize(("used", "why"), [(3, Status.STOPPED), (10, Status.ITERATION_LIMIT)])
def test_an_early_round_that_was_the_last_has_not_converged(used: int, why: Status) -> None:
    """It stopped at a looser gap than the user asked for."""
    case = random_case(8)
    loose = parsed().loosened(0.3)
    result = loose.run(loose.prepare(items_of(case.X), case.triplets, None))
    assert (result.status, result.gap > 1e-9) == (Status.CONVERGED, True)
    with pytest.warns(ConvergenceWarning, match="above tol = 1e-09"):
        settled = parsed(tol=1e-9, max_iter=10).settled(replace(result, n_iter=used))
    assert settled.status is why
    assert not settled.converged
    assert parsed(tol=0.5).settled(result) is result
