from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sdpmetric.cli import main


def fit(*options: str) -> dict[str, Any]:
    line = ["fit", "wine-train.csv", "-l", "cultivar", "--json", "--checkpoint", "kept"]
    done = CliRunner().invoke(main, [*line, "-o", "model.json", *options])
    assert done.exit_code == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_the_same_command_goes_on(folder: Path) -> None:
    first = fit("--set", "max_iter=10", "--set", "n_rounds=1")
    assert not first["converged"]
    last = fit("--set", "n_rounds=1")
    assert last["converged"]
    assert last["n_iter"] > first["n_iter"]


@pytest.mark.slow
def test_another_command_is_refused(folder: Path) -> None:
    fit("--set", "max_iter=10")
    line = "fit wine-train.csv -l cultivar -C 3 --checkpoint kept -o model.json"
    done = CliRunner().invoke(main, line.split())
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: checkpoint: 'kept/fit.safetensors' belongs to a fit")
