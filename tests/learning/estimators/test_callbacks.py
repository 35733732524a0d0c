"""scikit-learn's callbacks are told of every step, and can stop a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sdpmetric import (
    SDPMetric,
    SDPMetricClassifier,
    Status,
    TripletSDPMetric,
    knn_triplets,
    retrieval_scorer,
    solve,
)
from tests.support.lanes import some
from tests.support.problems import PAPER
from tests.support.recorder import Recorder

pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")

from sklearn.callback import ProgressBar, ScoringMonitor


class Steps(Recorder):
    """Keeps the metrics too; asks to stop after some steps."""

    def __init__(self, stop_after: int | None = None) -> None:
        super().__init__(stop_after)
        self.metrics: list[Any] = []

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any) -> bool:
        self.calls.append(("end", context.task_name))
        self.metrics.append(fitted_estimator)
        return len(self.metrics) == self.stop_after

    @property
    def n_steps(self) -> int:
        return self.calls.count(("end", "step"))


def best_objective(X: Any, T: Any, M: Any, scale: float, C: float, h: float) -> float:
    """F(M) for Huber's loss and the best rho, from the formula."""
    near, far = X[T[:, 0]] - X[T[:, 1]], X[T[:, 0]] - X[T[:, 2]]
    squares = [np.einsum("ij,jk,ik->i", V, M, V) for V in (far, near)]
    z = scale * (squares[0] - squares[1])

    def minus(rho: float) -> float:
        short = np.maximum(rho + h - z, 0.0)
        loss = np.where(short <= 2.0 * h, short**2 / (4.0 * h), short - h)
        return float(C * loss.mean() - rho)

    options = {"xatol": 1e-10}
    found = minimize_scalar(minus, bounds=(0.0, z.max()), method="bounded", options=options)
    return -float(found.fun)


@pytest.mark.parametrize("settings", some([{}, {"loss": "hinge"}, {"solver": "frank-wolfe"}], 2))
def test_a_task_for_every_step(settings: dict[str, Any], triplets: tuple[Any, Any]) -> None:
    settings = {"tol": 1e-2, **settings}
    told: list[int] = []
    solve(*triplets, **settings, callback=lambda now: told.append(now.n_iter))
    recorder = Steps()
    TripletSDPMetric(**settings, coordinates="raw").set_callbacks(recorder).fit(*triplets)
    steps = [("begin", "step"), ("end", "step")] * len(told)
    whole = [("setup", "fit"), ("begin", "fit"), *steps, ("end", "fit"), ("teardown", "fit")]
    assert recorder.calls == whole
    assert len(told) > 3


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The relative gap")  # Frank and Wolfe are slow
@pytest.mark.parametrize("prior_weight", [0.0, 0.3])
@pytest.mark.parametrize("solver", ["low-rank", "frank-wolfe"])
@pytest.mark.parametrize("n", [60, 12])  # more and fewer rows than columns
def test_metric_of_each_step(n: int, solver: str, prior_weight: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 20))
    X[:, 3] = 5.0  # a column that the solver never sees
    y = np.arange(n) % 2
    recorder = Steps()
    settings = PAPER | {"C": 10.0, "prior_weight": prior_weight, "solver": solver}
    metric = SDPMetric(**settings, tol=0.05, max_iter=100)
    metric.set_callbacks(recorder).fit(X, y)
    T = knn_triplets(X, y)
    values = []
    for step in recorder.metrics[:-2]:
        M = step.get_mahalanobis_matrix()
        assert np.trace(M) == pytest.approx(1.0)
        expected = best_objective(X, T, M, metric.scale_, 10.0, 0.05)
        # Frank-Wolfe's rounds keep rho: what it tells is then no more than the best.
        slack = 1e-6 if solver == "low-rank" else np.inf
        assert expected - slack <= step.objective_ <= expected + 1e-6
        values.append(expected)
    assert values[-1] > values[0]
    for last in recorder.metrics[-2:]:
        np.testing.assert_array_equal(last.components_, metric.components_)
        assert last.gap_ == metric.gap_


