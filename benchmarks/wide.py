"""Wide rows, each in a process of its own: text in CSR with tens of thousands of columns, and dense
float32 rows of 4,096. Seconds, gap and the growth of the peak memory over rows and imports.
"""

from __future__ import annotations

import json
import time
import warnings
from argparse import SUPPRESS
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.common import Array, data_file, parser, progress, save, show
from benchmarks.peers.worker import memory, reset_peak
from benchmarks.processes import measured
from benchmarks.scale import planted
from sdpmetric import SDPMetric, solve
from sdpmetric.evaluation.vote import accuracy
from sdpmetric.linalg.items import items_of

CASES = ("banking77 n-grams", "text-like", "dense")
TEXT_LIKE = 20_000, 100_000  # rows, columns
DENSE = 50_000, 4_096, 400_000  # rows, columns, triplets


def text_like(n: int, D: int) -> tuple[Any, Array]:
    """Rows of some sixty words, frequent ones more often, ten more from their topic."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 20, n)
    common = (D * rng.random((n, 50)) ** 4).astype(np.int64)
    topic = (y[:, None] * 200 + (200 * rng.random((n, 10)) ** 2).astype(np.int64)) * 7 % D
    columns = np.concatenate([common, topic], axis=1)
    rows = np.repeat(np.arange(n), columns.shape[1])
    X = sp.csr_array((np.ones(columns.size), (rows, columns.ravel())), shape=(n, D))
    return X, y


def measure(case: str, limit: float, shrink: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")  # gaps are in the table
    solve(*planted(50, 3, 20))  # compiles
    test = None
    if case == "dense":
        X, given = planted(*(size // shrink for size in DENSE))
        X = X.astype(np.float32)
    elif case == "text-like":
        X, given = text_like(*(size // shrink for size in TEXT_LIKE))
    else:
        with np.load(data_file("banking77_minilm")) as stored:
            texts = np.array(stored["texts_utf8"].tobytes().decode().split("\n"))
            train, rest, y = stored["train_idx"], stored["test_idx"], stored["y"]
        words = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=5)
        X, given = sp.csr_array(words.fit_transform(texts[train])), y[train]
        test = sp.csr_array(words.transform(texts[rest])), y[rest]
    reset_peak()
    before, began = memory("VmRSS"), time.perf_counter()
    fitted: Any
    if case == "dense":
        fitted = solve(X, given, time_limit=limit, n_jobs=2)
        gap, steps, rank = fitted.gap, fitted.n_iter, fitted.rank
    else:
        fitted = SDPMetric(time_limit=limit, n_jobs=2).fit(X, given)
        gap, steps, rank = fitted.gap_, fitted.n_iter_, len(fitted.components_)
    row = {
        "case": case,
        "rows": X.shape[0],
        "columns": X.shape[1],
        "seconds": time.perf_counter() - began,
        "evaluations": steps,
        "gap": gap,
        "rank": rank,
        "growth MB": memory("VmHWM") - before,
        "D x D would be MB": 8.0 * X.shape[1] ** 2 / 2**20,
    }
    if test is not None:
        for name, map_ in (("error before %", lambda A: A), ("error after %", fitted.transform)):
            rows, held = items_of(map_(X)), items_of(map_(test[0]))
            row[name] = 100.0 * (1.0 - accuracy(rows, given, held, test[1]))
    return row


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--limit", type=float, default=150.0, help="seconds of a fit")
    arguments.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    arguments.add_argument(
        "--shrink", type=int, default=1, help="divide the sizes of the random sets by this"
    )
    arguments.add_argument("--one", choices=CASES, help=SUPPRESS)
    options = arguments.parse_args(argv)
    if options.one:
        print(json.dumps(measure(options.one, options.limit, options.shrink)))
        return
    rows = []
    with progress() as bar:
        for case in bar.track(options.cases, description="fits"):
            command = ["--one", case, "--limit", options.limit, "--shrink", options.shrink]
            rows.append(measured("benchmarks.wide", command))
    names = list(dict.fromkeys(name for row in rows for name in row))
    show("Wide rows", names, [[row.get(name, "") for name in names] for row in rows])
    save("wide", {"seed": 0, "limit": options.limit, "shrink": options.shrink, "rows": rows})


if __name__ == "__main__":
    main()
