"""What a path over C costs, against one cold fit of the same rows.

Two ratios: both to the same gap, and as `SDPMetricCV` does it: the path to a gap of 1e-3, the cold
fit, `SDPMetric` with its defaults, to 1e-4. A fit includes the search for neighbours, which a path
makes once. The cold fit is the mean of fits at every C of the path, since they differ a good deal.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.common import Array, parser, progress, save, show
from benchmarks.peers.data import SETS, find
from sdpmetric import SDPMetric
from sdpmetric._support.deadline import Deadline
from sdpmetric.engines.threads import thread_pool
from sdpmetric.learning.fit.labelled import LabelledRows
from sdpmetric.learning.fit.parameters import FitParameters
from sdpmetric.learning.selection.label_split import LabelCandidate, LabelSplit
from sdpmetric.linalg.items import items_of

NAMES = ("wine", "vehicle", "digits", "Letter", "USPS PCA-60", "MNIST PCA-60")


def path_seconds(X: Array, y: Array, Cs: Array, tol: float, threads: int) -> tuple[float, int]:
    """A path as a fold of `SDPMetricCV` walks it, scores left out; and the fits it made.

    This is the only function here that uses what is internal to the search: a whole `SDPMetricCV`
    would add its last fit and its scores to the path.
    """
    began = time.process_time()
    fit = FitParameters(
        loss="huber",
        C=2.0,
        h=0.02,
        prior="identity",
        prior_weight=0.0,
        n_components=None,
        solver="low-rank",
        solver_options=None,
        tol=tol,
        max_iter=3000,
        time_limit=None,
        random_state=None,
        n_jobs=threads,
    ).resolve(X.shape[1], Deadline())
    candidate = LabelCandidate(
        coordinates="raw",
        n_neighbors=3,
        n_impostors=3,
        n_rounds=1,
        triplets="knn",
        prior_weight=0.0,
        h=0.02,
    )
    with thread_pool(threads):
        split = LabelSplit(
            fit=fit,
            losses={0.02: fit.loss},
            train=LabelledRows(items_of(X), y),
            train_codes=y,
            held=items_of(X[:1]),
            held_codes=y[:1],
            widest=candidate.rule,
            scoring="knn",
        )
        split.trials(candidate, list(Cs))
    (view,) = split.in_use.values()
    return time.process_time() - began, len(view.fits)


def cold_seconds(X: Array, y: Array, C: float, tol: float, threads: int) -> float:
    began = time.process_time()
    SDPMetric(C=float(C), tol=tol, n_jobs=threads).fit(X, y)
    return time.process_time() - began


def measure(name: str, Cs: Array, threads: int, repeats: int) -> dict[str, Any]:
    """The least CPU seconds of some repeats count: other work can only add to them."""
    X, y, _, _ = SETS[name].make(0)
    y = np.unique(y, return_inverse=True)[1]
    cold = {
        tol: [min(cold_seconds(X, y, C, tol, threads) for _ in range(repeats)) for C in Cs]
        for tol in (1e-3, 1e-4)
    }
    path = {
        tol: min(path_seconds(X, y, Cs, tol, threads) for _ in range(repeats))
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


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--sets", nargs="+", default=list(NAMES))
    arguments.add_argument("--values", type=int, default=12, help="of C")
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--repeats", type=int, default=3, help="of each fit and each path")
    options = arguments.parse_args(argv)
    Cs = np.geomspace(1.25, 40.0, options.values)
    rows: list[dict[str, Any]] = []
    with progress() as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # gaps are not the subject
        task = bar.add_task("paths", total=len(options.sets))
        for name in map(find, options.sets):
            bar.update(task, description=name)
            rows.append(measure(name, Cs, options.threads, options.repeats))
            bar.advance(task)
    title = f"A path of {options.values} values of C, in cold fits (CPU seconds)"
    show(title, list(rows[0]), [list(row.values()) for row in rows])
    save("path", {"Cs": Cs.tolist(), "threads": options.threads, "rows": rows})


if __name__ == "__main__":
    main()
