"""How time and memory grow with items, dimensions and comparisons.

Each point is a process of its own: random items, random triplets whose order a planted rank-5
metric decides, 5 % of them flipped. Measured there, with the same threads: an evaluation (value
and gradient at a factor of 32 columns) against the bare products and gathers inside it, done by
NumPy; a whole fit with the defaults; and by how much that fit's peak memory exceeds what was there
before, X and the triplets included.
"""

from __future__ import annotations

import json
import time
from argparse import SUPPRESS
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks import common
from benchmarks.common import CONSOLE, Array, growth, parser, progress, save, show
from benchmarks.peers.worker import memory, reset_peak
from benchmarks.processes import ChildError, measured

RANK = 32
AXES = {
    "n": [(10**4, 64, 10**6), (10**5, 64, 10**6), (10**6, 64, 10**6)],
    "m": [(10**5, 64, 10**5), (10**5, 64, 10**6), (10**5, 64, 10**7)],
    "D": [(10**4, D, 10**5) for D in (16, 64, 256, 1024, 4096)],
    "tall": [(10**6, 64, 9 * 10**6)],
    "smoke": [(40, 4, 60)],  # left out unless it is asked for
}


def planted(n: int, D: int, m: int) -> tuple[Array, Array]:
    """Items in X, and triplets that a metric of rank 5 decides, 5 % of them wrongly."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D))
    Y = X @ rng.standard_normal((D, 5))
    triplets = rng.integers(0, n, size=(m, 3))
    triplets[:, 1:] = (triplets[:, :1] + 1 + rng.integers(0, n - 2, size=(m, 2))) % n
    clash = triplets[:, 1] == triplets[:, 2]
    triplets[clash, 2] = (triplets[clash, 2] + 1) % n
    triplets = triplets[triplets[:, 2] != triplets[:, 0]]
    for start in range(0, len(triplets), 1 << 18):
        part = triplets[start : start + (1 << 18)]
        near, far = (np.sum((Y[part[:, 0]] - Y[part[:, c]]) ** 2, axis=1) for c in (1, 2))
        swap = (near > far) ^ (rng.random(len(part)) < 0.05)
        part[swap] = part[swap][:, [0, 2, 1]]
    return X, triplets


def median_seconds(work: Callable[[], object], repeat: int = 3) -> float:
    work()
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def _evaluation(objective: Any) -> dict[str, Any]:
    """Seconds of an evaluation, and of the products and gathers inside it."""
    from sdpmetric.engines.threads import map_parts

    c = objective.comparisons
    P = np.linalg.qr(np.random.default_rng(1).standard_normal((objective.n_features, RANK)))[0]
    point = objective.at(P)
    active = c.edges[np.flatnonzero(point.edge_weights)]
    Y = objective.X.times(P)

    def both_ends(pairs: Array) -> None:
        """The rows of Y at both ends of each edge, and nothing done with them."""

        def part(rows: slice) -> None:
            for start in range(rows.start, rows.stop, 4096):
                some = pairs[start : min(start + 4096, rows.stop)]
                np.take(Y, some[:, 0], axis=0)
                np.take(Y, some[:, 1], axis=0)

        map_parts(len(pairs), part)

    def spread() -> None:
        np.bincount(c.far, minlength=len(c.edges))
        np.bincount(c.near, minlength=len(c.edges))

    work = {
        "X P": lambda: objective.X.times(P),
        "X' S": lambda: objective.X.transposed_times(Y),
        "ends of all edges": lambda: both_ends(c.edges),
        "ends of active edges": lambda: both_ends(active),
        "distances of comparisons": lambda: (point.distances[c.far], point.distances[c.near]),
        "slopes to edges": spread,
    }
    return {
        "evaluation": median_seconds(lambda: objective.at(P).gradient()),
        "bare": {name: median_seconds(function) for name, function in work.items()},
        "edges": len(c.edges),
        "active edges": len(active),
    }


def measure(n: int, D: int, m: int, threads: int, limit: float) -> dict[str, Any]:
    """One point, in this process."""
    from sdpmetric import Huber, solve
    from sdpmetric.engines.threads import thread_pool
    from sdpmetric.linalg.items import items_of
    from sdpmetric.problem.prior import Prior
    from sdpmetric.problem.units import Problem

    solve(*planted(50, 3, 20))  # compiles
    X, triplets = planted(n, D, m)
    with thread_pool(threads):
        prior = Prior(X.shape[1])
        items = items_of(X)
        problem = Problem.from_triplets(items, triplets, loss=Huber(0.02), C=10.0, prior=prior)
        timed = _evaluation(problem.objective)
    reset_peak()
    before = memory("VmRSS")
    began = time.perf_counter()
    result = solve(X, triplets, n_jobs=threads, time_limit=limit)
    total = time.perf_counter() - began
    given = (X.nbytes + triplets.nbytes) / 2**20
    return {
        "n": n,
        "D": D,
        "m": m,
        "threads": threads,
        **timed,
        "ratio": timed["evaluation"] / sum(timed["bare"].values()),
        "fit": total,
        "evaluations": result.n_iter,
        "gap": result.gap,
        "status": str(result.status),
        "peak": memory("VmHWM") - before + given,
        "allowed": X.nbytes / 2**20 + 100.0 * m / 2**20 + 200.0,
    }


def picture(points: list[dict[str, Any]]) -> None:
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    panels = figure.subplots(1, 3)
    for ax, by, label in zip(
        panels, "nmD", ("items n", "comparisons m", "dimension D"), strict=True
    ):
        some = [p for p in points if p["axis"] == by]
        x = [p[by] for p in some]
        ax.loglog(x, [p["evaluation"] for p in some], "o-", color="#0072B2", label="an evaluation")
        bare = [sum(p["bare"].values()) for p in some]
        ax.loglog(x, bare, "s--", color="#E69F00", label="its bare products and gathers")
        ax.loglog(x, [p["fit"] for p in some], "^-", color="#009E73", label="a whole fit")
        fixed = {
            "n": "D = 64, m = 10$^6$",
            "m": "n = 10$^5$, D = 64",
            "D": "n = 10$^4$, m = 10$^5$",
        }
        ax.set(xlabel=label, title=fixed[by])
        ax.grid(alpha=0.3)
    panels[0].set_ylabel("seconds")
    panels[0].legend(frameon=False, fontsize=8)
    common.save_picture(figure, "scale", dpi=150)


def report(points: list[dict[str, Any]]) -> dict[str, float]:
    columns = ["axis", "n", "D", "m", "evaluation s", "bare s", "ratio", "fit s", "evaluations"]
    columns += ["gap", "peak MB", "allowed MB"]
    rows = [
        [
            *(p[key] for key in ("axis", "n", "D", "m", "evaluation")),
            *(sum(p["bare"].values()), p["ratio"], p["fit"], p["evaluations"], p["gap"]),
            *(round(p["peak"]), round(p["allowed"])),
        ]
        for p in points
    ]
    show("Growth of cost", columns, rows)
    exponents = {}
    for by in "nmD":
        some = [p for p in points if p["axis"] == by]
        if len(some) > 1:
            for what in ("evaluation", "fit"):
                exponents[f"{what} in {by}"] = growth(
                    [p[by] for p in some], [p[what] for p in some]
                )
    show("Fitted exponents", ["", "exponent"], list(exponents.items()))
    return exponents


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--limit", type=float, default=600.0, help="seconds for each fit")
    arguments.add_argument("--axis", choices=AXES, nargs="+", help="only these; others are kept")
    arguments.add_argument("--report", action="store_true", help="tables and picture from the JSON")
    arguments.add_argument("--point", type=int, nargs=3, help=SUPPRESS)
    options = arguments.parse_args(argv)
    if options.point:
        n, D, m = options.point
        print(json.dumps(measure(n, D, m, options.threads, options.limit)))
        return
    path = common.results_folder() / "scale.json"
    kept = json.loads(path.read_text()) if path.exists() else {"points": []}
    points = kept["points"]
    if not options.report:
        chosen = options.axis or [axis for axis in AXES if axis != "smoke"]
        points = [p for p in points if p["axis"] not in chosen]
        todo = [(axis, point) for axis in chosen for point in AXES[axis]]
        with progress() as bar:
            task = bar.add_task("points", total=len(todo))
            for axis, point in todo:
                bar.update(task, description=f"n={point[0]:,} D={point[1]:,} m={point[2]:,}")
                command = ["--point", *point, "--threads", options.threads]
                command += ["--limit", options.limit]
                try:
                    points.append({"axis": axis, **measured("benchmarks.scale", command)})
                except ChildError as failure:
                    CONSOLE.print(f"{point}: {failure}")
                save("scale", {"seed": 0, "rank": RANK, "points": points})
                bar.advance(task)
    exponents = report(points)
    if not options.report:
        save("scale", {"seed": 0, "rank": RANK, "exponents": exponents, "points": points})
    picture(points)


if __name__ == "__main__":
    main()
