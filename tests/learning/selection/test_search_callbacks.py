"""scikit-learn's callbacks are told of every setting that a search tries, and can end it; so can
Ctrl-C."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import sdpmetric
from sdpmetric import EmbeddingAdapter, SDPMetricCV, Status, TripletSDPMetricCV
from sdpmetric.problem.losses import Huber
from tests.support.recorder import Recorder

pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")

from sklearn.callback import ProgressBar, ScoringMonitor

LANES = 3 + 1 + 1 + 1 + 2  # coordinates, then what is left of each other grid
SMALL: dict[str, Any] = {"Cs": [2.0, 8.0], "cv": 2}


class Settings(Recorder):
    """Asks to stop after some settings."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.calls.append(("end", context.task_name))
        return self.n_tried == self.stop_after

    @property
    def n_tried(self) -> int:
        return self.calls.count(("end", "setting"))


@pytest.fixture
def labels(blobs: tuple[Any, Any]) -> tuple[Any, Any]:
    return blobs


@pytest.fixture(params=["labels", "triplets"])
def case(request: pytest.FixtureRequest) -> tuple[Any, tuple[Any, Any], int]:
    """A search, its data, and how many settings it tries."""
    data = request.getfixturevalue(request.param)
    if request.param == "labels":
        return SDPMetricCV(**SMALL), data, LANES
    return TripletSDPMetricCV(**SMALL), data, 3 + 2


def told(n: int) -> list[tuple[str, str]]:
    """All that a callback hears of a search that tried n settings."""
    return [
        *[("setup", "fit"), ("begin", "fit"), ("begin", "search")],
        *[("begin", "setting"), ("end", "setting")] * n,
        *[("end", "search"), ("begin", "last fit"), ("end", "last fit")],
        *[("end", "fit"), ("teardown", "fit")],
    ]


@pytest.mark.slow
def test_a_task_for_every_setting(case: tuple[Any, Any, int]) -> None:
    search, data, n = case
    recorder = Settings()
    expected = clone(search).fit(*data)
    search.set_callbacks(recorder).fit(*data)
    assert recorder.calls == told(n)
    assert search.search_ended_ is None
    assert search.best_params_ == expected.best_params_  # they only look on
    np.testing.assert_array_equal(search.components_, expected.components_)
    assert not {name for name in vars(expected) if "callback" in name}


@pytest.mark.slow
def test_early_stop(case: tuple[Any, Any, int]) -> None:
    search, data, n = case
    whole = clone(search).fit(*data)
    recorder = Settings(stop_after=2)
    with pytest.warns(ConvergenceWarning, match=f"callback: chosen among 2 of {n} settings"):
        search.set_callbacks(recorder).fit(*data)
    assert recorder.calls == told(2)
    assert search.search_ended_ is Status.STOPPED
    # Two of the coordinates: two values of C in each, and the prior alone.
    size = 2 * (2 + 1)
    for name, column in search.cv_results_.items():
        if name not in ("seconds", "rank_test_score"):
            assert column.tolist() == whole.cv_results_[name][:size].tolist()
    assert search.best_score_ <= whole.cv_results_["mean_test_score"][:size].max()
    assert search.converged_


@pytest.mark.slow
def test_a_stop_at_the_end_is_none(case: tuple[Any, Any, int]) -> None:
    search, data, n = case
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.set_callbacks(Settings(stop_after=n)).fit(*data)
    assert search.search_ended_ is None


def test_cleans_up_after_an_error(triplets: tuple[Any, Any]) -> None:
    recorder = Settings()
    with pytest.raises(ValueError, match="doubt must be"):
        TripletSDPMetricCV(doubt=-1.0).set_callbacks(recorder).fit(*triplets)
    assert recorder.calls[-1] == ("teardown", "fit")


