"""Run every benchmark on a few rows, to see that it still runs.

Stand-ins of the data sets (same names, same fields, few rows) go to a temporary folder, and so do
all results: nothing is read from the real data sets, nothing in results/ is touched. The numbers
mean nothing. `make test` runs this too and looks at what each benchmark reports.
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_wine

from benchmarks.common import CONSOLE, ROOT, Array, parser

# Name of a benchmark -> the arguments that make it small. {folder} is where results go, {root} the
# project.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "solver": ("--data", "mnist", "--settings", "H C=10 h=0.05", "--multiple", "2"),
    "defaults": (
        *("--splits", "2", "--sets", "wine", "iris"),
        *("--settings", "defaults", "3 x 3, raw, tol 1e-4 (before)"),
    ),
    "search": ("--splits", "1", "--sets", "wine", "iris"),
    "rules": ("--splits", "1", "--sets", "wine", "iris"),
    "mnist": ("--settings", "defaults", "--held", "50", "--rows", "60"),
    "peers": (
        *("--data", "wine", "--splits", "1", "--threads", "1", "--skip-missing"),
        *("--rival", "ours", "sklearn_nca", "pylmnn"),
    ),
    "sdp": ("--dimensions", "4", "--losses", "huber"),
    "mining": ("--threads", "1", "--rows", "400"),
    "scale": ("--threads", "1", "--axis", "smoke"),
    "cluster": ("--shrink", "300", "--repeats", "1", "--workers", "1", "--local"),
    "outofcore": (
        *("--gigabytes", "0.0002", "--dimensions", "5", "--triplets", "500", "--limit", "2"),
    ),
    "wide": ("--shrink", "200", "--limit", "0.5", "--cases", "banking77 n-grams", "dense"),
    "path": ("--sets", "wine", "--values", "3", "--repeats", "1"),
    "adapter": ("--triplets", "60", "--Cs", "1", "--cv", "2"),
    "ask": ("--seeds", "2", "--answers", "48", "--every", "24"),
    "ask_load": (
        "--people",
        "3",
        "--seconds",
        "2",
        "--items",
        "12",
        "--features",
        "3",
        "--fit-answers",
        "50",
        "--fit-features",
        "5",
    ),
    "hard_negatives": ("--draws", "1", "--queries", "30"),
    "paper": (
        *("--quick", "--output", "{folder}/paper", "--rows", "wine", "--runs", "1"),
        *("--methods", "euclidean", "pylmnn", "s", "s-fw", "--inputs", "raw", "--skip-missing"),
    ),
    # Against itself: a fresh checkout would compile all loops first.
    "regression": ("{root}", "--sets", "wine", "--runs", "1", "--block", "1"),
}


def clusters(n: int, columns: int, classes: int, seed: int) -> tuple[Array, Array]:
    """Classes that overlap a little, in the first columns alone."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.standard_normal((n, columns))
    X[:, : columns // 2] += 1.5 * rng.standard_normal((classes, columns // 2))[y]
    return X, y


def sentences(y: Array) -> str:
    """A line for each row: words of its class, and words of all."""
    rng = np.random.default_rng(0)
    own = [f"topic{label}{'abc'[rng.integers(3)]} card{rng.integers(4)}" for label in y]
    return "\n".join(f"please {words} today" for words in own)


def stand_ins(folder: Path) -> None:
    """Write a small file for every data set that a smoke test reads."""
    X, y = load_wine(return_X_y=True)  # the real one, which scikit-learn ships
    np.savez(folder / "wine.npz", X=X, y=y)
    for seed, name in enumerate(("mnist_test", "mnist_train")):
        X, y = clusters(150, 16, 3, seed)  # images of 4 x 4
        np.savez(folder / f"{name}.npz", X=X, y=y)
    X, y = clusters(200, 12, 4, 2)
    text = np.frombuffer(sentences(y).encode(), dtype=np.uint8)
    np.savez(
        folder / "banking77_minilm.npz",
        X=X.astype(np.float32),
        y=y,
        texts_utf8=text,
        train_idx=np.arange(150),
        test_idx=np.arange(150, 200),
    )


def module_of(name: str) -> Any:
    """The module with the benchmark's `main`."""
    places = {"cluster": "cluster.measure", "peers": "peers.__main__", "paper": "paper.__main__"}
    return import_module(f"benchmarks.{places.get(name, name)}")


def run(name: str, folder: Path) -> dict[str, Any]:
    """Run a benchmark with stand-ins; return what it wrote as JSON (paper: no JSON, so nothing)."""
    data, results = folder / "data", folder / "results"
    for place in (data, results):
        place.mkdir(parents=True, exist_ok=True)
    stand_ins(data)
    moved = {"SDPMETRIC_DATA": str(data), "SDPMETRIC_RESULTS": str(results)}
    with patch.dict(os.environ, moved):
        module_of(name).main(
            [argument.format(folder=results, root=ROOT) for argument in ARGUMENTS[name]]
        )
    path = results / f"{name}.json"
    content: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return content


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("names", nargs="*", help=", ".join(ARGUMENTS))
    options = arguments.parse_args(argv)
    for name in options.names or ARGUMENTS:
        CONSOLE.rule(name)
        with TemporaryDirectory() as folder:
            run(name, Path(folder))


if __name__ == "__main__":
    main()
