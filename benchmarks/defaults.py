"""Which loss, C and h should be the defaults? Mean validation error over the small data sets.

Each set is split at random into 70 % training and 30 % validation, raw and standardised; a
metric is learned on the training rows for every setting and 3-NN classifies the validation rows.
A setting's score on a set is its error divided by that of the Euclidean metric on the same
split; the default is the setting with the lowest mean score. No test set is touched.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import product
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks.common import CONSOLE, Array, load, progress, save, show
from sdpmetric import SDPMetric

SETS = ("wine", "balance", "vehicle", "breast_cancer", "diabetes", "digits")
SETTINGS: list[dict[str, Any]] = [
    {"loss": "squared_hinge", "C": C} for C in (1.0, 5.0, 20.0, 50.0, 200.0, 1000.0, 5000.0)
] + [
    {"loss": "huber", "C": C, "h": h}
    for C, h in product((2.0, 3.0, 5.0, 10.0, 20.0, 50.0), (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0))
]


def error(X: Array, y: Array, X_new: Array, y_new: Array) -> float:
    return 1.0 - float(KNeighborsClassifier(3).fit(X, y).score(X_new, y_new))


def percent(errors: Array) -> list[float]:
    return [float(100 * e) for e in errors.mean(axis=-1)]


def label(setting: dict[str, Any]) -> str:
    numbers = " ".join(f"{key}={value:g}" for key, value in setting.items() if key != "loss")
    return f"{'S' if setting['loss'] == 'squared_hinge' else 'H'} {numbers}"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--splits", type=int, default=10)
    options = parser.parse_args(argv)
    cases = [(name, scaled) for name in SETS for scaled in (False, True)]
    errors = np.empty((len(cases), len(SETTINGS), options.splits))
    euclidean = np.empty((len(cases), options.splits))
    seconds = np.zeros(len(SETTINGS))
    with progress() as bar:
        task = bar.add_task("fits", total=errors.size)
        for c, (name, scaled) in enumerate(cases):
            X, y = load(name)
            for split in range(options.splits):
                A, B, a, b = train_test_split(X, y, test_size=0.3, random_state=split, stratify=y)
                if scaled:
                    scaler = StandardScaler().fit(A)
                    A, B = scaler.transform(A), scaler.transform(B)
                euclidean[c, split] = error(A, a, B, b)
                for s, setting in enumerate(SETTINGS):
                    began = time.perf_counter()
                    metric = fit(setting, A, a)
                    seconds[s] += time.perf_counter() - began
                    errors[c, s, split] = error(metric.transform(A), a, metric.transform(B), b)
                    bar.advance(task)
    report(cases, errors, euclidean, seconds / (len(cases) * options.splits), options.splits)


def fit(setting: dict[str, Any], X: Array, y: Array) -> SDPMetric:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SDPMetric(**setting, n_jobs=1).fit(X, y)


def report(
    cases: list[tuple[str, bool]], errors: Array, euclidean: Array, seconds: Array, splits: int
) -> None:
    # A ratio of means: single splits of an easy set have errors of zero.
    ratios = errors.mean(axis=2) / euclidean.mean(axis=1)[:, None]
    score = ratios.mean(axis=0)
    order = np.argsort(score)
    names = [f"{name}{' z' if scaled else ''}" for name, scaled in cases]
    rows = [
        [label(SETTINGS[s]), float(score[s]), float(1e3 * seconds[s]), *percent(errors[:, s])]
        for s in order[:12]
    ]
    rows.append(["Euclidean", 1.0, 0.0, *percent(euclidean)])
    for loss in ("squared_hinge", "huber"):
        best = next(s for s in order if SETTINGS[s]["loss"] == loss)
        CONSOLE.print(f"best {loss}: {label(SETTINGS[best])} (score {score[best]:.3f})")
    show(
        "3-NN validation error in %, z: standardised; ms: mean time of a fit",
        ["setting", "score", "ms", *names],
        rows,
    )
    save(
        "defaults",
        {
            "splits": splits,
            "seeds": list(range(splits)),
            "cases": names,
            "euclidean": euclidean.mean(axis=1).tolist(),
            "settings": [
                {
                    **SETTINGS[s],
                    "score": score[s],
                    "seconds": seconds[s],
                    "errors": errors[:, s].mean(axis=1).tolist(),
                }
                for s in order
            ],
        },
    )


if __name__ == "__main__":
    main()
