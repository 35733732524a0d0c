"""Use an installed sdpmetric as a newcomer would; run by `.ci/wheel.py` with the wheel's Python.

Nothing but the wheel and its dependencies is installed, and the current folder is empty.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sdpmetric
from sdpmetric import SDPMetric, TripletSDPMetric, knn_triplets

OPTIONAL = ("faiss", "matplotlib", "onnx", "pandas", "pyarrow", "pytest", "rich")


def check_environment(version: str) -> None:
    package = Path(sdpmetric.__file__).parent
    assert package.is_relative_to(sys.prefix), f"{package} is not the wheel's"
    assert (package / "py.typed").exists()
    assert sdpmetric.__version__ == distribution("sdpmetric").version == version
    assert [name for name in OPTIONAL if find_spec(name)] == []
    strangers = [name for name in ("benchmarks", "tests") if find_spec(name)]
    assert strangers == [], f"the wheel also installs {strangers}"
    for name in sdpmetric.__all__:
        getattr(sdpmetric, name)


def check_library() -> None:
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), SDPMetric(), KNeighborsClassifier(3)).fit(X, y)
    assert model[1].converged_
    assert model.score(X, y) > 0.95
    rows = StandardScaler().fit_transform(X)
    metric = TripletSDPMetric().fit(rows, knn_triplets(rows, y))
    for name in ("metric.safetensors", "metric.json"):
        metric.save(name)
        loaded = sdpmetric.load(name)
        np.testing.assert_array_equal(loaded.transform(rows), metric.transform(rows))


def check_command_line(version: str) -> None:
    assert run("--version") == f"sdpmetric, version {version}"
    run("demo", "wine")
    table = Path("wine", "wine-train.csv")
    run("fit", str(table), "--label", "cultivar", "-o", "wine.safetensors")
    run("transform", "wine.safetensors", str(table), "--keep", "cultivar", "-o", "mapped.csv")
    n_lines = [len(file.read_text().splitlines()) for file in (table, Path("mapped.csv"))]
    assert n_lines[0] == n_lines[1] > 100
    assert "accuracy" in run("evaluate", "wine.safetensors", str(table), "--label", "cultivar")


def run(*arguments: str) -> str:
    """The output of the command that the wheel installed beside this Python."""
    command = Path(sys.executable).parent / "sdpmetric"
    done = subprocess.run([command, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    check_environment(sys.argv[1])
    check_library()
    check_command_line(sys.argv[1])
    print(f"sdpmetric {sys.argv[1]} works from its wheel.")
