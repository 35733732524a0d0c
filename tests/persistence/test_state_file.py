from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdpmetric._support import files
from sdpmetric.persistence.state_file import StateFile, as_folder

STATE: dict[str, Any] = {"n": 3, "gap": float("inf"), "factor": np.eye(2), "none": None}


def test_a_state_comes_back_and_a_new_one_takes_its_place(tmp_path: Path) -> None:
    file = StateFile(tmp_path / "a" / "b", "fit", "key")
    assert file.read() is None
    file.begin(STATE)
    file.write({"factor": np.ones((2, 1))})
    found = StateFile(tmp_path / "a" / "b", "fit", "key").read()
    assert np.array_equal(found["factor"], np.ones((2, 1)))
    assert os.listdir(tmp_path / "a" / "b") == ["fit.safetensors"]


def test_a_state_of_another_problem_is_refused_until_that_is_finished(tmp_path: Path) -> None:
    mine = StateFile(tmp_path, "fit", "mine")
    mine.begin(STATE)
    other = StateFile(tmp_path, "fit", "other")
    with pytest.raises(ValueError, match="belongs to a fit of other data or other parameters"):
        other.read()
    mine.write(STATE, done=True)
    assert other.read() is None
    assert mine.read()["n"] == 3


@pytest.mark.parametrize("cut", [0, 7, 8, 60, -1])
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, cut: int) -> None:
    file = StateFile(tmp_path, "fit", "key")
    file.begin(STATE)
    file.path.write_bytes(file.path.read_bytes()[:cut])
    with pytest.raises(ValueError, match=r"fit.safetensors' is no complete checkpoint"):
        file.read()


def test_a_model_file_is_no_checkpoint(tmp_path: Path) -> None:
    file = StateFile(tmp_path, "fit", "key")
    file.begin(STATE)
    text = file.path.read_bytes().replace(b"sdpmetric-checkpoint", b"sdpmetric-checkpaint")
    file.path.write_bytes(text)
    with pytest.raises(ValueError, match="another format"):
        file.read()


def test_writes_are_seconds_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    file = StateFile(tmp_path, "fit", "key")
    assert file.due
    file.begin(STATE)
    file.write(STATE)
    assert not file.due
    now += 4.9
    assert not file.due
    now += 0.2
    assert file.due


def test_slow_writes_are_farther_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    file = StateFile(tmp_path, "fit", "key")

    def slow(*_: Any, **__: Any) -> None:
        nonlocal now
        now += 1.0

    monkeypatch.setattr("time.monotonic", lambda: now)
    monkeypatch.setattr(file, "_write", slow)
    file.write(STATE)
    now += 49.0
    assert not file.due
    now += 2.0
    assert file.due


def test_a_full_disk_warns_and_keeps_the_last_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = StateFile(tmp_path, "fit", "key")
    file.begin(STATE)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "replace_file", full)
    with pytest.warns(UserWarning, match=r"no space left on device. The fit goes on"):
        file.write({"n": 4})
    assert file.read()["n"] == 3
    assert os.listdir(tmp_path) == ["fit.safetensors"]


def test_a_checkpoint_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"checkpoint must name a folder, got .*file"):
        as_folder(tmp_path / "file")
    with pytest.raises(ValueError, match="checkpoint must be None or the name of a folder, got 3"):
        as_folder(3)
