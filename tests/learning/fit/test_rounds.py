"""Rounds: how many are run, what ends them, and what is counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdpmetric import Result, Status, solve
from sdpmetric.learning.fit.rounds import run_rounds
from sdpmetric.solvers import Limits
from tests.support.problems import random_case


@pytest.fixture(scope="module")
def one() -> Result:
    case = random_case(8)
    return replace(solve(case.X, case.triplets), n_iter=5)


def test_each_round_is_given_the_last_result(one: Result) -> None:
    given: list[int | None] = []

    def fit_round(last: Result | None) -> Result:
        given.append(None if last is None else last.n_iter)
        return replace(one, rho=float(len(given)))

    result = run_rounds(3, fit_round)
    assert given == [None, 5, 10]  # evaluations of all rounds so far
    assert (result.rho, result.n_iter) == (3.0, 15)


def test_rounds_that_share_limits_end_with_one_that_did_not_converge(one: Result) -> None:
    calls = []

    def fit_round(last: Result | None) -> Result:
        calls.append(last)
        return replace(one, status=Status.TIME_LIMIT)

    result = run_rounds(5, fit_round, Limits())
    assert len(calls) == 1
    assert result.status is Status.TIME_LIMIT


@pytest.mark.parametrize("by", ["status", "exception"])
def test_an_interrupt_ends_the_rounds(one: Result, by: str) -> None:
    calls = 0

    def fit_round(last: Result | None) -> Result:
        nonlocal calls
        calls += 1
        if calls == 2 and by == "exception":  # while comparisons are searched
            raise KeyboardInterrupt
        return replace(one, status=Status.INTERRUPTED if calls == 2 else Status.CONVERGED)

    result = run_rounds(5, fit_round)
    assert calls == 2
    assert result.status is Status.INTERRUPTED
    np.testing.assert_array_equal(result.components, one.components)


def test_an_interrupt_before_any_metric_is_raised() -> None:
    def fit_round(last: Result | None) -> Result:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_rounds(2, fit_round)
