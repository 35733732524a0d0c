"""What every benchmark shares: data, folders, the description of the machine, tables and JSON.

Two environment variables move a benchmark: SDPMETRIC_DATA is the folder of the data sets,
SDPMETRIC_RESULTS the folder for JSON and pictures. `benchmarks.smoke` sets both.
"""

from __future__ import annotations

import json
import os
import platform
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_info

Array = npt.NDArray[Any]

HERE = Path(__file__).parent
ROOT = HERE.parent
CONSOLE = Console(width=max(150, Console().width))


def data_folder() -> Path:
    """Folder of the real data sets: SDPMETRIC_DATA, or ../shared/data beside the project."""
    return Path(os.environ.get("SDPMETRIC_DATA", ROOT.parent / "shared" / "data"))


def results_folder() -> Path:
    """Folder for JSON and pictures: SDPMETRIC_RESULTS, or benchmarks/results."""
    return Path(os.environ.get("SDPMETRIC_RESULTS", HERE / "results"))


def data_file(name: str) -> Path:
    """Path of a data set's file; the benchmark ends with a message if the file is missing."""
    path = data_folder() / f"{name}.npz"
    if not path.exists():
        raise SystemExit(f"{path.name} is not in {path.parent}; set SDPMETRIC_DATA to its folder.")
    return path


def load(name: str) -> tuple[Array, Array]:
    """X as floats and y. scikit-learn ships digits; the other sets are in the data folder."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X.astype(np.float64), y
    with np.load(data_file(name)) as stored:
        return stored["X"].astype(np.float64), stored["y"]


def parser(doc: str | None) -> ArgumentParser:
    """Parser of a benchmark's arguments; the first line of the module's docstring describes it."""
    return ArgumentParser(description=(doc or "").partition("\n")[0])


def knn_error(X: Array, y: Array, X_new: Array, y_new: Array) -> float:
    """Share of new rows that the three nearest rows of X classify wrongly."""
    return 1.0 - float(KNeighborsClassifier(3).fit(X, y).score(X_new, y_new))


def least_cpu(work: Callable[[], object], repeat: int) -> float:
    """Least CPU seconds of several calls: other work on the machine can only add to them."""
    times = []
    for _ in range(repeat):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def growth(x: Sequence[float], y: Sequence[float]) -> float:
    """Exponent b of ``y ~ x^b``, by least squares on logarithmic axes."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def machine() -> dict[str, Any]:
    """Date, versions, cores, load and BLAS."""
    packages = ("sdpmetric", "numpy", "scipy", "scikit-learn")
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "blas": [
            {k: pool[k] for k in ("internal_api", "version", "num_threads", "architecture")}
            for pool in threadpool_info()
            if pool["user_api"] == "blas"
        ],
        "versions": {name: version(name) for name in packages},
    }


def save(name: str, content: dict[str, Any]) -> Path:
    """Write <name>.json, with a description of the machine, to the results folder."""
    path = results_folder() / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), **content}, indent=1) + "\n")
    announce(path)
    return path


def save_picture(figure: Figure, name: str, dpi: int = 130) -> None:
    """Write <name>.png to the results folder."""
    path = results_folder() / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=dpi)
    announce(path)


def announce(path: Path) -> None:
    CONSOLE.print(f"written: {os.path.relpath(path, ROOT)}")


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table."""
    table = Table(title=title)
    for column in columns:
        table.add_column(column, justify="left" if column == columns[0] else "right")
    for row in rows:
        table.add_row(*(f"{c:.3g}" if isinstance(c, float) else str(c) for c in row))
    CONSOLE.print(table)


def progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=CONSOLE,
    )
