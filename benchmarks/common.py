"""What every benchmark shares: data, the machine's name card, tables and JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
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
from threadpoolctl import threadpool_info

Array = npt.NDArray[Any]

HERE = Path(__file__).parent
RESULTS = HERE / "results"
CONSOLE = Console(width=max(150, Console().width))


def data_folder() -> Path:
    """Where the real data sets are: SDPMETRIC_DATA, or ../shared/data beside the project."""
    return Path(os.environ.get("SDPMETRIC_DATA", HERE.parent.parent / "shared" / "data"))


def load(name: str) -> tuple[Array, Array]:
    """X as floats and y; digits comes with scikit-learn, the rest from the data folder."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X.astype(np.float64), y
    path = data_folder() / f"{name}.npz"
    if not path.exists():
        raise SystemExit(f"{path.name} is not in {path.parent}; set SDPMETRIC_DATA to its folder.")
    with np.load(path) as stored:
        return stored["X"].astype(np.float64), stored["y"]


def machine() -> dict[str, Any]:
    """Versions, cores and BLAS, for the record."""
    packages = ("sdpmetric", "numpy", "scipy", "scikit-learn")
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "blas": [
            {k: pool[k] for k in ("internal_api", "version", "num_threads", "architecture")}
            for pool in threadpool_info()
            if pool["user_api"] == "blas"
        ],
        "versions": {name: version(name) for name in packages},
    }


def save(name: str, content: dict[str, Any]) -> Path:
    """Write results/<name>.json with the machine's card."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": machine(), **content}, indent=1) + "\n")
    CONSOLE.print(f"written: {path.relative_to(HERE.parent)}")
    return path


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