def test_progress_bar(triplets: tuple[Any, Any], capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    search = TripletSDPMetricCV(**SMALL).set_callbacks(ProgressBar(max_propagation_depth=None))
    search.fit(*triplets)
    printed = capsys.readouterr().out
    assert printed.count("TripletSDPMetricCV - search") == 1
    assert printed.count("TripletSDPMetric - fit") == 1  # the last fit, as a task of its own
    assert not hasattr(search.best_estimator_, "_skl_callbacks")


@pytest.mark.slow
def test_scores_of_the_last_fit(triplets: tuple[Any, Any]) -> None:
    """A monitor that goes on to the last fit scores each step of it, and the search at its end."""

    def right(metric: Any, X: Any, T: Any) -> dict[str, float]:
        return {"right": metric.triplet_accuracy(X, T)}

    monitor = ScoringMonitor(scoring=right)
    search = TripletSDPMetricCV(**SMALL).set_callbacks(monitor).fit(*triplets)
    rows = [row for row in monitor.get_logs().data if "right" in row]
    assert rows[-1]["right"] == search.score(*triplets)


def interrupting(after: int) -> Huber:
    """A loss of which the k-th slope is interrupted: Ctrl-C in the middle of a fit."""

    class Interrupting(Huber):
        count = 0

        def slope(self, t: Any) -> Any:
            Interrupting.count += 1
            if Interrupting.count == after:
                raise KeyboardInterrupt
            return super().slope(t)

    return Interrupting(0.02)


def count_slopes(search: Any, data: Any, settings: int) -> int:
    """How many slopes a search needs for so many settings."""
    loss: Any = interrupting(-1)
    recorder = Settings(stop_after=settings)
    kept: list[int] = []
    recorder.on_fit_task_end = _noting(recorder, kept, loss)  # type: ignore[method-assign]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clone(search).set_params(loss=loss).set_callbacks(recorder).fit(*data)
    return kept[settings - 1]


def _noting(recorder: Settings, kept: list[int], loss: Any) -> Any:
    def end(estimator: Any, context: Any) -> bool:
        kept.append(type(loss).count)
        return Settings.on_fit_task_end(recorder, estimator, context)

    return end


def test_interrupt_before_any_setting(case: tuple[Any, Any, int]) -> None:
    search, data, _ = case
    recorder = Settings()
    with pytest.raises(KeyboardInterrupt):
        search.set_params(loss=interrupting(2)).set_callbacks(recorder).fit(*data)
    assert recorder.n_tried == 0
    assert recorder.calls[-1] == ("teardown", "fit")
    assert not hasattr(search, "components_")


@pytest.mark.slow
def test_interrupt_within_a_later_setting(case: tuple[Any, Any, int]) -> None:
    search, data, n = case
    first = count_slopes(search, data, 2)
    # At every moment of a fit, those included at which the gap is small enough already.
    for moment in range(first + 1, first + 8):
        recorder = Settings()
        found = clone(search).set_params(loss=interrupting(moment)).set_callbacks(recorder)
        message = f"Interrupted: chosen among 2 of {n} settings"
        with pytest.warns(ConvergenceWarning, match=message), pytest.raises(KeyboardInterrupt):
            found.fit(*data)  # raised again once the best of the two is fitted
        assert found.search_ended_ is Status.INTERRUPTED
        assert recorder.calls == told(3)  # the third was begun, and ended by force
        assert len(found.cv_results_["param_C"]) in (2 * 3, 2 * 3 + 1)  # perhaps one prior more
        assert found.converged_


def test_interrupted_search_is_saved(triplets: tuple[Any, Any], tmp_path: Any) -> None:
    search = TripletSDPMetricCV(**SMALL).set_callbacks(Settings(stop_after=1))
    with pytest.warns(ConvergenceWarning, match="callback"):
        search.fit(*triplets)
    search.save(tmp_path / "m.json")
    assert sdpmetric.load(tmp_path / "m.json").search_ended_ is Status.STOPPED


def test_adapters_tell_as_much() -> None:
    rng = np.random.default_rng(0)
    topic = np.arange(120) % 20
    X = np.hstack([2 * rng.normal(size=(20, 4))[topic], 5 * rng.normal(size=(120, 4))])
    X[:, :4] += 0.3 * rng.normal(size=(120, 4))
    pairs = {"query": np.arange(60), "positive": np.arange(60, 120)}
    settings: dict[str, Any] = {"Cs": [3.0], "prior_weight": 0.5, "n_rounds": 2, "cv": 2}
    adapter = EmbeddingAdapter(**settings, skip=[0, 2], n_negatives=5)
    expected = clone(adapter).fit(X, pairs)
    recorder = Settings()
    adapter.set_callbacks(recorder).fit(X, pairs)
    assert recorder.calls == told(2)
    np.testing.assert_array_equal(adapter.components_, expected.components_)
    with pytest.warns(ConvergenceWarning, match="callback: chosen among 1 of 2 settings"):
        adapter.set_callbacks(Settings(stop_after=1)).fit(X, pairs)
    assert adapter.search_ended_ is Status.STOPPED
