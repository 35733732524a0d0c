"""Limits of time and of evaluations, by a clock that moves when work is done.

After the end of a time limit there may be one evaluation, which had begun, and one certificate. The
certificate of a point has an evaluation of its own (that of the hinge has two), and the products of
an eigenvector. Over all triplets the last listed set is certified, then the last metric over all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import SDPMetric, SDPMetricClassifier, Status, TripletSDPMetric
from tests.support.clock import Clock
from tests.support.lanes import some
from tests.support.problems import LOSSES, SOLVERS, labelled, random_triplets
from tests.support.searches import KINDS, searches

LIMITS = [0.5, 1.5, 7.5, 20.5]
X, Y = labelled(np.random.default_rng(0), 60, 6, 3)
TRIPLETS = random_triplets(np.random.default_rng(1), 60, 80)


def wide() -> Any:
    """Sparse rows whose certificates are made above the dense limit."""
    rng = np.random.default_rng(2)
    return sp.csr_array(rng.normal(size=(60, 90)) * (rng.random((60, 90)) < 0.2))


def assert_certified(metric: Any) -> None:
    """A metric of trace one between a true objective and a true bound."""
    assert np.trace(metric.get_mahalanobis_matrix()) == pytest.approx(1.0, abs=1e-9)
    assert metric.objective_ <= metric.upper_bound_
    assert metric.gap_ >= 0.0


def out_of_time(fit: Callable[[], Any]) -> Any:
    """The metric of a fit that its time limit ends, with one warning that says so."""
    with pytest.warns(ConvergenceWarning, match=r"increase time_limit") as caught:
        metric = fit()
    assert len(caught) == 1
    assert metric.status_ is Status.TIME_LIMIT
    assert_certified(metric)
    return metric


def assert_kept(clock: Clock, limit: float, certificates: int = 1, evaluations: int = 1) -> None:
    """Nothing but so many certificates was begun after the limit, each with its evaluations."""
    assert clock.after(limit, "certify") <= certificates
    assert clock.after(limit, "at") <= certificates * evaluations
    assert clock.after(limit, "toward") == 0


@pytest.mark.parametrize("limit", some(LIMITS, 2))
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("product", [0.0, 0.3])
def test_every_solver_and_loss(
    loss: str, solver: str, limit: float, product: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch, product=product)
    metric = TripletSDPMetric(loss=loss, C=5.0, solver=solver, tol=1e-12, time_limit=limit)
    out_of_time(lambda: metric.fit(X, TRIPLETS))
    assert_kept(clock, limit, evaluations=2 if loss == "hinge" else 1)
    assert metric.history_["seconds"][-1] == clock.now


@pytest.mark.parametrize("limit", some(LIMITS, 2))
@pytest.mark.parametrize("solver", SOLVERS)
def test_rounds_share_the_limit(solver: str, limit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    metric = SDPMetric(solver=solver, n_rounds=50, tol=1e-5, time_limit=limit)
    with pytest.warns(ConvergenceWarning, match=r"time limit|time_limit"):
        metric.fit(X, Y)
    assert_certified(metric)
    assert_kept(clock, limit)


@pytest.mark.parametrize("triplets", ["knn", "all"])
def test_a_limit_inside_an_early_round_names_the_tolerance_of_the_user(
    triplets: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message named 0.05, the tolerance of all rounds but the last."""
    Clock(monkeypatch)
    metric = SDPMetric(triplets=triplets, n_rounds=3, C=20.0, tol=2e-3, time_limit=0.5)
    with pytest.warns(ConvergenceWarning, match=r"above tol = 0\.002 \(time limit") as caught:
        metric.fit(X, Y)
    assert len(caught) == 1
    assert metric.gap_ > 0.05
    assert metric.status_ is Status.TIME_LIMIT


@pytest.mark.parametrize("limit", some(LIMITS, 2))
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", ["huber", "hinge"])
def test_all_triplets(
    loss: str, solver: str, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    metric = SDPMetric(
        loss=loss, solver=solver, triplets="all", C=20.0, n_rounds=1, tol=1e-12, time_limit=limit
    )
    out_of_time(lambda: metric.fit(X, Y))
    assert_kept(clock, limit, 2, evaluations=2 if loss == "hinge" else 1)


@pytest.mark.parametrize("limit", some(LIMITS, 2))
@pytest.mark.parametrize("solver", SOLVERS)
def test_wide_sparse_rows_with_expensive_certificates(
    solver: str, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Products cost as much as evaluations: from a quarter beyond the limit a loose bound does."""
    clock = Clock(monkeypatch, product=1.0)
    metric = SDPMetric(
        solver=solver,
        n_rounds=1,
        tol=1e-12,
        time_limit=limit,
        solver_options={"dense_limit": 8},
    )
    out_of_time(lambda: metric.fit(wide(), Y))
    assert_kept(clock, limit)
    # The first block, three steps of a proof and their look, and what had begun.
    assert clock.now <= 1.25 * limit + 8.0
    exact = SDPMetric(n_rounds=1).fit(wide(), Y)
    assert exact.objective_ <= metric.upper_bound_ * (1.0 + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("limit", some([0.5, 1.5, 7.5, 40.5], 2))
def test_searches(kind: str, solver: str, limit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit of a fold may be under way, and the last fit is one evaluation and its certificate."""
    clock = Clock(monkeypatch)
    search, data = searches()[KINDS.index(kind)]
    search.set_params(time_limit=limit, solver=solver, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match=r"Out of time|time limit|time_limit"):
        search.fit(*data)
    assert_kept(clock, limit, 2)
    assert search.gap_ >= 0.0
    assert_certified(search.best_estimator_)


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_that_runs_out_returns_its_best_so_far(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The choice is among the settings that were tried, and it is the best of them."""
    whole, data = searches()[KINDS.index(kind)]
    whole.fit(*data)
    clock = Clock(monkeypatch)
    search = clone(whole).set_params(time_limit=1e6).fit(*data)
    assert search.search_ended_ is None
    search.set_params(time_limit=0.6 * clock.now, tol=0.5)
    with pytest.warns(ConvergenceWarning, match=r"Out of time: chosen among \d+ of \d+ settings"):
        search.fit(*data)
    assert search.search_ended_ is Status.TIME_LIMIT
    tried = search.cv_results_["mean_test_score"]
    assert 0 < len(tried) < len(whole.cv_results_["mean_test_score"])
    assert search.best_index_ < len(tried)
    assert search.best_score_ == tried[search.best_index_]
    assert_certified(search.best_estimator_)


@pytest.mark.parametrize("limit", LIMITS)
def test_a_classifier_keeps_the_limit_of_its_metric(
    limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    model = SDPMetricClassifier(SDPMetric(time_limit=limit, tol=1e-12))
    with pytest.warns(ConvergenceWarning, match=r"increase time_limit"):
        model.fit(X, Y)
    assert_kept(clock, limit)
    assert model.score(X, Y) > 0.5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("max_iter", [1, 2, 3, 5, 9, 30])
@pytest.mark.parametrize("triplets", ["knn", "all"])
def test_max_iter_is_never_exceeded(solver: str, max_iter: int, triplets: str) -> None:
    metric = SDPMetric(
        solver=solver, max_iter=max_iter, triplets=triplets, n_rounds=3, tol=1e-12, C=20.0
    )
    assert 1 <= metric.fit(X, Y).n_iter_ <= max_iter
