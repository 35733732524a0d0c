"""What a path over C costs, against one cold fit of the same rows.

Two ratios: both to the same gap, and as `SDPMetricCV` does it: the path to a gap of 1e-3, the cold
fit, `SDPMetric` with its defaults, to 1e-4. A fit includes the search for neighbours, which a path
makes once. The cold fit is the mean of fits at every C of the path, since they differ a good deal.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.common import Array, progress, save, show
from benchmarks.peers.data import SETS, find
from sdpmetric import SDPMetric
from sdpmetric.labelled import Kind, Labelled
from sdpmetric.selection.grounds import LabelGround
from sdpmetric.settings import Settings
from sdpmetric.threads import working

REPEATS = 3  # the least of which counts: other work can only add
NAMES = ("wine", "vehicle", "digits", "Letter", "USPS PCA-60", "MNIST PCA-60")


def path_seconds(X: Array, y: Array, Cs: Array, tol: float, threads: int) -> tuple[float, int]:
    """A path as a fold of `SDPMetricCV` walks it, scores left out; and the fits it made."""
    began = time.process_time()
    settings = Settings(
        "huber", 2.0, 0.02, "identity", 0.0, None, "low-rank", None, tol, 3000, None, None, threads
    )
    lane = (("coordinates", "raw"), ("triplets", "knn"), ("n_neighbors", 3), ("n_impostors", 3))
    lane += (("n_rounds", 1), ("prior_weight", 0.0), ("h", 0.02))
    with working(threads):
        kind = Kind("knn", 3, 3)
        ground = LabelGround(settings, Labelled(X, y), y, X[:1], y[:1], kind, "knn")
        ground.trials(lane, list(Cs))
    (view,) = ground.views.values()
    return time.process_time() - began, len(view.fits)


def cold_seconds(X: Array, y: Array, C: float, tol: float, threads: int) -> float:
    began = time.process_time()
    SDPMetric(C=float(C), tol=tol, n_jobs=threads).fit(X, y)
    return time.process_time() - began


def measure(name: str, Cs: Array, threads: int) -> dict[str, Any]:
    X, y, _, _ = SETS[name].make(0)
    y = np.unique(y, return_inverse=True)[1]
    cold = {
        tol: [min(cold_seconds(X, y, C, tol, threads) for _ in range(REPEATS)) for C in Cs]
        for tol in (1e-3, 1e-4)
    }
    path = {
        tol: min(path_seconds(X, y, Cs, tol, threads) for _ in range(REPEATS))
        for tol in (1e-3, 1e-4)
    }
    return {
        "set": name,
        "cold 1e-4": float(np.mean(cold[1e-4])),
        "path 1e-4": path[1e-4][0],
        "path 1e-3": path[1e-3][0],
        "fits": path[1e-3][1],
        "same gap 1e-4": path[1e-4][0] / float(np.mean(cold[1e-4])),
        "same gap 1e-3": path[1e-3][0] / float(np.mean(cold[1e-3])),
        "as used": path[1e-3][0] / float(np.mean(cold[1e-4])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(NAMES))
    parser.add_argument("--values", type=int, default=12, help="of C")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # gaps are not the subject
    Cs = np.geomspace(1.25, 40.0, options.values)
    rows: list[dict[str, Any]] = []
    with progress() as bar:
        task = bar.add_task("paths", total=len(options.sets))
        for name in map(find, options.sets):
            bar.update(task, description=name)
            rows.append(measure(name, Cs, options.threads))
            bar.advance(task)
    title = f"A path of {options.values} values of C, in cold fits (CPU seconds)"
    show(title, list(rows[0]), [list(row.values()) for row in rows])
    save("path", {"Cs": Cs.tolist(), "threads": options.threads, "rows": rows})


if __name__ == "__main__":
    main()