def test_fits_that_choose_a_rule_are_not_followed(wine: tuple[Any, Any]) -> None:
    """Callbacks of the metric were told of the three fits to folds, and could stop them."""
    recorder = Steps()
    metric = SDPMetric(tol=1e-2, **PAPER).set_callbacks(recorder)
    SDPMetricClassifier(metric, rule="auto").fit(*wine)
    assert recorder.calls.count(("begin", "fit")) == 1


def test_early_stop(triplets: tuple[Any, Any]) -> None:
    recorder = Steps(stop_after=3)
    metric = TripletSDPMetric(tol=1e-8).set_callbacks(recorder)
    with pytest.warns(ConvergenceWarning, match="the callback asked to stop"):
        metric.fit(*triplets)
    assert metric.status_ is Status.STOPPED
    assert recorder.n_steps == 3
    assert recorder.calls[-2:] == [("end", "fit"), ("teardown", "fit")]
    assert metric.objective_ <= TripletSDPMetric().fit(*triplets).upper_bound_


@pytest.mark.parametrize("triplets", ["knn", "all"])
def test_a_stop_ends_all_rounds(triplets: str, wine: tuple[Any, Any]) -> None:
    def n_steps(n_rounds: int, stop_after: int | None = None) -> int:
        recorder = Steps(stop_after)
        metric = SDPMetric(n_rounds=n_rounds, triplets=triplets, tol=0.1)
        metric.set_callbacks(recorder).fit(*wine)
        assert metric.converged_  # perhaps because it was stopped when it was good enough
        return recorder.n_steps

    one, two = n_steps(1), n_steps(2)
    assert two > one + 1
    assert n_steps(2, stop_after=one - 1) == one - 1


def test_nothing_is_spent_without_callbacks(triplets: tuple[Any, Any]) -> None:
    recorder = Steps()
    metric = TripletSDPMetric().set_callbacks(recorder).fit(*triplets)
    told = len(recorder.calls)
    expected = TripletSDPMetric().fit(*triplets).components_
    np.testing.assert_array_equal(metric.components_, expected)  # they only look on
    np.testing.assert_array_equal(metric.set_callbacks().fit(*triplets).components_, expected)
    assert len(recorder.calls) == told
    assert not {name for name in vars(metric) if "callback" in name}


def test_cleans_up_after_an_error(triplets: tuple[Any, Any]) -> None:
    recorder = Steps()
    with pytest.raises(ValueError, match="C must be"):
        TripletSDPMetric(C=-1.0).set_callbacks(recorder).fit(*triplets)
    assert recorder.calls[-1] == ("teardown", "fit")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The estimator KNeighborsClassifier does not support callbacks")
def test_progress_bar_in_a_grid_search(
    blobs: tuple[Any, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rich")
    model = make_pipeline(StandardScaler(), SDPMetric(tol=1e-2), KNeighborsClassifier(3))
    search = GridSearchCV(model, {"sdpmetric__C": [2.0, 20.0]}, cv=2, error_score="raise")
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(*blobs)
    printed = capsys.readouterr().out
    assert printed.count("SDPMetric - fit") == 2 * 2 + 1  # every fit, and the refit
    assert search.best_estimator_[1].converged_


def test_scoring_monitor(triplets: tuple[Any, Any]) -> None:
    X, T = triplets
    weights = np.linspace(0.5, 1.0, len(T))

    def right(metric: Any, X: Any, T: Any, sample_weight: Any) -> dict[str, float]:
        return {"right": metric.score(X, T, sample_weight)}

    monitor, recorder = ScoringMonitor(scoring=right), Steps()
    metric = TripletSDPMetric().set_callbacks(monitor, recorder).fit(X, T, weights)
    rows = [row for row in monitor.get_logs().data if row["task_name"] == "step"]
    expected = [step.score(X, T, weights) for step in recorder.metrics[:-1]]
    assert [row["right"] for row in rows] == expected
    assert expected[-1] == metric.score(X, T, weights) > expected[0]


def test_scoring_monitor_of_labels(wine: tuple[Any, Any]) -> None:
    score = retrieval_scorer("map")
    monitor = ScoringMonitor(scoring={"map": score})
    metric = SDPMetric(tol=1e-2).set_callbacks(monitor).fit(*wine)
    scores = [row["map"] for row in monitor.get_logs().data if row["task_name"] == "step"]
    assert scores[-1] == score(metric, *wine)
    assert scores[-1] > scores[0]
