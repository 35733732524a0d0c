"""The search for neighbours: exact against bare matrix products, approximate against exact.

Exact: k-nearest triplets of MNIST's 60,000 training images, float32, against nothing but the
blocked products that they need, same blocks, same precision, same threads. Approximate: the same
rows, and clustered rows of 64 columns, with the share of the true neighbours that it found, on a
sample of rows that is searched exhaustively.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common import Array, load, parser, progress, save, show
from sdpmetric.engines.threads import map_parts, thread_pool
from sdpmetric.linalg.items import items_of
from sdpmetric.linalg.lower_bounds import DenseTable
from sdpmetric.triplets.nearest import nearest_by_class
from sdpmetric.triplets.nearest_faiss import approximately_nearest_by_class

SAMPLE = 300


def bare_products(X: Array) -> None:
    """Every tile of products that the exact search makes, and nothing else."""
    table = DenseTable(items_of(X))
    n, (rows, columns) = len(X), table.tile

    def scan(part: slice) -> None:
        room = np.empty(rows * columns, dtype=np.float32)
        for first in range(part.start, part.stop, rows):
            A = table.rows(slice(first, min(first + rows, part.stop)))
            for column in range(0, n, columns):
                table.products(A, slice(column, min(column + columns, n)), room)

    map_parts(n, scan)


def clustered(n: int) -> tuple[Array, Array]:
    """Twenty classes of five clusters each, 64 columns of which 16 tell them apart."""
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, 100, size=n)
    X = rng.standard_normal((n, 64), dtype=np.float32)
    X[:, :16] += 2.0 * rng.standard_normal((100, 16)).astype(np.float32)[cluster]
    return X, cluster % 20


def sampled_recall(X: Array, y: Array, found: tuple[Array, Array]) -> list[float]:
    """The share of the true neighbours found, on rows searched exhaustively."""
    rows = np.random.default_rng(1).choice(len(X), min(SAMPLE, len(X)), replace=False)
    everything = np.arange(len(X))
    hits = np.zeros(2)
    for row in rows:
        distances = items_of(X).squared_differences(np.full(len(X), row), everything)
        for g, near in enumerate(found):
            right = (y == y[row]) == (g == 0)
            right[row] = False
            ranked = np.flatnonzero(right)[np.argsort(distances[right])[: near.shape[1]]]
            hits[g] += len(np.intersect1d(ranked, near[row])) / near.shape[1]
    return [float(share) for share in hits / len(rows)]


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--rows", type=int, default=200_000, help="of the clustered set")
    options = arguments.parse_args(argv)
    X, y = load("mnist_train")
    sets: dict[str, Any] = {
        f"MNIST {len(X):,} x {X.shape[1]}": (X.astype(np.float32) / 255.0, y),
        f"clusters {options.rows:,} x 64": clustered(options.rows),
    }
    rows: list[list[object]] = []
    timed: list[dict[str, Any]] = []
    with progress() as bar, thread_pool(options.threads):
        task = bar.add_task("searches", total=4)

        def run(what: str, name: str, work: Any) -> Any:
            bar.update(task, description=f"{what}, {name}")
            began = time.perf_counter()
            result = work()
            timed.append({"data": name, "what": what, "seconds": time.perf_counter() - began})
            bar.advance(task)
            return result

        nearest_by_class(items_of(X[:100].astype(np.float32)), y[:100] % 2, 3, 3)  # compiles
        for name, (X, y) in sets.items():
            if "MNIST" in name:
                run("bare products", name, partial(bare_products, X))
                run("exact", name, partial(nearest_by_class, items_of(X), y, 3, 3))
                timed[-1]["ratio"] = timed[-1]["seconds"] / timed[-2]["seconds"]
            search = partial(approximately_nearest_by_class, items_of(X), y, 3, 3)
            found = run("approximate", name, search)
            timed[-1]["recall"] = sampled_recall(X, y, found)
            save("mining", {"threads": options.threads, "seeds": [0, 1], "searches": timed})
    for t in timed:
        recall = ", ".join(f"{100 * share:.1f} %" for share in t.get("recall", []))
        rows.append([t["data"], t["what"], t["seconds"], t.get("ratio", ""), recall])
    columns = ["data", "search", "seconds", "to bare products", "recall: same, other class"]
    show("Nearest rows by class, 3 and 3", columns, rows)


if __name__ == "__main__":
    main()
