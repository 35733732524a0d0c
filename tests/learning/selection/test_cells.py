"""A search that is cut short goes on where it stopped, and takes the same steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from sdpmetric import SDPMetricCV
from sdpmetric.learning.selection import cells
from sdpmetric.persistence import state_file
from tests.support.problems import labelled
from tests.support.searches import searches

LABELS, TRIPLETS = searches()[:2]


class CrashError(Exception):
    """Stands for a kill: no code of ours catches it."""


@pytest.fixture
def crash_after(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lets a search fail after so many new cells; returns the number of all of them."""
    monkeypatch.setattr(state_file, "_SECONDS", 0.0)
    monkeypatch.setattr(state_file, "_SHARE", 1e9)
    add, made = cells.SplitCells.add, [0, 10**9]

    def counted(self: Any, *given: Any) -> None:
        add(self, *given)
        made[0] += 1
        if made[0] >= made[1]:
            raise CrashError

    monkeypatch.setattr(cells.SplitCells, "add", counted)

    def after(n: int) -> int:
        made[1] = made[0] + n
        return made[0]

    return after


def same_results(found: Any, expected: Any) -> None:
    for name, column in expected.cv_results_.items():
        if name != "seconds":
            np.testing.assert_array_equal(found.cv_results_[name], column)
    assert found.best_params_ == expected.best_params_
    assert np.array_equal(found.components_, expected.components_)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LABELS, TRIPLETS], ids=["labels", "triplets"])
def test_a_crashed_search_takes_the_same_steps(kind: Any, tmp_path: Path, crash_after: Any) -> None:
    estimator, data = kind
    expected = clone(estimator).fit(*data)
    whole = clone(estimator).set_params(checkpoint=tmp_path / "whole").fit(*data)
    same_results(whole, expected)
    n_cells, crashes = crash_after(3), 0
    estimator = clone(estimator).set_params(checkpoint=tmp_path / "crashed")
    found = None
    while found is None:
        try:
            found = clone(estimator).fit(*data)
        except CrashError:
            crashes += 1
            crash_after(3)
    assert crashes > 1
    assert crash_after(3) == 2 * n_cells  # no cell was made twice
    same_results(found, expected)


@pytest.mark.slow
def test_confirmation_splits_and_rounds_are_kept(tmp_path: Path, crash_after: Any) -> None:
    X, y = labelled(np.random.default_rng(3), 60, 4)
    search = SDPMetricCV(
        Cs=[2.0, 5.0], n_neighbors=3, n_impostors=3, n_rounds=(1, 2), coordinates=["raw"]
    )
    expected = clone(search).fit(X, y)
    search.set_params(checkpoint=tmp_path)
    found = None
    while found is None:
        crash_after(7)
        try:
            found = clone(search).fit(X, y)
        except CrashError:
            continue
    same_results(found, expected)
    assert found.n_splits_ > 3


def test_a_finished_search_fits_nothing_again(tmp_path: Path, crash_after: Any) -> None:
    estimator, data = LABELS
    expected = clone(estimator).set_params(checkpoint=tmp_path).fit(*data)
    crash_after(1)
    again = clone(estimator).set_params(checkpoint=tmp_path).fit(*data)
    for name, column in expected.cv_results_.items():
        np.testing.assert_array_equal(again.cv_results_[name], column)
    assert again.best_estimator_.checkpoint is None


@pytest.mark.parametrize("changes", [{"Cs": [2.0, 6.0]}, {"cv": KFold(3)}, {"scoring": "triplets"}])
def test_a_search_over_other_candidates_is_refused(
    changes: dict[str, Any], tmp_path: Path, crash_after: Any
) -> None:
    estimator, data = LABELS
    crash_after(2)
    with pytest.raises(CrashError):
        clone(estimator).set_params(checkpoint=tmp_path).fit(*data)
    other = clone(estimator).set_params(checkpoint=tmp_path, **changes)
    with pytest.raises(ValueError, match=r"checkpoint: '.*search.safetensors' belongs to"):
        other.fit(*data)


def test_a_cell_of_other_rows_is_no_cell(tmp_path: Path, crash_after: Any) -> None:
    estimator, data = LABELS
    clone(estimator).set_params(checkpoint=tmp_path).fit(*data)
    key = state_file.StateFile(tmp_path, "search", "").path
    held = cells.Cells(tmp_path, lambda: _key(key), 4)
    with pytest.raises(ValueError, match="no complete checkpoint"):
        cells.Cells(tmp_path, lambda: _key(key), 5)
    assert held.found


def test_an_interrupted_choice_does_not_stop_the_search_from_going_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last fit then has other parameters: its checkpoint must not be refused."""
    monkeypatch.setattr(state_file, "_SECONDS", 0.0)
    estimator, data = LABELS
    # With these values of C the best of the first coordinates is not the best of all.
    estimator = clone(estimator).set_params(doubt=0.0, Cs=[1.5, 5.0])
    expected = clone(estimator).fit(*data)
    add, made = cells.SplitCells.add, 0

    def pressing(self: Any, *given: Any) -> None:
        nonlocal made
        add(self, *given)
        made += 1
        if made == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(cells.SplitCells, "add", pressing)
    first = clone(estimator).set_params(checkpoint=tmp_path, tol=1e-17)  # its last fit cannot end
    with pytest.warns(ConvergenceWarning), pytest.raises(KeyboardInterrupt):
        first.fit(*data)
    assert first.best_params_ != expected.best_params_
    found = clone(estimator).set_params(checkpoint=tmp_path).fit(*data)
    assert found.search_ended_ is None
    assert found.best_params_ == expected.best_params_


def _key(path: Path) -> str:
    import safetensors

    with safetensors.safe_open(path, "numpy") as held:
        return str(held.metadata()["key"])
