"""All of MNIST: 60,000 rows to fit and 10,000 to test, plain and deskewed, by vote and by energy.

Inputs are 164 principal components of the pixels, or of the pixels after each image was sheared
upright by its moments. Settings are chosen on 10,000 rows held out of the training rows, by fits to
20,000 of the others. The choice
is written to results/mnist.json before the test rows are read, and each line is fitted and tested
once. Finished fits are kept: an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import json
import time
import warnings
from typing import Any

import numpy as np
from scipy.ndimage import affine_transform
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from benchmarks.common import Array, load, parser, progress, results_folder, save, show
from benchmarks.rules import errors
from sdpmetric import SDPMetric, SDPMetricClassifier

PLAIN, DESKEWED = "PCA-164", "deskewed, PCA-164"
COMPONENTS, HELD = 164, 10_000
CHOICE_ROWS = 20_000  # that settings are chosen by: the search for neighbours is quadratic
CHOICE_TOL = 1e-3  # gap of the fits that settings are chosen by; the last fits have SDPMetric's own

WIDE: dict[str, Any] = {"n_neighbors": 10, "n_impostors": 20, "n_rounds": 3}
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "10 x 20, three rounds": WIDE,
    "10 x 20, three rounds, prior 0.1": WIDE | {"prior_weight": 0.1},
    "10 x 20, three rounds, prior 0.3": WIDE | {"prior_weight": 0.3},
    "5 x 30, three rounds": WIDE | {"n_neighbors": 5, "n_impostors": 30},
    "10 x 20, three rounds, C 5": WIDE | {"C": 5.0},
    "10 x 20, three rounds, C 20": WIDE | {"C": 20.0},
    "10 x 20, three rounds, C 20, prior 0.3": WIDE | {"C": 20.0, "prior_weight": 0.3},
}
# Each line: its input, and the rules among which validation rows choose.
LINES: dict[str, tuple[str, tuple[str, ...]]] = {
    "PCA-164, 3-NN": (PLAIN, ("vote",)),
    "deskewed, PCA-164, 3-NN": (DESKEWED, ("vote",)),
    "deskewed, PCA-164, classifier": (DESKEWED, ("energy", "mean")),
}


def deskewed(images: Array) -> Array:
    """Images sheared so that the covariance of their ink has no slant, their ink in the middle."""
    side = round(images.shape[1] ** 0.5)
    rows, columns = np.mgrid[:side, :side]
    found = np.empty(images.shape, dtype=np.float32)
    middle = np.full(2, (side - 1) / 2)
    for image, out in zip(images, found, strict=True):
        ink = image.reshape(side, side).astype(np.float64)
        total = ink.sum() or 1.0
        centre = np.array([(rows * ink).sum(), (columns * ink).sum()]) / total
        down, right = rows - centre[0], columns - centre[1]
        slant = (down * right * ink).sum() / ((down**2 * ink).sum() or 1.0)
        shear = np.array([[1.0, 0.0], [slant, 1.0]])
        out[:] = affine_transform(ink, shear, centre - shear @ middle, order=1).ravel()
    return found


def inputs(name: str, X: Array, *others: Array) -> list[Array]:
    """The principal components of X, and of other rows by the same map."""
    images = [deskewed(rows) if name == DESKEWED else rows for rows in (X, *others)]
    pca = PCA(min(COMPONENTS, *X.shape), svd_solver="covariance_eigh")
    pca.fit(np.asarray(images[0], dtype=np.float64))
    return [np.ascontiguousarray(pca.transform(rows), dtype=np.float32) for rows in images]


def stored() -> dict[str, Any]:
    path = results_folder() / "mnist.json"
    return json.loads(path.read_text()) if path.exists() else {"trials": [], "chosen": {}}


def measured(metric: Any, X: Array, y: Array) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    metric.fit(X, y)
    return {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def trial(name: str, setting: str, rows: list[Array]) -> dict[str, Any]:
    """Fit to training rows; the errors of every rule on the rows held out."""
    X, y, X_new, y_new = rows
    found: dict[str, Any] = {"input": name, "setting": setting}
    if setting == "Euclidean":
        return found | {"errors": errors(X, y, X_new, y_new)}
    metric = SDPMetric(**SETTINGS[setting], tol=CHOICE_TOL)
    found |= measured(metric, X, y)
    mapped = metric.transform(X), y, metric.transform(X_new), y_new
    return found | {"gap": metric.gap_, "n_iter": metric.n_iter_, "errors": errors(*mapped)}


def choose(content: dict[str, Any], name: str, rules: tuple[str, ...]) -> tuple[str, str]:
    """The setting and the rule with the least validation error on an input."""
    fitted = [t for t in content["trials"] if t["input"] == name and t["setting"] in SETTINGS]
    pairs = [(t["errors"][rule], t["setting"], rule) for t in fitted for rule in rules]
    return min(pairs, key=lambda pair: pair[0])[1:]


def final(content: dict[str, Any], line: str, rows: list[Array]) -> dict[str, Any]:
    """Fit the chosen setting of a line to all training rows; the errors on the test rows."""
    X, y, X_test, y_test = rows
    setting, rule = content["chosen"][line]
    name = LINES[line][0]
    record: dict[str, Any] = {"line": line, "input": name, "setting": setting, "rule": rule}
    record["Euclidean"] = errors(X, y, X_test, y_test)
    for earlier in content["final"]:  # two lines of one fit
        if (earlier["input"], earlier["setting"]) == (name, setting):
            return dict(earlier) | record
    model = SDPMetricClassifier(SDPMetric(**SETTINGS[setting]), rule="energy")
    record |= measured(model, X, y)
    metric = model.metric_
    record |= {"gap": metric.gap_, "n_iter": metric.n_iter_, "rank": len(metric.components_)}
    record["errors"] = errors(metric.transform(X), y, metric.transform(X_test), y_test)
    # The energy rule once more, as a user gets it.
    record["SDPMetricClassifier"] = 1.0 - model.score(X_test, y_test)
    return record


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    arguments.add_argument("--held", type=int, default=HELD)
    arguments.add_argument("--rows", type=int, default=CHOICE_ROWS, help="to choose settings by")
    arguments.add_argument("--choose-only", action="store_true", help="do not read the test rows")
    options = arguments.parse_args(argv)
    warnings.simplefilter("ignore", ConvergenceWarning)  # gaps are in the results
    X, y = load("mnist_train")
    order = np.random.default_rng(0).permutation(len(y))
    held, rest = order[: options.held], order[options.held :]
    train = rest[: options.rows]
    names = ["Euclidean", *options.settings]
    with progress() as bar:
        task = bar.add_task("fits", total=2 * len(names))
        for name in (PLAIN, DESKEWED):
            content = stored()
            done = {(t["input"], t["setting"]) for t in content["trials"]}
            missing = [setting for setting in names if (name, setting) not in done]
            bar.advance(task, len(names) - len(missing))
            if not missing:
                continue
            A, B = inputs(name, X[train], X[held])
            for setting in missing:
                content["trials"].append(trial(name, setting, [A, y[train], B, y[held]]))
                save("mnist", content)
                bar.advance(task)
    content = stored()
    content["chosen"] = {line: choose(content, *of) for line, of in LINES.items()}
    save("mnist", content)
    if not options.choose_only:
        X_test, y_test = load("mnist_test")
        content["final"] = []
        for line, (name, _) in LINES.items():
            A, B = inputs(name, X, X_test)
            content["final"].append(final(content, line, [A, y, B, y_test]))
            save("mnist", content)
    report(content)


def report(content: dict[str, Any]) -> None:
    """Print the validation errors of all settings, and the test errors of the chosen ones."""
    rules = list(content["trials"][0]["errors"])

    def minutes(row: dict[str, Any]) -> list[object]:
        return [row[what] / 60 if what in row else "" for what in ("seconds", "cpu")]

    show(
        "validation error in %, rows held out of the training rows",
        ["input", "setting", *rules, "minutes", "CPU minutes"],
        [
            [t["input"], t["setting"], *(100.0 * t["errors"][r] for r in rules), *minutes(t)]
            for t in content["trials"]
        ],
    )
    show(
        "test error in %",
        ["line", "setting", "rule", "Euclidean", "learned", "minutes", "CPU minutes"],
        [
            [
                *(f["line"], f["setting"], f["rule"]),
                *(100.0 * f[under][f["rule"]] for under in ("Euclidean", "errors")),
                *minutes(f),
            ]
            for f in content.get("final", [])
        ],
    )


if __name__ == "__main__":
    main()
