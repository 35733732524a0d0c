"""The floors of pyproject.toml hold, and an import that breaks them is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sdpmetric

pytest.importorskip("importlinter")

CONTRACTS = Path(__file__).parent.parent / "pyproject.toml"
COMMAND = "from importlinter.cli import lint_imports_command; lint_imports_command()"

# What is added to which module, and how the report names it.
VIOLATIONS = {
    "upwards": (
        "linalg/scaling.py",
        "import sdpmetric.learning.fitted",
        "sdpmetric.linalg.scaling",
    ),
    "sideways": ("triplets/labels.py", "from ..solvers import lbfgs", "sdpmetric.triplets.labels"),
    "in a function": (
        "problem/margin.py",
        "def late() -> None:\n    from ..cli import errors\n",
        "sdpmetric.problem.margin",
    ),
    "scikit-learn in the mathematics": (
        "solvers/budget.py",
        "import sklearn.base",
        "sdpmetric.solvers.budget",
    ),
    "up inside learning": (
        "learning/fit/labelled.py",
        "from ..selection import table",
        "sdpmetric.learning.fit.labelled",
    ),
    "a room without a floor": ("attic.py", "", "sdpmetric.attic"),
}
FOR_TYPES = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from ..learning.estimators import SDPMetric
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package and its contracts, elsewhere."""
    source, target = Path(sdpmetric.__file__).parent, tmp_path / "sdpmetric"
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CONTRACTS, tmp_path)
    return target


def lint(package: Path) -> tuple[int, str]:
    run = subprocess.run(
        [sys.executable, "-c", COMMAND, "--no-cache", "--config", CONTRACTS.name],
        capture_output=True,
        text=True,
        cwd=package.parent,
        env=os.environ | {"PYTHONPATH": str(package.parent), "COLUMNS": "200"},
    )
    return run.returncode, run.stdout + run.stderr


def add(path: Path, code: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{code}\n")


def test_the_floors_hold(copy: Path) -> None:
    """Imports for type checking alone do not count."""
    add(copy / "linalg" / "scaling.py", FOR_TYPES)
    code, said = lint(copy)
    assert code == 0, said


@pytest.mark.slow
def test_every_planted_violation_is_named(copy: Path) -> None:
    for place, line, _ in VIOLATIONS.values():
        add(copy / place, line)
    code, said = lint(copy)
    assert code == 1, said
    for kind, (_, _, name) in VIOLATIONS.items():
        assert name in said, f"{kind}\n{said}"


@pytest.mark.slow
def test_one_violation_is_enough(copy: Path) -> None:
    place, line, name = VIOLATIONS["in a function"]
    add(copy / place, line)
    code, said = lint(copy)
    assert code == 1, said
    assert f"{name} -> sdpmetric.cli" in said
