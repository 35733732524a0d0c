"""Seconds of an evaluation on a Dask cluster, against threads; memory, bytes, and a cost model.

Random items, and random triplets whose order a planted metric decides. Random triplets are the
worst case for a cluster: every part needs most of the rows. An evaluation is value and gradient at
a factor of 32 columns. Threads and workers take turns, so that other work on the machine meets
both. The model is fitted to CPU seconds, which other work changes less than the clock: those of the
busiest worker, plus those of the client and the scheduler, which the workers wait for; the least of
all repetitions, since other work takes caches and memory away.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.cluster import model, networks, on_workers
from benchmarks.common import CONSOLE, Array, least_cpu, parser, results_folder, save, show
from benchmarks.scale import RANK, planted

SIZES = [(10**5, 64, 9 * 10**5), (10**5, 128, 5 * 10**5), (3 * 10**5, 32, 2 * 10**6)]
HELD_OUT = (2 * 10**5, 96, 10**6)
FULL = (10**6, 64, 9 * 10**6)
PAPER = {"rows": 3e9, "D": 1024, "edges": 2e9, "d": RANK, "workers": 100, "on a machine": 1}


def factor(D: int) -> Array:
    return np.linalg.qr(np.random.default_rng(1).standard_normal((D, RANK)))[0]


@contextmanager
def rows_in_chunks(X: Array, chunks: int) -> Iterator[Any]:
    """X as a Dask array whose chunks the workers read from a file.

    `dask.array.from_array` would put the rows into the graph, where every worker keeps them.
    """
    import dask
    import dask.array as da

    with TemporaryDirectory() as folder:
        file, (n, D) = f"{folder}/rows", X.shape
        X.tofile(file)
        bounds = np.linspace(0, n, chunks + 1).astype(int).tolist()
        blocks = [
            da.from_delayed(
                dask.delayed(on_workers.read_rows)(file, a, b - a, D), (b - a, D), X.dtype
            )
            for a, b in pairwise(bounds)
        ]
        yield da.concatenate(blocks)


@contextmanager
def parted(X: Array, triplets: Array, chunks: int) -> Iterator[Any]:
    """The objective of these comparisons on the cluster of the current client."""

    from sdpmetric import Huber
    from sdpmetric.parted.chunked import ChunkedRows
    from sdpmetric.parted.given import GivenComparisons
    from sdpmetric.parted.parts import PartedProblem
    from sdpmetric.parted.rows import RowMap
    from sdpmetric.problem.prior import Prior

    with rows_in_chunks(X, chunks) as there:
        rows = ChunkedRows(there)
        given = GivenComparisons(rows.engine, triplets, None, len(X))
        kind: dict[str, Any] = {"loss": Huber(0.05), "C": 10.0, "prior": Prior(X.shape[1])}
        problem = PartedProblem.from_pieces(
            rows.engine, rows.chunks, given.pieces, rows.found, RowMap(), **kind
        )
        yield problem.objective


def in_memory(X: Array, triplets: Array) -> Any:
    from sdpmetric import Huber
    from sdpmetric.linalg.items import as_items
    from sdpmetric.problem.prior import Prior
    from sdpmetric.problem.units import Problem

    items = as_items(X, scan=True)
    prior = Prior(X.shape[1])
    return Problem.from_triplets(items, triplets, loss=Huber(0.05), C=10.0, prior=prior).objective


def seconds(objective: Any, P: Array) -> float:
    began = time.perf_counter()
    objective.at(P).gradient()
    return time.perf_counter() - began


def measure(client: Any, size: tuple[int, int, int], repeats: int) -> dict[str, Any]:
    """Evaluations on the workers of a client, by turns with as many threads of this process."""
    from sdpmetric.engines.threads import thread_pool

    X, triplets = planted(*size)
    P, n_workers = factor(size[1]), len(client.nthreads())
    times: dict[str, list[float]] = {"cluster": [], "memory": []}
    cpu: dict[str, list[float]] = {"client": [], "memory": [], "busiest": [], "workers": []}
    client.run(on_workers.forget_peak)
    with parted(X, triplets, 2 * n_workers) as objective, thread_pool(n_workers):
        there = in_memory(X, triplets)
        for work in (objective, there):
            seconds(work, P)  # compiles, or loads what was compiled
        for _ in range(repeats):
            before, began = client.run(time.process_time), time.process_time()
            times["cluster"].append(seconds(objective, P))
            cpu["client"].append(time.process_time() - began)
            after, began = client.run(time.process_time), time.process_time()
            times["memory"].append(seconds(there, P))
            cpu["memory"].append(time.process_time() - began)
            by_worker = [after[worker] - before[worker] for worker in before]
            cpu["busiest"].append(max(by_worker))
            cpu["workers"].append(sum(by_worker))
        peak = max(client.run(on_workers.peak_memory).values())
        n_edges = int(objective.n_edges)
    waited = np.add(cpu["busiest"], cpu["client"])
    spent = np.add(cpu["workers"], cpu["client"])
    rows = _rows_of_parts(triplets, n_workers)
    allowed = 2 * 8 * size[1] * rows / n_workers + 100 * len(triplets) / n_workers
    return {
        "n": size[0],
        "D": size[1],
        "m": len(triplets),
        "d": RANK,
        "workers": n_workers,
        "on a machine": n_workers,
        "rows": rows,
        "edges": n_edges,
        "seconds": float(waited.min()),
        "cpu of workers": min(cpu["workers"]),
        "cpu of client": min(cpu["client"]),
        "cpu in memory": min(cpu["memory"]),
        "cpu ratio": float(spent.min() / min(cpu["memory"])),
        "wall": min(times["cluster"]),
        "wall in memory": min(times["memory"]),
        "wall ratio": float(np.median(np.divide(times["cluster"], times["memory"]))),
        "worker MB": peak,
        "allowed MB": allowed / 2**20 + 200.0,
    }


def _rows_of_parts(triplets: Array, n_parts: int) -> int:
    """Rows of all parts together: a row that two parts need counts twice."""
    from sdpmetric.parted.parts import pieces_of

    return sum(len(np.unique(piece)) for piece, _ in pieces_of(triplets, None, n_parts))


def products_rate() -> float:
    """CPU seconds of both products of an evaluation, for a row, a column of X and one of P."""
    from sdpmetric.linalg.items import items_of

    X, P = np.random.default_rng(0).standard_normal((20_000, 256)), factor(256)
    items = items_of(X)
    Y = items.times(P)
    return least_cpu(lambda: (items.times(P), items.transposed_times(Y)), 5) / (X.size * RANK)


def overhead(client: Any, repeats: int) -> dict[str, float]:
    """Seconds of an evaluation that has nothing to compute, by the clock and of CPUs.

    CPU seconds are counted as in `measure`: those of the busiest worker and of this process.
    """
    X, triplets = planted(100, 8, 200)
    with parted(X, triplets, 1) as objective:
        P = factor(8)[:, :4]
        seconds(objective, P)
        found, cpu, both = [], [], []
        for _ in range(repeats):
            before, began = client.run(time.process_time), time.process_time()
            found.append(seconds(objective, P))
            cpu.append(time.process_time() - began)
            after = client.run(time.process_time)
            both.append(max(after[w] - before[w] for w in before) + cpu[-1])
    return {"wall": float(np.median(found)), "cpu of client": min(cpu), "seconds": min(both)}


def over_a_network(n_workers: int, size: tuple[int, int, int], repeats: int) -> dict[str, Any]:
    try:
        with networks.namespaces(n_workers) as (client, network):
            empty = overhead(client, repeats)
            X, triplets = planted(*size)
            with parted(X, triplets, n_workers) as objective:
                P = factor(size[1])
                seconds(objective, P)
                before = networks.sent_bytes(n_workers)
                found = [seconds(objective, P) for _ in range(repeats)]
                sent = (networks.sent_bytes(n_workers) - before) / repeats
            point = {"workers": n_workers, "D": size[1], "d": RANK}
            return {
                "network": network,
                "workers": n_workers,
                "size": size,
                "seconds": min(found),
                "bytes": sent,
                "bytes by the model": model.network_bytes(point),
                "overhead": empty,
            }
    except networks.NotAllowedError as error:
        CONSOLE.print(f"No network of our own: {error}")
        return {"network": None, "reason": str(error)}


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    arguments.add_argument("--shrink", type=int, default=1, help="divide all sizes by this")
    arguments.add_argument("--local", action="store_true", help="no networks of our own")
    arguments.add_argument("--report", action="store_true", help="the model from the JSON")
    arguments.add_argument(
        "--only-network", action="store_true", help="measure the network again, keep the rest"
    )
    arguments.add_argument("--full", action="store_true", help="10^6 x 64 with 9 * 10^6 triplets")
    options = arguments.parse_args(argv)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"

    def shrunk(size: tuple[int, int, int]) -> tuple[int, int, int]:
        n, D, m = size
        return n // options.shrink, D, m // options.shrink

    if options.report or options.only_network:
        content = json.loads((results_folder() / "cluster.json").read_text())
        if options.only_network:
            content["network"] = over_a_network(4, shrunk(SIZES[0]), options.repeats)
        report(content)
        return
    points: list[dict[str, Any]] = []
    overheads: dict[str, dict[str, float]] = {}
    for n_workers in options.workers:
        for size in (*SIZES, HELD_OUT):
            # New workers for each size: what an allocator keeps of the last one is not its memory.
            with networks.local(n_workers) as client:
                # For each size, since it also loads what workers need; the least counts.
                empty = overhead(client, options.repeats)
                least = overheads.get(str(n_workers), empty)
                overheads[str(n_workers)] = min(least, empty, key=lambda found: found["seconds"])
                points.append(measure(client, shrunk(size), options.repeats))
            if size != HELD_OUT:  # nobody should know these before the model is fitted
                CONSOLE.print(points[-1])
    full = None
    if options.full:
        with networks.local(2) as client:
            overhead(client, 1)
            full = measure(client, FULL, options.repeats)
        CONSOLE.print(full)
    network: dict[str, Any] = {"network": None, "reason": "not asked for"}
    if not options.local:
        network = over_a_network(4, shrunk(SIZES[0]), options.repeats)
    content = {"points": points, "full": full, "overheads": overheads, "network": network}
    report(content | {"held out size": shrunk(HELD_OUT), "products": products_rate()})


def report(content: dict[str, Any]) -> None:
    """Fit the model, print tables, and write all of it."""
    points, full = content["points"], content["full"]
    # Workers beyond the cores of this machine show overhead, and say nothing about other machines.
    cores = os.cpu_count() or 1
    known = [p for p in points if p["workers"] <= cores]
    held = [p for p in known if [p["n"], p["D"]] == list(content["held out size"])[:2]]
    empty = {int(n): found["seconds"] for n, found in content["overheads"].items()}
    rates = model.fitted([p for p in known if p not in held], content["products"], empty)
    errors = [model.predicted(rates, p) / p["seconds"] - 1.0 for p in held]
    paper = model.carried(rates, PAPER, bandwidth=1.25e9, latency=5e-4)
    columns = ["n", "D", "m", "workers", "seconds", "cpu ratio", "wall", "wall ratio"]
    columns += ["worker MB", "allowed MB"]
    shown = [*points, *([full] if full else [])]
    show("An evaluation", columns, [[p[name] for name in columns] for p in shown])
    show("Without work", ["workers", ""], list(content["overheads"].items()))
    show("Over a network", ["", ""], list(content["network"].items()))
    show(
        "Held out",
        ["workers", "error"],
        [[p["workers"], e] for p, e in zip(held, errors, strict=True)],
    )
    show("Rates", ["", "s"], list(rates.items()))
    show("10^9 comparisons x 1,024 on 100 workers", ["", "s"], list(paper.items()))
    save("cluster", content | {"rates": rates, "held out": errors, "on paper": paper})
