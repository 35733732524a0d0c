"""Which rule should classify rows under a learned metric? Validation errors, no test rows.

`SDPMetric` with its defaults is fitted to the rows of each set of `benchmarks.validation`. The vote
of the three nearest rows, the class whose three nearest rows have the least mean squared distance,
and the energy rule of `SDPMetricClassifier` classify the validation rows, under the metric and by
Euclidean distance. "auto" is the rule that the classifier chooses on rows held out of its fits. A
score is the error over that of the vote, half a row added to both; the last column is the geometric
mean over the sets.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.common import Array, parser, progress, save, show
from benchmarks.validation import SETS
from sdpmetric import SDPMetric, SDPMetricClassifier
from sdpmetric.learning.estimators.energies import ClassEnergies

RULES = "vote", "mean", "energy"


def errors(X: Array, y: Array, X_new: Array, y_new: Array) -> dict[str, float]:
    """The error of every rule, for mapped rows."""
    return {rule: float(w.mean()) for rule, w in wrong_rows(X, y, X_new, y_new).items()}


def wrong_rows(X: Array, y: Array, X_new: Array, y_new: Array) -> dict[str, Array]:
    """For every rule, which of the new rows it classifies wrongly; all rows are mapped."""
    classes, codes = np.unique(y, return_inverse=True)
    order, centre = np.argsort(codes, kind="stable"), X.mean(axis=0)
    learned = ClassEnergies.learn((X - centre)[order], codes[order], 3)
    found = {rule: learned.by(rule, X_new - centre) for rule in ("mean", "energy")}
    wrong = {rule: classes[e.argmin(axis=1)] != y_new for rule, e in found.items()}
    return {"vote": KNeighborsClassifier(3).fit(X, y).predict(X_new) != y_new, **wrong}


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--splits", type=int, default=2)
    arguments.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    options = arguments.parse_args(argv)
    rows: list[dict[str, Any]] = []
    with progress() as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task = bar.add_task("sets", total=options.splits * len(options.sets))
        for data in options.sets:
            for seed in range(options.splits):
                X, y, X_new, y_new = SETS[data](seed)
                model = SDPMetricClassifier(SDPMetric(n_jobs=1), rule="auto", n_jobs=1).fit(X, y)
                learned = errors(model.transform_array(X), y, model.transform_array(X_new), y_new)
                learned["auto"] = learned[model.rule_]
                found = {"metric": learned, "Euclidean": errors(X, y, X_new, y_new)}
                for under, by_rule in found.items():
                    shared = {"set": data, "seed": seed, "under": under, "rows": len(y_new)}
                    rows.append(shared | {"errors": by_rule})
                bar.advance(task)
    scores = {under: report(rows, under, options.sets) for under in ("metric", "Euclidean")}
    save("rules", {"splits": options.splits, "scores": scores, "runs": rows})


def report(rows: list[dict[str, Any]], under: str, sets: list[str]) -> dict[str, float]:
    """Print errors by set; return the score of each rule."""

    def mean(data: str, rule: str) -> float:
        chosen = [r["errors"][rule] for r in rows if (r["set"], r["under"]) == (data, under)]
        return float(np.mean(chosen))

    half = {r["set"]: 0.5 / r["rows"] for r in rows}
    rules = next(r["errors"] for r in rows if r["under"] == under)
    logs = {
        rule: [float(np.log((mean(d, rule) + half[d]) / (mean(d, "vote") + half[d]))) for d in sets]
        for rule in rules
    }
    scores = {rule: float(np.exp(np.mean(found))) for rule, found in logs.items()}
    table = [[rule, *(100.0 * mean(d, rule) for d in sets), scores[rule]] for rule in rules]
    show(f"validation error in %, {under}", ["rule", *sets, "score"], table)
    return scores


if __name__ == "__main__":
    main()
