"""A fit that is cut short goes on from its checkpoint and ends at the same certified objective."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import SDPMetric, TripletSDPMetric, load
from sdpmetric.learning.fit import checkpoint as module
from sdpmetric.persistence import state_file
from sdpmetric.problem.result import Progress
from sdpmetric.triplets import knn
from tests.support.problems import labelled, random_triplets

X, Y = labelled(np.random.default_rng(0), 80, 5, 3)
T = random_triplets(np.random.default_rng(1), 80, 200)

FITS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "labels": (SDPMetric(n_rounds=1), (X, Y)),
    "rounds": (SDPMetric(n_rounds=3), (X, Y)),
    "all triplets": (SDPMetric(n_rounds=1, triplets="all"), (X, Y)),
    "hinge": (SDPMetric(n_rounds=1, loss="hinge", tol=1e-3), (X, Y)),
    "frank-wolfe": (SDPMetric(n_rounds=1, solver="frank-wolfe", tol=0.05), (X, Y)),
    "prior": (SDPMetric(prior_weight=0.3, coordinates="standard"), (X, Y)),
    "comparisons": (TripletSDPMetric(), (X, T)),
    "sparse, weights": (TripletSDPMetric(), (sp.csr_array(X), T, np.arange(200.0))),
}


class CrashError(Exception):
    """Stands for a kill: no code of ours catches it."""


@pytest.fixture(autouse=True)
def at_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_file, "_SECONDS", 0.0)
    monkeypatch.setattr(state_file, "_SHARE", 1e9)


def crashing(metric: Any, after: int) -> Any:
    """The metric, whose fit fails at a step."""
    steps = 0

    def watch(now: Progress) -> None:
        nonlocal steps
        steps += 1
        if steps > after:
            raise CrashError

    metric._watch = watch
    return metric


@pytest.mark.slow
@pytest.mark.parametrize("kind", FITS)
def test_a_crashed_fit_goes_on_and_ends_at_the_same_objective(kind: str, tmp_path: Path) -> None:
    estimator, data = FITS[kind]
    expected = clone(estimator).fit(*data)
    metric, crashes = None, 0
    while metric is None:
        try:
            metric = crashing(
                clone(estimator).set_params(checkpoint=tmp_path), 3 + crashes // 4
            ).fit(*data)
        except CrashError:
            crashes += 1
            assert crashes < 200
    assert crashes > 1
    assert metric.converged_
    assert metric.objective_ <= expected.upper_bound_
    assert expected.objective_ <= metric.upper_bound_
    assert metric.n_iter_ > 8
    assert metric.n_triplets_ == expected.n_triplets_


@pytest.mark.parametrize("kind", ["labels", "rounds", "comparisons"])
def test_a_checkpoint_changes_nothing(kind: str, tmp_path: Path) -> None:
    estimator, data = FITS[kind]
    expected = clone(estimator).fit(*data)
    metric = clone(estimator).set_params(checkpoint=tmp_path).fit(*data)
    assert np.array_equal(metric.components_, expected.components_)
    assert metric.n_iter_ == expected.n_iter_


def test_a_limit_may_be_raised_and_counts_for_all_runs(tmp_path: Path) -> None:
    few = TripletSDPMetric(max_iter=8, checkpoint=tmp_path)
    with pytest.warns(ConvergenceWarning):
        assert few.fit(X, T).n_iter_ == 8
    with pytest.warns(ConvergenceWarning):
        assert few.fit(X, T).n_iter_ == 9  # nothing is left but the certificate
    more = TripletSDPMetric(checkpoint=tmp_path, tol=1e-3).fit(X, T)
    assert more.converged_
    assert more.n_iter_ > 8


def test_a_finished_fit_is_not_made_again_and_leaves_the_folder_to_others(tmp_path: Path) -> None:
    first = SDPMetric(checkpoint=tmp_path).fit(X, Y)
    again = SDPMetric(checkpoint=tmp_path).fit(X, Y)
    assert again.n_iter_ <= first.n_iter_ + 2
    assert again.objective_ == pytest.approx(first.objective_, rel=1e-12)
    other = SDPMetric(checkpoint=tmp_path, C=5.0).fit(X, Y)
    assert other.n_iter_ > again.n_iter_ - first.n_iter_


CHANGED: dict[str, dict[str, Any]] = {
    "rows": {"X": np.vstack([X[:-1], X[-1:] + 1e-9])},
    "float32": {"X": X.astype(np.float32)},
    "comparisons": {"T": T[::-1]},
    "weights": {"weights": np.ones(len(T))},
    "C": {"C": 5.0},
    "loss": {"loss": "squared_hinge"},
    "seed": {"random_state": 1},
    "prior": {"prior": np.eye(5), "coordinates": "raw"},
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_checkpoint_of_another_problem_is_refused(what: str, tmp_path: Path) -> None:
    with pytest.raises(CrashError):
        crashing(TripletSDPMetric(checkpoint=tmp_path), 2).fit(X, T)
    before = (tmp_path / "fit.safetensors").read_bytes()
    changes = CHANGED[what].copy()
    data = changes.pop("X", X), changes.pop("T", T), changes.pop("weights", None)
    metric = TripletSDPMetric(checkpoint=tmp_path, **changes)
    with pytest.raises(ValueError, match=r"checkpoint: '.*fit.safetensors' belongs to a fit of"):
        metric.fit(*data)
    assert not hasattr(metric, "components_")
    assert (tmp_path / "fit.safetensors").read_bytes() == before


def test_what_changes_no_problem_is_no_other_problem(tmp_path: Path) -> None:
    with pytest.raises(CrashError):
        crashing(TripletSDPMetric(checkpoint=tmp_path), 2).fit(X, T)
    changes: dict[str, Any] = {"tol": 1e-2, "max_iter": 100, "time_limit": 60.0, "n_jobs": 1}
    metric = TripletSDPMetric(checkpoint=tmp_path, warm_start=True, **changes)
    assert metric.fit(np.asfortranarray(X), T).converged_


def test_an_interrupt_writes_the_last_step(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(state_file, "_SECONDS", 1e9)

    def press(now: Progress) -> None:
        if now.n_iter > 10:
            raise KeyboardInterrupt

    metric = SDPMetric(n_rounds=1, checkpoint=tmp_path)
    metric._watch = press
    with pytest.raises(KeyboardInterrupt):
        metric.fit(X, Y)
    expected = metric.objective_  # of the certified metric that Ctrl-C leaves
    found: list[Progress] = []
    metric = SDPMetric(n_rounds=1, checkpoint=tmp_path)
    metric._watch = found.append
    metric.fit(X, Y)
    assert found[0].objective == pytest.approx(expected, rel=1e-9)
    assert metric.n_iter_ > 10


def test_a_crash_in_the_search_of_the_second_round_repeats_no_first_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimator, data = FITS["rounds"]
    expected = clone(estimator).fit(*data)
    searches = 0
    mine = knn.mine

    def fails(*given: Any) -> Any:
        nonlocal searches
        searches += 1
        if searches == 2:
            raise CrashError
        return mine(*given)

    monkeypatch.setattr("sdpmetric.learning.fit.labelled.mine", fails)
    with pytest.raises(CrashError):
        clone(estimator).set_params(checkpoint=tmp_path).fit(*data)
    metric = clone(estimator).set_params(checkpoint=tmp_path).fit(*data)
    assert searches == 4
    assert np.array_equal(metric.components_, expected.components_)
    assert metric.n_iter_ == expected.n_iter_


@pytest.mark.parametrize(
    "state",
    [
        {"rounds": -1},
        {"n_iter": "many"},
        {"factor": np.eye(4)},
        {"factor": np.full((5, 2), np.nan)},
        {"factor": np.zeros((5, 2))},
        {"under": np.eye(4)},
        {"resume": {"width": -1.0}},
        {"unknown": 1},
        [1],
    ],
)
def test_a_state_that_makes_no_sense_is_one_clear_error(state: Any, tmp_path: Path) -> None:
    metric = TripletSDPMetric(checkpoint=tmp_path)
    with pytest.raises(CrashError):
        crashing(metric, 2).fit(X, T)
    keys: list[str] = []
    make = state_file.StateFile

    def noting(folder: Path, name: str, key: str) -> Any:
        keys.append(key)
        return make(folder, name, key)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "StateFile", noting)
        with pytest.raises(CrashError):
            crashing(metric, 2).fit(X, T)
    make(tmp_path, "fit", keys[0]).begin(state)
    with pytest.raises(ValueError, match="no complete checkpoint of this version"):
        TripletSDPMetric(checkpoint=tmp_path).fit(X, T)


def test_a_wrong_folder_is_found_before_the_fit(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="checkpoint must name a folder, got the file"):
        SDPMetric(checkpoint=tmp_path / "file").fit(X, Y)
    with pytest.raises(ValueError, match="checkpoint must be None or the name of a folder"):
        SDPMetric(checkpoint=True).fit(X, Y)


def test_a_full_disk_costs_the_checkpoint_and_not_the_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = SDPMetric().fit(X, Y)
    begin = state_file.StateFile.begin

    def then_full(self: Any, state: Any) -> None:
        begin(self, state)

        def full(*_: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("sdpmetric._support.files.replace_file", full)

    monkeypatch.setattr(state_file.StateFile, "begin", then_full)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        metric = SDPMetric(checkpoint=tmp_path).fit(X, Y)
    assert all("no space left on device" in str(one.message) for one in caught)
    assert caught
    assert np.array_equal(metric.components_, expected.components_)
    assert [path.name for path in tmp_path.iterdir()] == ["fit.safetensors"]


def test_a_model_file_names_no_checkpoint(tmp_path: Path) -> None:
    metric = SDPMetric(checkpoint=tmp_path / "folder").fit(X, Y)
    metric.save(tmp_path / "model.json")
    assert "folder" not in (tmp_path / "model.json").read_text()
    text = (
        (tmp_path / "model.json")
        .read_text()
        .replace('"params": {', '"params": {"checkpoint": "/etc", ')
    )
    (tmp_path / "model.json").write_text(text)
    assert load(tmp_path / "model.json").checkpoint is None
