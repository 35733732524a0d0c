"""Which settings should be the defaults? Validation errors on sets of many kinds, no test rows.

Every setting is fitted to the same rows of each set (`benchmarks.validation`), one thread, and 3-NN
classifies the validation rows. The score of a setting on a set is its error over that of Euclidean
distance on the same rows, half a row added to both so that an error of zero does not decide alone;
its score is the geometric mean over the sets. Each set is also left out once: if the best setting
without it is not the best of all, the choice hangs on that set.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.common import CONSOLE, knn_error, parser, progress, results_folder, save, show
from benchmarks.validation import SETS, Split
from sdpmetric import SDPMetric

EUCLIDEAN, BEFORE, NOW = "Euclidean", "3 x 3, raw, tol 1e-4 (before)", "defaults"

BASE: dict[str, Any] = {"n_neighbors": 5, "n_impostors": 10, "n_rounds": 1, "h": 0.05}
SETTINGS: dict[str, dict[str, Any]] = {
    NOW: {},
    BEFORE: {
        **{"n_neighbors": 3, "n_impostors": 3, "C": 10.0, "h": 0.02, "tol": 1e-4},
        **{"coordinates": "raw", "n_rounds": 1, "prior_weight": 0.0},
    },
    "5 x 10": BASE,
    "5 x 10, raw": BASE | {"coordinates": "raw"},
    "5 x 10, standard": BASE | {"coordinates": "standard"},
    "3 x 10": BASE | {"n_neighbors": 3},
    "5 x 20": BASE | {"n_impostors": 20},
    "5 x 10, C 5": BASE | {"C": 5.0},
    "5 x 10, h 0.02": BASE | {"h": 0.02},
    "5 x 10, h 0.1": BASE | {"h": 0.1},
    "5 x 10, tol 1e-3": BASE | {"tol": 1e-3},
    "5 x 20, two rounds": BASE | {"n_impostors": 20, "n_rounds": 2},
    "3 x 10, two rounds": BASE | {"n_neighbors": 3, "n_rounds": 2},
    "5 x 10, two rounds, C 5": BASE | {"n_rounds": 2, "C": 5.0},
    "5 x 10, two rounds, C 7": BASE | {"n_rounds": 2, "C": 7.0},
    "5 x 10, two rounds, C 10": BASE | {"n_rounds": 2, "C": 10.0},
    "5 x 10, two rounds, C 14": BASE | {"n_rounds": 2, "C": 14.0},
    "10 x 10, two rounds, C 7": BASE | {"n_neighbors": 10, "n_rounds": 2, "C": 7.0},
    "5 x 10, prior 0.1": BASE | {"prior_weight": 0.1},
    "5 x 10, prior 0.3": BASE | {"prior_weight": 0.3},
}
Cells = dict[tuple[str, int, str], dict[str, Any]]


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--splits", type=int, default=3)
    arguments.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    arguments.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    options = arguments.parse_args(argv)
    cells = stored()
    names = [EUCLIDEAN, *options.settings]
    with progress() as bar:
        task = bar.add_task("fits", total=options.splits * len(options.sets) * len(names))
        for seed in range(options.splits):
            for data in options.sets:
                missing = [name for name in names if (data, seed, key(name)) not in cells]
                rows = SETS[data](seed) if missing else None
                for name in missing:
                    assert rows is not None
                    cells[data, seed, key(name)] = trial(name, rows)
                bar.advance(task, len(names))
            report(cells, options.sets, names)


def key(name: str) -> str:
    """A hash of all values of a setting, so that cells of other defaults are never mixed in."""
    if name == EUCLIDEAN:
        return name
    values = json.dumps(SDPMetric(**SETTINGS[name]).get_params(), sort_keys=True)
    return hashlib.sha256(values.encode()).hexdigest()[:12]


def stored() -> Cells:
    """The cells of an earlier run, which is thereby continued."""
    path = results_folder() / "defaults.json"
    if not path.exists():
        return {}
    cells = json.loads(path.read_text()).get("cells", [])
    return {(c["set"], c["seed"], c["key"]): c["found"] for c in cells}


def trial(name: str, rows: Split) -> dict[str, Any]:
    X, y, X_new, y_new = rows
    if name == EUCLIDEAN:
        return {"error": knn_error(X, y, X_new, y_new), "rows": len(y_new), "cpu": 0.0}
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        metric = SDPMetric(**SETTINGS[name], n_jobs=1).fit(X, y)
    cpu = time.process_time() - began
    error = knn_error(metric.transform(X), y, metric.transform(X_new), y_new)
    found = {"error": error, "rows": len(y_new), "cpu": cpu}
    return found | {"coordinates": metric.coordinates_.kind, "n_iter": metric.n_iter_}


def report(cells: Cells, sets: list[str], names: list[str]) -> None:
    """Print the table and write the results; cells of all runs are kept."""
    seeds = sorted({seed for data, seed, _ in cells if data in sets})

    def mean(name: str, data: str, what: str) -> float:
        found = [cells[data, s, key(name)][what] for s in seeds if (data, s, key(name)) in cells]
        return float(np.mean(found))

    # Half a row is added: single splits of an easy set have errors of zero.
    half = {data: 0.5 / mean(EUCLIDEAN, data, "rows") for data in sets}
    error = {name: np.array([mean(name, data, "error") for data in sets]) for name in names}
    floor = np.array([half[data] for data in sets])
    ratio = {n: (error[n] + floor) / (error[EUCLIDEAN] + floor) for n in names}
    score = {n: float(np.exp(np.log(ratio[n]).mean())) for n in names}
    reference = BEFORE if BEFORE in names else names[-1]
    cost = {
        n: [mean(n, d, "cpu") / max(1e-9, mean(reference, d, "cpu")) for d in sets] for n in names
    }
    order = sorted(names, key=lambda n: score[n])
    learned = [n for n in names if n != EUCLIDEAN]
    without = {
        data: min(learned, key=lambda n: float(np.delete(np.log(ratio[n]), i).mean()))
        for i, data in enumerate(sets)
        if len(sets) > 1
    }
    show(
        "3-NN validation error in %; worst: highest ratio to Euclidean; CPU: to the first defaults",
        ["setting", "score", "worst", "CPU", *sets],
        [
            [
                *(n, score[n], float(ratio[n].max()), float(np.exp(np.log(cost[n]).mean()))),
                *(100.0 * error[n]).tolist(),
            ]
            for n in order
            if n != EUCLIDEAN
        ]
        + [[EUCLIDEAN, 1.0, 1.0, 0.0, *(100.0 * error[EUCLIDEAN]).tolist()]],
    )
    CONSOLE.print(f"best without one set: {without}")
    save(
        "defaults",
        {
            "splits": len(seeds),
            "sets": sets,
            "settings": [
                {
                    **{"name": n, "score": score[n], "worst": float(ratio[n].max())},
                    **{"errors": error[n].tolist(), "cpu_ratios": cost[n]},
                }
                for n in order
            ],
            "best_without": without,
            "cells": [
                {"set": data, "seed": seed, "key": which, "found": found}
                for (data, seed, which), found in cells.items()
            ],
        },
    )


if __name__ == "__main__":
    main()
