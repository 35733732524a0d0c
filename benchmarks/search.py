"""Does the search choose well? SDPMetricCV beside the defaults on validation rows, no test rows.

Each set of `benchmarks.validation` is split with seeds that no other benchmark has. Euclidean
distance, `SDPMetric()` and `SDPMetricCV()` are fitted to the same rows, one thread, and 3-NN
classifies the validation rows. The score is that of `benchmarks.defaults`: the geometric mean over
the sets of the error over that of Euclidean distance, half a row added to both. Cells are kept
under --label, so that a change of the rule can be run beside the one before.
"""

from __future__ import annotations

import json
import time
import warnings
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning

from benchmarks.common import knn_error, parser, progress, results_folder, save, show
from benchmarks.validation import SETS, Make, Split, reduced, split, stored
from sdpmetric import SDPMetric, SDPMetricCV
from sdpmetric.datasets import make_twin_peaks

FIRST_SEED = 50  # bench-defaults and bench-rules have 0, 1, ...
EUCLIDEAN, DEFAULTS, NOW = "Euclidean", "defaults", "search"
Cells = dict[tuple[str, int, str], dict[str, Any]]


def twin_peaks(n: int) -> Make:
    def make(seed: int) -> Split:
        return split(*make_twin_peaks(n + 2000, random_state=1000 + seed), seed, n)

    return make


SMALL: dict[str, Make] = {
    name: SETS[name]
    for name in (
        *("wine", "balance", "vehicle", "breast cancer", "diabetes", "iris", "wdbc"),
        *("face words", "ORL PCA-42", "diabetes z", "digits"),
    )
} | {"twin peaks 3k": twin_peaks(3000)}
LARGE: dict[str, Make] = {
    "twin peaks 14k": twin_peaks(14_000),
    "Letter 10k": stored("letter", 10_500),
    "USPS PCA-60 5k": reduced(stored("usps", 5200), 60),
    "Banking77 8k": stored("banking77_minilm", 8000),
    "MNIST 7k": stored("mnist_train", 7000),
}


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--splits", type=int, default=4)
    arguments.add_argument("--sets", nargs="+", choices=[*SMALL, *LARGE], default=list(SMALL))
    arguments.add_argument("--label", default=NOW)
    arguments.add_argument("--doubt", type=float, help="another one, with a label of its own")
    options = arguments.parse_args(argv)
    cells = kept()
    given = {} if options.doubt is None else {"doubt": options.doubt}
    names = [EUCLIDEAN, DEFAULTS, options.label if not given else f"doubt {options.doubt:g}"]
    with progress() as bar:
        task = bar.add_task("splits", total=options.splits * len(options.sets))
        for seed in range(FIRST_SEED, FIRST_SEED + options.splits):
            for data in options.sets:
                missing = [name for name in names if (data, seed, name) not in cells]
                if missing:
                    rows = (SMALL | LARGE)[data](seed)
                    cells |= {
                        (data, seed, name): trial(name, rows, seed, given) for name in missing
                    }
                    write(cells)
                bar.advance(task)
    report(cells)


def kept() -> Cells:
    """The cells of earlier runs."""
    path = results_folder() / "search.json"
    if not path.exists():
        return {}
    cells = json.loads(path.read_text())["cells"]
    return {(c["set"], c["seed"], c["name"]): c["found"] for c in cells}


def trial(name: str, rows: Split, seed: int, given: dict[str, Any]) -> dict[str, Any]:
    X, y, X_new, y_new = rows
    if name == EUCLIDEAN:
        return {"error": knn_error(X, y, X_new, y_new), "rows": len(y_new), "cpu": 0.0}
    default = name == DEFAULTS
    metric: Any = SDPMetric() if default else SDPMetricCV(**given)
    metric.set_params(n_jobs=1, random_state=seed)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        metric.fit(X, y)
    cpu = time.process_time() - began
    error = knn_error(metric.transform(X), y, metric.transform(X_new), y_new)
    found = {"error": error, "rows": len(y_new), "cpu": cpu}
    return found | {"params": getattr(metric, "best_params_", None)}


def write(cells: Cells) -> None:
    listed = [
        {"set": data, "seed": seed, "name": name, "found": found}
        for (data, seed, name), found in cells.items()
    ]
    save("search", {"cells": listed})


def report(cells: Cells) -> None:
    """A row for each set, over the splits that every label has; then scores and mean ranks."""
    names = list(dict.fromkeys([EUCLIDEAN, DEFAULTS, *(name for *_, name in cells)]))
    table, logs, ranks = [], [], []
    for data in dict.fromkeys(data for data, *_ in cells):
        by_name = [{seed for d, seed, n in cells if (d, n) == (data, name)} for name in names]
        if not (seeds := sorted(set.intersection(*by_name))):
            continue

        def mean(name: str, what: str, data: str = data, seeds: list[int] = seeds) -> float:
            return float(np.mean([cells[data, seed, name][what] for seed in seeds]))

        error = np.array([mean(name, "error") for name in names])
        half = 0.5 / mean(EUCLIDEAN, "rows")
        logs.append(np.log((error + half) / (error[0] + half)))
        ranks.append(rankdata(error.round(6)))
        fits = [mean(name, "cpu") / mean(DEFAULTS, "cpu") for name in names[2:]]
        table.append([data, len(seeds), *(100.0 * error), *fits])
    rest = [""] * (len(names) - 2)
    table.append(["score", "", *np.exp(np.mean(logs, axis=0)), *rest])
    table.append(["mean rank", "", *np.mean(ranks, axis=0), *rest])
    show(
        "3-NN validation error in %, and CPU time in default fits",
        ["set", "splits", *names, *(f"{name}, fits" for name in names[2:])],
        table,
    )


if __name__ == "__main__":
    main()
