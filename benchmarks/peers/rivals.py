"""Who competes, in which environment, and roughly how slowly (to run the cheap ones first)."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import CONSOLE, ROOT

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Rival:
    """An adapter, its environment and its look in the picture (Okabe and Ito's colours)."""

    adapter: str
    environment: str
    slowness: float
    colour: str
    marker: str

    @property
    def adapter_path(self) -> Path:
        return HERE / "adapters" / f"{self.adapter}.py"

    @property
    def python(self) -> Path:
        if self.environment == "current":
            return Path(sys.executable)
        return ROOT / self.environment / "bin" / "python"

    @property
    def installed(self) -> bool:
        return self.python.exists()


OURS = "sdpmetric"
CHOSEN = "sdpmetric, CV"
LMNN = "metric-learn LMNN"
OLD, MLPACK = ".venv-peers", ".venv-mlpack"

RIVALS = {
    OURS: Rival("ours", "current", 1, "#D55E00", "*"),
    CHOSEN: Rival("ours_cv", "current", 30, "#D55E00", "P"),
    "mlpack LMNN": Rival("mlpack_lmnn", MLPACK, 3, "#0072B2", "s"),
    "pylmnn": Rival("pylmnn", OLD, 5, "#009E73", "^"),
    "metric-learn SCML": Rival("metric_learn_scml", OLD, 4, "#CC79A7", "D"),
    "metric-learn ITML": Rival("metric_learn_itml", OLD, 20, "#000000", "X"),
    "sklearn NCA": Rival("sklearn_nca", "current", 15, "#E69F00", "o"),
    LMNN: Rival("metric_learn_lmnn", OLD, 50, "#56B4E9", "v"),
}
PEERS = tuple(name for name in RIVALS if name not in (OURS, CHOSEN))


def find(name: str) -> str:
    """A rival by its name or by its adapter's, so that "ours" will do."""
    for full, rival in RIVALS.items():
        if name in (full, rival.adapter):
            return full
    known = ", ".join(rival.adapter for rival in RIVALS.values())
    raise SystemExit(f"no rival is called {name!r}; there are {known}.")


def installed(names: Iterable[str], *, skip_missing: bool) -> set[str]:
    """Those rivals whose environment is there.

    A missing environment ends the benchmark at once, before hours of other fits. With
    ``skip_missing`` the benchmark names the rival and goes on without it.
    """
    missing = {name for name in names if not RIVALS[name].installed}
    for name in sorted(missing):
        text = f"{name}: {RIVALS[name].environment} is missing; `make bench-peers` builds it"
        if not skip_missing:
            raise SystemExit(f"{text}. --skip-missing goes on without it.")
        CONSOLE.print(f"skipped: {text}")
    return set(names) - missing
