"""Ctrl-C: what is certified so far becomes the fitted metric, then KeyboardInterrupt is raised."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from sdpmetric import Progress, SDPMetric, Status, TripletSDPMetric, solve
from sdpmetric.learning.estimators.base import SDPEstimator
from sdpmetric.learning.fit.rounds import EARLY_TOL
from sdpmetric.learning.fit.run import Fit
from tests.campaigns.interrupts import campaign
from tests.support.problems import LOSSES, SOLVERS, labelled, random_case
from tests.support.searches import KINDS, searches

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def pressed(after: int) -> Callable[[Progress], None]:
    """Ctrl-C once so many evaluations are made."""

    def watch(now: Progress) -> None:
        if now.n_iter >= after:
            raise KeyboardInterrupt

    return watch


def check_certified(metric: Any) -> None:
    """A metric of trace one, psd, whose numbers are those of a certified point."""
    M = metric.get_mahalanobis_matrix()
    assert np.trace(M) == pytest.approx(1.0, abs=1e-12)
    assert np.linalg.eigvalsh(M)[0] >= -1e-12
    assert metric.objective_ <= metric.upper_bound_
    assert np.isfinite(metric.gap_)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_solve_raises_or_returns(loss: str, solver: str) -> None:
    case = random_case(8, loss)
    settings = {"callback": pressed(3), "solver": solver, "tol": 1e-7}
    with pytest.raises(KeyboardInterrupt):
        case.solve(**settings)
    result = case.solve(**settings, on_interrupt="return")
    assert result.status is Status.INTERRUPTED
    best = case.solve(tol=1e-6)
    assert result.objective <= best.upper_bound + 1e-9
    assert best.objective <= result.upper_bound + 1e-9


@pytest.mark.parametrize("loss", ["hinge", "huber"])
def test_no_interrupt_is_lost_at_any_step(loss: str) -> None:
    """A stage of the hinge that Ctrl-C ended with a small gap counted as converged."""
    case = random_case(8, loss)
    steps = []
    case.solve(tol=1e-2, callback=lambda now: steps.append(now.n_iter))
    for after in range(1, len(steps) + 1):
        heard: list[int] = []

        def press(now: Progress, after: int = after, heard: list[int] = heard) -> None:
            heard.append(now.n_iter)
            if len(heard) == after:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            case.solve(tol=1e-2, callback=press)
        assert len(heard) == after


def test_solve_with_another_word() -> None:
    with pytest.raises(ValueError, match=r"on_interrupt must be one of \('raise', 'return'\)"):
        random_case(8).solve(on_interrupt="ignore")


@pytest.mark.parametrize("options", [{}, {"triplets": "all"}, {"loss": "hinge"}, {"n_rounds": 3}])
def test_a_fit_takes_what_is_certified(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = labelled(np.random.default_rng(0), 80, 5)
    monkeypatch.setattr(SDPEstimator, "_watch", staticmethod(pressed(4)), raising=False)
    metric = SDPMetric(tol=1e-8, **options)
    with pytest.raises(KeyboardInterrupt):
        metric.fit(X, y)
    assert metric.status_ is Status.INTERRUPTED
    assert not metric.converged_
    assert metric.n_triplets_ > 0
    check_certified(metric)
    monkeypatch.undo()
    again = clone(metric).set_params(warm_start=True, tol=1e-4)
    again._factor = metric._factor
    assert again.fit(X, y).converged_


def test_an_interrupt_before_anything_is_certified_leaves_no_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = labelled(np.random.default_rng(0), 80, 5)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    metric = SDPMetric().fit(X, y)
    expected = metric.components_.copy()
    monkeypatch.setattr("sdpmetric.learning.fit.labelled.mine", interrupted)
    with pytest.raises(KeyboardInterrupt):
        metric.fit(X, y)
    np.testing.assert_array_equal(metric.components_, expected)
    assert metric.status_ is Status.CONVERGED


def test_an_interrupt_between_rounds_keeps_the_last_round(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = labelled(np.random.default_rng(0), 80, 5)
    module: Any = import_module("sdpmetric.learning.fit.labelled")
    searches, mine = 0, module.mine

    def second_is_interrupted(*given: Any) -> Any:
        nonlocal searches
        searches += 1
        if searches == 2:
            raise KeyboardInterrupt
        return mine(*given)

    expected = SDPMetric(n_rounds=1, tol=EARLY_TOL).fit(X, y)
    monkeypatch.setattr(module, "mine", second_is_interrupted)
    metric = SDPMetric(n_rounds=3)
    with pytest.raises(KeyboardInterrupt):
        metric.fit(X, y)
    assert metric.status_ is Status.INTERRUPTED
    np.testing.assert_array_equal(metric.components_, expected.components_)
    assert (metric.n_iter_, metric.n_triplets_) == (expected.n_iter_, expected.n_triplets_)


def test_grid_search_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A half-made fit must not be scored as if it were one."""
    X, y = labelled(np.random.default_rng(0), 60, 4)
    fits = 0

    def watch(now: Progress) -> None:
        nonlocal fits
        fits += now.n_iter <= 1
        if fits == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(SDPEstimator, "_watch", staticmethod(watch), raising=False)
    model = make_pipeline(SDPMetric(), KNeighborsClassifier(3))
    grid = GridSearchCV(model, {"sdpmetric__C": [2.0, 5.0, 10.0]}, cv=3)
    with pytest.raises(KeyboardInterrupt):
        grid.fit(X, y)
    assert fits == 3
    assert not hasattr(grid, "best_estimator_")


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1, 2], ids=KINDS)
def test_a_search_ends_at_every_fit(which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever Ctrl-C comes, further rounds included, no further fit is made on the way.

    In a second round of the adapter's search it was swallowed once.
    """
    search, data = searches()[which]
    run, runs = Fit.run, 0

    def counted(self: Fit, *given: Any, **options: Any) -> Any:
        nonlocal runs
        runs += 1
        if runs == moment:
            prepared, start = (*given, None)[:2]
            given = (prepared, start, pressed(1))
        return run(self, *given, **options)

    moment = -1
    monkeypatch.setattr(Fit, "run", counted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clone(search).fit(*data)
    total = runs
    assert total >= 6
    for moment in range(1, total + 1):
        runs = 0
        found = clone(search)
        with pytest.raises(KeyboardInterrupt):
            found.fit(*data)
        if hasattr(found, "components_"):
            # The last fit may follow the interrupt: on the best of what was tried.
            M = found.get_mahalanobis_matrix()
            assert np.trace(M) == pytest.approx(1.0, abs=1e-12)
            ended = found.search_ended_ is Status.INTERRUPTED
            assert ended or found.best_estimator_ is not None
            assert runs <= moment + 2
        else:
            assert runs == moment


def test_triplet_estimator() -> None:
    case = random_case(8)
    metric = TripletSDPMetric(tol=1e-8)
    metric._watch = pressed(2)
    with pytest.raises(KeyboardInterrupt):
        metric.fit(case.X, case.triplets)
    check_certified(metric)
    expected = solve(case.X, case.triplets, tol=1e-8, callback=pressed(2), on_interrupt="return")
    np.testing.assert_array_equal(metric.components_, expected.components)


@pytest.mark.hard  # not where coverage is measured: an interrupt inside it leaves its lock closed
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers of Unix")
@pytest.mark.parametrize("kind", ["fit", pytest.param("rounds", marks=pytest.mark.slow)])
def test_an_interrupt_at_a_random_moment_leaves_nothing_behind(kind: str) -> None:
    """A few of the campaign `tests.campaigns.interrupts`."""
    found = campaign(6, seed=1, names=[kind])
    assert found.total() == 6
