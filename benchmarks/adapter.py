"""A metric as an adapter on sentence embeddings: Banking77, before and after.

The test questions search the training questions; what has the same intent is relevant. Before:
the embeddings as they are (384 columns), and cut to 64 by PCA. After: metrics of the same sizes,
learned from the training labels or from 200 to 20,000 triplets. At 64 columns the metric leans on
the projection to the PCA's columns, so that weight 1 of the prior is the row before, as it is with
the identity at 384.

Every choice is made on training rows: by nDCG@10 of a held-out fifth, or by held-out triplets. The
test questions are scored once per row of the table. Intervals: 95 %, bootstrap over test questions
of the difference to the row before; they do not include the luck of the training sample.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.model_selection import GroupKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from benchmarks import common
from benchmarks.common import Array, data_file, parser, progress, save, show
from sdpmetric import (
    SDPMetric,
    SDPMetricCV,
    TripletSDPMetric,
    TripletSDPMetricCV,
    retrieval_scores,
)
from sdpmetric.linalg.items import items_of

SEED = 0
RANKS = 1, 5, 10, 100
WEIGHTS = 0.25, 0.5, 0.75, 0.9, 0.97, 1.0  # of the prior, for triplets
LABEL_WEIGHTS = 0.0, 0.1, 0.25, 0.5
NEIGHBOURS = (3, 3), (5, 10), (10, 30)
FOLDS = 3
CUT = 64  # columns that are left by PCA
SHOWN = 50  # nearest rows of a question, of which one is clicked and one is not
RESAMPLES = 2000
COLUMNS = "hit@1", "hit@5", "hit@10", "recall@100", "map", "mrr", "ndcg@10", "3-NN error"
SETTINGS: dict[str, Any] = {"tol": 1e-3, "n_jobs": 2}


@dataclass(frozen=True)
class Data:
    """Rows that may be learned from, and rows that are scored once."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array

    @property
    def sizes(self) -> tuple[int, int]:
        """All columns, and those that are left by PCA."""
        columns = self.X.shape[1]
        return columns, min(CUT, columns // 2)


@dataclass
class Row:
    """One method at one size; ``model`` is None for the rows as they are."""

    name: str
    size: int
    model: Any
    chosen: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


def banking(per_class: int | None) -> Data:
    with np.load(data_file("banking77_minilm")) as stored:
        X, y = stored["X"], stored["y"]
        train, test = stored["train_idx"], stored["test_idx"]
    if per_class is not None:  # a trial must not see the test rows: both parts are training rows
        order = np.argsort(y[train], kind="stable")
        starts = np.searchsorted(y[train][order], np.unique(y[train]))
        picked = train[order[starts[:, None] + np.arange(3 * per_class // 2)]]
        train, test = picked[:, :per_class].ravel(), picked[:, per_class:].ravel()
    return Data(X[train], y[train], X[test], y[test])


def drawn_triplets(data: Data, m: int) -> Array:
    """As from clicks: a question, and of the rows nearest to it one of its intent and one not.

    Both come from one list. Had the far one been sought nearest to the question and the near one
    drawn from its whole intent, Euclidean would be wrong by design, and held-out triplets would
    prefer any metric that differs from it, however bad.
    """
    rng = np.random.default_rng(SEED)
    count = min(SHOWN, len(data.X) - 1)
    search = NearestNeighbors(n_neighbors=count, algorithm="brute").fit(data.X)
    shown = search.kneighbors(return_distance=False)
    relevant = data.y[shown] == data.y[:, None]
    askable = np.flatnonzero(relevant.any(axis=1) & ~relevant.all(axis=1))
    anchors = rng.choice(askable, m)
    luck = rng.random((m, count))
    near, far = (
        shown[anchors, np.argmax(np.where(mask, luck, -1.0), axis=1)]
        for mask in (relevant[anchors], ~relevant[anchors])
    )
    return np.stack([anchors, near, far], axis=1)


def prior_of(size: int, X: Array) -> dict[str, Any]:
    """What a metric of this size leans on: the identity, or the projection to PCA's columns."""
    if size == X.shape[1]:
        return {"prior": "identity"}
    V = PCA(size, random_state=SEED).fit(X).components_.astype(np.float64)
    return {"prior": V.T @ V, "n_components": size}


def before(data: Data) -> Iterator[Row]:
    size, cut = data.sizes
    yield Row("Euclidean", size, None)
    began = time.perf_counter()
    pca = PCA(cut, random_state=SEED).fit(data.X)
    yield Row("PCA", cut, pca, seconds=time.perf_counter() - began)


def from_labels(data: Data, size: int) -> Row:
    """SDPMetric; neighbours and weight of the prior by nDCG@10 of a held-out fifth."""
    A, B, a, b = train_test_split(data.X, data.y, test_size=0.2, random_state=SEED, stratify=data.y)
    prior = prior_of(size, A)
    began = time.perf_counter()
    table = []
    for (near, far), weight in [*product(NEIGHBOURS, LABEL_WEIGHTS), (NEIGHBOURS[0], 1.0)]:
        chosen: dict[str, Any] = {"n_neighbors": near, "n_impostors": far, "prior_weight": weight}
        metric = SDPMetric(**prior, **chosen, **SETTINGS).fit(A, a)
        scores = retrieval_scores(B, b, A, a, k=10, metric=metric, n_jobs=SETTINGS["n_jobs"])
        table.append((scores["ndcg@10"], chosen))
    chosen = max(table, key=lambda entry: entry[0])[1]
    model = SDPMetric(**prior_of(size, data.X), **chosen, **SETTINGS).fit(data.X, data.y)
    return Row("labels", size, model, chosen, time.perf_counter() - began)


def from_triplets(data: Data, triplets: Array, size: int) -> Row:
    """TripletSDPMetric; the weight of the prior by triplets of held-out anchors.

    Weight 1, the row before, unless the best gains more than one standard error on it.
    """
    began = time.perf_counter()
    prior = prior_of(size, data.X)  # knows no label
    right = np.empty((len(WEIGHTS), len(triplets)))
    for fold, held in GroupKFold(FOLDS).split(triplets, groups=triplets[:, 0]):
        for w, weight in enumerate(WEIGHTS):
            model = TripletSDPMetric(**prior, prior_weight=weight, **SETTINGS)
            right[w, held] = answers(model.fit(data.X, triplets[fold]), data.X, triplets[held])
    best = int(np.argmax(right.mean(axis=1)))
    gain = right[best] - right[-1]
    if gain.mean() <= standard_error(gain, triplets[:, 0]):
        best = len(WEIGHTS) - 1
    model = TripletSDPMetric(**prior, prior_weight=WEIGHTS[best], **SETTINGS)
    model.fit(data.X, triplets)
    chosen = {
        "prior_weight": WEIGHTS[best],
        "held_out_accuracy": dict(zip(map(str, WEIGHTS), right.mean(axis=1), strict=True)),
    }
    name = f"{len(triplets):,} triplets"
    return Row(name, size, model, chosen, time.perf_counter() - began)


def answers(metric: Any, X: Array, triplets: Array) -> Array:
    """Which triplets the metric answers rightly."""
    Z = items_of(metric.transform(X))
    near, far = (Z.squared_differences(triplets[:, 0], triplets[:, c]) for c in (1, 2))
    return near < far


def standard_error(gain: Array, anchors: Array) -> float:
    """Of the mean gain; triplets of one anchor may be right or wrong together."""
    sums = np.bincount(anchors, gain - gain.mean())
    return float(np.sqrt(np.sum(sums**2)) / len(gain))


def with_cv(data: Data, triplets: Array, **search: int | None) -> Iterator[Callable[[], Row]]:
    """The library's own searches, with their defaults unless ``search`` has others."""
    given: dict[str, Any] = {name: n for name, n in search.items() if n is not None}

    def fitted(name: str, model: Any, y: Array) -> Row:
        began = time.perf_counter()
        model.fit(data.X, y)
        chosen = {key: repr(value) for key, value in model.best_params_.items()}
        return Row(name, data.sizes[0], model, chosen, time.perf_counter() - began)

    yield lambda: fitted("labels, SDPMetricCV", SDPMetricCV(**given), data.y)
    name = f"{len(triplets):,} triplets, CV"
    yield lambda: fitted(name, TripletSDPMetricCV(**given), triplets)


def scored(row: Row, data: Data) -> dict[str, Array]:
    """Every score of each test question."""
    G, Q = data.X, data.X_test
    if row.model is not None:
        G, Q = row.model.transform(G), row.model.transform(Q)
    scores = retrieval_scores(Q, data.y_test, G, data.y, k=RANKS, n_jobs=SETTINGS["n_jobs"])
    votes = KNeighborsClassifier(3, algorithm="brute").fit(G, data.y).predict(Q)
    return {**scores.per_query, "3-NN error": (votes != data.y_test).astype(float)}


def interval(difference: Array) -> list[float]:
    """The mean and its 95 % interval by bootstrap."""
    rng = np.random.default_rng(SEED)
    n = len(difference)
    means = difference[rng.integers(0, n, (RESAMPLES, n))].mean(axis=1)
    return [float(difference.mean()), *(float(q) for q in np.quantile(means, [0.025, 0.975]))]


def record(row: Row, scores: dict[str, Array], base: dict[str, Array] | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"method": row.name, "size": row.size, "seconds": row.seconds}
    entry["chosen"] = row.chosen
    entry["gap"] = getattr(row.model, "gap_", None)
    entry["scores"] = {name: float(values.mean()) for name, values in scores.items()}
    if base is not None:
        entry["gain"] = {name: interval(scores[name] - base[name]) for name in scores}
    return entry


def report(entries: list[dict[str, Any]]) -> None:
    rows = []
    for e in entries:
        values = [f"{100 * e['scores'][name]:.2f}" for name in COLUMNS]
        gains = [
            "{:+.2f} [{:+.2f}, {:+.2f}]".format(*(100 * v for v in e["gain"][name]))
            if "gain" in e
            else ""
            for name in ("ndcg@10", "3-NN error")
        ]
        rows.append([f"{e['method']}, {e['size']}", *values, *gains, f"{e['seconds']:.0f}"])
    show(
        "Banking77: test questions search training questions, percent",
        ["method, columns", *COLUMNS, "gain in nDCG@10", "change of error", "seconds"],
        rows,
    )


def draw(entries: list[dict[str, Any]]) -> None:
    """Differences to the row before, with intervals."""
    learned = [e for e in entries if "gain" in e]
    shown = "hit@1", "ndcg@10", "map", "3-NN error"
    sizes = sorted({e["size"] for e in entries}, reverse=True)
    colours = dict(zip(sizes, ("tab:blue", "tab:orange"), strict=True))
    figure = Figure(figsize=(11, 0.42 * len(learned) + 1.7), layout="constrained")
    axes = figure.subplots(1, len(shown), sharey=True)
    for axis, name in zip(axes, shown, strict=True):
        axis.axvline(0.0, color="0.6", linewidth=1)
        for place, e in enumerate(learned):
            mean, low, high = (100 * v for v in e["gain"][name])
            axis.errorbar(
                mean, place, xerr=[[mean - low], [high - mean]], fmt="o", color=colours[e["size"]]
            )
        good = "lower" if name == "3-NN error" else "higher"
        axis.set_title(f"{name} ({good} is better)", fontsize=10)
        axis.set_xlabel("difference, points")
        axis.grid(axis="x", alpha=0.3)
    axes[0].set_yticks(range(len(learned)), [f"{e['method']}, {e['size']}" for e in learned])
    axes[0].invert_yaxis()
    figure.suptitle(
        f"Banking77 after less before (Euclidean at {sizes[0]} columns, PCA at {sizes[1]}), 95 % "
        "bootstrap over test questions",
        fontsize=11,
    )
    common.save_picture(figure, "adapter", dpi=120)


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument(
        "--quick",
        action="store_true",
        help="20 training rows a class, searched by 10 others; no test row, nothing written",
    )
    arguments.add_argument(
        "--only-cv", action="store_true", help="the searches alone; other rows are kept"
    )
    arguments.add_argument("--triplets", type=int, nargs="+", default=[200, 2000, 20_000])
    arguments.add_argument("--Cs", type=int, help="values of C in the searches")
    arguments.add_argument("--cv", type=int, help="folds of the searches")
    options = arguments.parse_args(argv)
    data = banking(20 if options.quick else None)
    counts = options.triplets[:2] if options.quick else options.triplets
    triplets = drawn_triplets(data, counts[-1])
    tasks: list[Callable[[], Row]] = [partial(given, row) for row in before(data)]
    for size in () if options.only_cv else data.sizes:
        tasks.append(partial(from_labels, data, size))
        tasks += [partial(from_triplets, data, triplets[:m], size) for m in counts]
    tasks += with_cv(data, triplets, Cs=options.Cs, cv=options.cv)
    began = time.perf_counter()
    entries = run(tasks, data)
    if options.only_cv:
        entries = [*entries[:2], *kept(entries), *entries[2:]]
    report(entries)
    if not options.quick:
        content = {"seed": SEED, "seconds": time.perf_counter() - began, "rows": entries}
        save("adapter", content)
        draw(entries)


def given(row: Row) -> Row:
    return row


def run(tasks: list[Callable[[], Row]], data: Data) -> list[dict[str, Any]]:
    """Make and score every row; the first row of a size is the one before."""
    base: dict[int, dict[str, Array]] = {}
    entries: list[dict[str, Any]] = []
    with progress() as bar, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*class\\(es\\) have fewer than n_neighbors")
        for task in bar.track(tasks, description="methods"):
            row = task()
            scores = scored(row, data)
            entries.append(record(row, scores, base.get(row.size)))
            base.setdefault(row.size, scores)
    return entries


def kept(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The stored rows of methods that were not run again."""
    path = common.results_folder() / "adapter.json"
    stored = json.loads(path.read_text())["rows"] if path.exists() else []
    new = {(e["method"], e["size"]) for e in entries}
    return [e for e in stored if (e["method"], e["size"]) not in new]


if __name__ == "__main__":
    main()
