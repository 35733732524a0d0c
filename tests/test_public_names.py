"""Public names are there, though nothing is imported before it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

import sdpmetric

HEAVY = ("numpy", "scipy", "sklearn", "numba", "safetensors")


def loaded_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize("code", ["import sdpmetric", "from sdpmetric.cli import main"])
def test_nothing_heavy_is_imported(code: str) -> None:
    assert not loaded_after(code) & set(HEAVY)


def test_help_starts_at_once() -> None:
    command = [sys.executable, "-m", "sdpmetric", "--help"]
    seconds = []
    for _ in range(5):  # the best of some, since machines are busy
        began = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < 0.3


def test_every_name_is_found_and_listed() -> None:
    for name in sdpmetric.__all__:
        assert getattr(sdpmetric, name).__name__ == name
    assert set(sdpmetric.__all__) <= set(dir(sdpmetric))
    with pytest.raises(AttributeError, match="no attribute 'metric_learning'"):
        sdpmetric.metric_learning  # noqa: B018


def test_no_module_hides_a_public_name() -> None:
    assert not [name for name in sdpmetric.__all__ if find_spec(f"sdpmetric.{name}")]


def test_types_and_names_at_run_time_agree() -> None:
    tree = ast.parse(Path(sdpmetric.__file__).read_text(encoding="utf-8"))
    expected = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
    assert expected == sdpmetric._HOMES
    assert sorted(expected) == sorted(sdpmetric.__all__)
