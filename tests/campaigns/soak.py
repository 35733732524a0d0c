"""Fit, save, load and transform for a long time: nothing may grow.

    python -m tests.campaigns.soak --seconds 600

Memory, open files and threads of this process are noted after every round. The first third of the
time is for warming up: code is compiled, and pools of memory reach their size. After it the slope
of each must be zero: memory may rise by no more than a megabyte in the rest of the run, as far as
its noise allows to tell, and files and threads by none.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil
import scipy.sparse as sp
from scipy.stats import theilslopes
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import (
    SDPMetric,
    SDPMetricCV,
    TripletSDPMetric,
    export,
    load,
    retrieval_scores,
    suggest_triplets,
)
from tests.support.problems import Floats, labelled, random_triplets

__all__ = ["Growth", "growth", "main"]

_WARM = 1 / 3  # of the time, before anything is judged
_LINES = 20  # of progress


@dataclass(frozen=True)
class Growth:
    """How a number changed after warming up."""

    name: str
    first: float
    last: float
    per_round: float  # the slope
    least: float  # its lower confidence limit (99 %) times the rounds: the growth that is sure
    allowed: float

    @property
    def grew(self) -> bool:
        return not self.least <= self.allowed

    def __str__(self) -> str:
        verdict = "GREW" if self.grew else "no growth"
        return (
            f"{self.name:8} {self.first:10.1f} -> {self.last:10.1f}   slope {self.per_round:+.2e} "
            f"a round, at least {self.least:+.2f} in all (allowed {self.allowed:g}): {verdict}"
        )


def growth(name: str, numbers: Floats, allowed: float) -> Growth:
    """Judge a series of numbers, one a round, by Theil and Sen's slope, which jumps do not move."""
    slope, _, low, _ = theilslopes(numbers, alpha=0.99)
    tenth = max(1, len(numbers) // 10)
    first, last = np.median(numbers[:tenth]), np.median(numbers[-tenth:])
    return Growth(name, float(first), float(last), float(slope), float(low) * len(numbers), allowed)


def one_round(seed: int, folder: Path) -> None:
    """Every kind of fit once, on data of its own; each metric is saved, loaded and used."""
    rng = np.random.default_rng(seed)
    X, y = labelled(rng, 60, 6)
    fits: list[tuple[Any, Any, Any]] = [
        (SDPMetric(), X, y),
        (SDPMetric(loss="squared_hinge"), X.astype(np.float32), y),
        (SDPMetric(loss="logistic"), sp.csr_array(X), y),
        (SDPMetric(loss="hinge", tol=1e-2), X, y),
        (SDPMetric(n_rounds=2, n_jobs=2), X, y),
        (SDPMetric(triplets="all", C=0.5), X, y),
        (TripletSDPMetric(), X, random_triplets(rng, 60, 80)),
        (SDPMetric(solver="frank-wolfe", max_iter=20), X, y),
        (SDPMetricCV(Cs=2, n_neighbors=2, n_rounds=1, cv=2, max_iter=50), X, y),
    ]
    path = folder / ("m.json" if seed % 2 else "m.safetensors")
    for estimator, rows, target in fits:
        estimator.fit(rows, target).save(path)
        metric = load(path)
        metric.transform(rows)
        metric.pairwise_distances(rows)
        export(metric, folder / "m.npy")
    retrieval_scores(X, y)
    suggest_triplets(X, None, 5)


def rounds(seconds: float, folder: Path) -> tuple[Floats, Floats]:
    """Work for so many seconds. Returns when each round ended, and (megabytes, files, threads)."""
    process = psutil.Process()
    began, shown = time.perf_counter(), 0
    ended: list[float] = []
    noted: list[tuple[float, int, int]] = []
    while not ended or ended[-1] < seconds:
        one_round(len(ended) % 1000, folder)
        gc.collect()
        ended.append(time.perf_counter() - began)
        noted.append((process.memory_info().rss / 2**20, _files(process), process.num_threads()))
        if ended[-1] * _LINES >= shown * seconds:
            shown += 1
            now = "{:.1f} MB, {} files, {} threads".format(*noted[-1])
            print(f"{ended[-1]:7.1f} s, round {len(noted)}: {now}", flush=True)
    return np.array(ended), np.array(noted, dtype=np.float64)


def _files(process: Any) -> int:
    """Open file descriptors; on Windows, handles."""
    return int(process.num_handles() if sys.platform == "win32" else process.num_fds())


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign; the exit code is 1 if anything grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long to work")
    seconds = parser.parse_args(arguments).seconds
    warnings.simplefilter("ignore", ConvergenceWarning)
    with TemporaryDirectory() as folder:
        ended, noted = rounds(seconds, Path(folder))
    judged = noted[ended >= _WARM * ended[-1]]
    if len(judged) < 3:
        print(f"{len(judged)} rounds after warming up are too few to judge: use more seconds.")
        return 0
    found = [
        growth("memory", judged[:, 0], 1.0),
        growth("files", judged[:, 1], 0.0),
        growth("threads", judged[:, 2], 0.0),
    ]
    print(f"{len(noted)} rounds of nine fits in {ended[-1]:.0f} s; judged the last ", end="")
    print(f"{len(judged)}:", *found, sep="\n")
    return int(any(one.grew for one in found))


if __name__ == "__main__":
    sys.exit(main())
