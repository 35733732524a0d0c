"""Every Status is reached, told truly, and never silent."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import Progress, Result, SDPMetric, Status, TripletSDPMetric
from tests.support.lanes import some
from tests.support.problems import LOSSES, SMOOTH, SOLVERS, Case, Floats, Ints, random_case


def interrupt(now: Progress) -> None:
    if now.n_iter >= 3:
        raise KeyboardInterrupt


def after(n: int) -> Callable[[Progress], bool]:
    return lambda now: now.n_iter >= n


ENDS: list[tuple[Status, dict[str, Any]]] = [
    (Status.ITERATION_LIMIT, {"max_iter": 3}),
    (Status.TIME_LIMIT, {"time_limit": 1e-9}),
    (Status.STOPPED, {"callback": after(3)}),
    (Status.STOPPED, {"callback": after(0)}),
    (Status.INTERRUPTED, {"callback": interrupt, "on_interrupt": "return"}),
]


def warned(case: Case, **settings: Any) -> tuple[Result, str]:
    """The result and the text of its one ConvergenceWarning."""
    with pytest.warns(ConvergenceWarning, match=r"gap") as caught:
        result = case.solve(**settings)
    assert len(caught) == 1
    assert caught[0].filename.endswith("problems.py")  # where solve was called
    return result, str(caught[0].message)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", some(LOSSES, 2))
@pytest.mark.parametrize(("expected", "settings"), ENDS)
def test_ends_short_of_tol(
    expected: Status, settings: dict[str, Any], loss: str, solver: str
) -> None:
    case = random_case(8, loss)
    result, message = warned(case, solver=solver, tol=1e-7, **settings)
    assert result.status is expected
    assert not result.converged
    assert f"{result.gap:.2g}" in message
    assert "tol = 1e-07" in message
    assert str(expected) in message
    # What is returned is a metric with a true certificate, however early the end.
    M = result.get_mahalanobis_matrix()
    assert np.trace(M) == pytest.approx(1.0, abs=1e-12)
    best = case.solve(tol=1e-6)
    assert result.objective <= best.upper_bound + 1e-9
    assert best.objective <= result.upper_bound + 1e-9
    assert result.objective == pytest.approx(case.best(M)[1], abs=1e-8)
    if loss in SMOOTH:
        assert result.gap >= case.relative_gap(M, result.rho) - 1e-9


def test_low_rank_stalls_below_rounding() -> None:
    result, message = warned(random_case(8), tol=1e-17)
    assert result.status is Status.STALLED
    assert "increase tol" in message


def test_frank_wolfe_stalls_by_the_rule_of_the_paper() -> None:
    case = random_case(8)
    result, _ = warned(case, solver="frank-wolfe", solver_options={"epsilon": 1e9})
    assert result.status is Status.STALLED


@pytest.mark.slow
def test_hinge_stalls_below_rounding() -> None:
    result, _ = warned(random_case(8, "hinge"), tol=1e-16, max_iter=100_000)
    assert result.status is Status.STALLED


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_converged_is_silent(loss: str, solver: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = random_case(8, loss).solve(solver=solver, tol=0.05)
    assert result.status is Status.CONVERGED
    assert result.converged
    assert result.gap <= 0.05


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_status_and_gap_agree_at_every_limit(loss: str, solver: str) -> None:
    """Converged if and only if the certified gap is below tol, wherever the limit falls."""
    case = random_case(8, loss)
    ended = set()
    for max_iter in (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 30, 40, 60, 100):
        result = case.solve(solver=solver, tol=0.05, max_iter=max_iter)
        assert result.converged == (result.gap <= 0.05)
        ended.add(result.status)
    assert ended <= {Status.CONVERGED, Status.ITERATION_LIMIT}


def test_estimators_warn_where_they_are_called(blobs: tuple[Floats, Ints]) -> None:
    X, y = blobs
    case = random_case(8)
    fits: list[Callable[[], Any]] = [
        lambda: SDPMetric(max_iter=2).fit(X, y),
        lambda: TripletSDPMetric(max_iter=2).fit(case.X, case.triplets),
    ]
    for fit in fits:
        with pytest.warns(ConvergenceWarning, match=r"increase max_iter") as caught:
            metric = fit()
        assert metric.status_ is Status.ITERATION_LIMIT
        assert not metric.converged_
        assert [w.filename for w in caught] == [__file__]


def test_words() -> None:
    assert sorted(Status) == sorted(
        [
            "converged",
            "iteration limit",
            "time limit",
            "stopped by callback",
            "interrupted",
            "out of memory",
            "stalled",
        ]
    )


def test_result_is_frozen() -> None:
    result = random_case(8).solve()
    with pytest.raises(AttributeError):
        result.gap = 0.0  # type: ignore[misc]
