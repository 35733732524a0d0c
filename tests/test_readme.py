"""The README's code runs as printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdpmetric.cli.demo import STORIES as DEMO

README = Path(__file__).parent.parent / "README.md"
TEXT = README.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
STORIES = re.findall(r"```sh\n(.*?)```\n\n```text\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_block_runs_to_a_certified_metric(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(compile(block, str(README), "exec"), names)
    metric = names["search"].best_estimator_[-1] if "search" in names else names["metric"]
    assert metric.converged_
    assert len(capsys.readouterr().out.splitlines()) >= 2


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Runs a script in an empty folder, with the command on its path."""
    command = tmp_path / "bin" / "sdpmetric"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sdpmetric "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=os.pathsep)

    def run(script: str) -> str:
        done = subprocess.run(
            ["sh", "-e"], input=script, capture_output=True, text=True, cwd=tmp_path
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


@pytest.mark.skipif(os.name == "nt", reason="a Unix shell")
@pytest.mark.parametrize(("script", "expected"), STORIES)
def test_story_runs_as_printed(shell: Callable[[str], str], script: str, expected: str) -> None:
    said = shell(script).splitlines()
    header, *rows = expected.splitlines()
    assert header in said
    for row in rows:
        name, values = re.split(r"\s{3,}", row, maxsplit=1)
        [found] = [line for line in said if re.match(rf"{name}   ", line)]
        numbers = [float(cell) for cell in found[len(name) :].split()]
        assert numbers == pytest.approx([float(cell) for cell in values.split()], abs=0.02)


def test_demo_prints_the_same_commands() -> None:
    printed = [line for script, _ in STORIES for line in script.splitlines()[1:]]
    assert printed == [line for line in DEMO.splitlines() if line.startswith("sdpmetric")]


def test_readme_has_its_stories() -> None:
    assert len(BLOCKS) == 9
    assert len(STORIES) == 2
