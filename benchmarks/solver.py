"""Both solvers on digits and MNIST: seconds, evaluations, passes over X, gap over time.

The low-rank solver runs to relative gaps of 1e-2, 1e-3, 1e-4 and 1e-6; the paper's algorithm
gets a multiple of the time that the low-rank one needed for 1e-3, so that the ratio of the two is
measured in the same run. Also measured, with one BLAS thread: an evaluation against the two bare
products inside it, and the peak memory of a whole fit.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from benchmarks.common import CONSOLE, HERE, Array, load, progress, save, show
from sdpmetric import Huber, Loss, SquaredHinge, knn_triplets
from sdpmetric.objective import Objective
from sdpmetric.problem import build
from sdpmetric.result import Result
from sdpmetric.solvers import frank_wolfe, low_rank

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-6)
SETTINGS: list[tuple[str, Loss, float]] = (
    [(f"S C={C:g}", SquaredHinge(), C) for C in (2.0, 20.0, 200.0)]
    + [(f"H C={C:g} h=0.5", Huber(0.5), C) for C in (2.0, 10.0, 50.0)]
    + [(f"H C={C:g} h=0.05", Huber(0.05), C) for C in (2.0, 10.0, 50.0)]
)


class Counted:
    """Items that count how often they are multiplied."""

    def __init__(self, X: Array, count: list[int] | None = None) -> None:
        self.X, self.count = X, [0] if count is None else count
        self.shape, self.dtype = X.shape, X.dtype

    @property
    def T(self) -> Counted:
        return Counted(self.X.T, self.count)

    def __matmul__(self, other: Array) -> Array:
        self.count[0] += 1
        return self.X @ other


@dataclass(frozen=True)
class Run:
    data: str
    setting: str
    solver: str
    tol: float
    gap: float
    status: str
    seconds: float
    evaluations: int
    passes: int
    products: int
    rank: int
    times: list[float]
    gaps: list[float]


def rows_of(name: str) -> tuple[Array, Array]:
    """digits whole; 7,000 rows of MNIST's test set, drawn with seed 0."""
    if name == "digits":
        return load("digits")
    X, y = load("mnist_test")
    chosen = np.random.default_rng(0).permutation(len(y))[:7000]
    return X[chosen], y[chosen]


def objective_of(name: str) -> Objective:
    X, y = rows_of(name)
    return build(X, knn_triplets(X, y), None, Huber(0.5), 10.0, None, 0.0).objective


def run(data: str, setting: str, o: Objective, solver: str, tol: float, limit: Any) -> Run:
    counted = Counted(o.X)
    began = time.perf_counter()
    solve = low_rank if solver == "low-rank" else frank_wolfe
    result: Result = solve(
        replace(o, X=counted), tol=tol, max_iter=10**6 if limit else 3000, time_limit=limit
    )
    return Run(
        data=data,
        setting=setting,
        solver=solver,
        tol=tol,
        gap=result.gap,
        status=str(result.status),
        seconds=time.perf_counter() - began,
        evaluations=result.n_iter,
        passes=counted.count[0],
        products=result.n_products,
        rank=int(np.linalg.matrix_rank(result.factor)),
        times=result.history["seconds"].tolist(),
        gaps=result.history["gap"].tolist(),
    )


def evaluation_cost(o: Objective, rank: int = 64) -> dict[str, float]:
    """One evaluation against its two bare products, the fastest of several, one BLAS thread."""
    P = np.random.default_rng(0).standard_normal((o.n_features, min(rank, o.n_features)))
    point = o.at(P)
    S = point.laplacian @ point.Y

    def fastest(action: Any) -> float:
        times = []
        for _ in range(15):
            began = time.perf_counter()
            action()
            times.append(time.perf_counter() - began)
        return min(times)

    products = fastest(lambda: o.X @ P) + fastest(lambda: o.X.T @ S)
    evaluation = fastest(lambda: o.at(P, rho=point.rho).gradient())
    return {"products": products, "evaluation": evaluation, "ratio": evaluation / products}


_CHILD = """
import resource, sys
import numpy as np
from benchmarks.solver import rows_of
from sdpmetric import SDPMetric, knn_triplets
from sdpmetric.comparisons import Comparisons
X, y = rows_of(sys.argv[1])
SDPMetric(tol=1e-2).fit(X[:200], y[:200])
np.ones((2000, 2000)) @ np.ones((2000, 2000))  # BLAS keeps work areas of its own
def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()
def reset_peak():
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")
def peak():
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))
reset_peak()
before = resident()
metric = SDPMetric(loss="squared_hinge", C=20.0).fit(X, y)
grown = peak() - before
c = Comparisons.from_indices(knn_triplets(X, y))
inputs = X.nbytes + sum(a.nbytes for a in (c.edges, c.near, c.far, c.weights))
print(X.nbytes, inputs, grown)
"""


def peak_memory(name: str) -> dict[str, float]:
    """Peak memory of a whole fit in a process of its own, X included, against X + comparisons."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _CHILD, name],
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    X, inputs, grown = (int(number) for number in done.stdout.split())
    return {"X": X, "inputs": inputs, "peak": X + grown, "ratio": (X + grown) / inputs}


def plot(runs: list[Run], data: str) -> None:
    figure = Figure(figsize=(11, 9), layout="constrained")
    axes = figure.subplots(3, 3, sharex=True, sharey=True)
    for ax, (setting, _, _) in zip(axes.flat, SETTINGS, strict=True):
        mine = [r for r in runs if r.data == data and r.setting == setting]
        ours = [r for r in mine if r.solver == "low-rank"]
        ax.loglog([r.seconds for r in ours], [r.gap for r in ours], "o-", label="low-rank")
        for r in mine:
            if r.solver == "frank-wolfe":
                ax.loglog(r.times, np.minimum.accumulate(r.gaps), "-", label="frank-wolfe")
        ax.set_title(setting, fontsize=10)
        ax.grid(alpha=0.3)
    axes[0, 0].legend()
    figure.supxlabel("seconds")
    figure.supylabel("relative gap, certified")
    figure.suptitle(f"{data}: gap against time, one BLAS thread")
    path = HERE / "results" / f"solver_{data}.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)
    CONSOLE.print(f"written: {path.relative_to(HERE.parent)}")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", nargs="+", default=["digits", "mnist"])
    parser.add_argument(
        "--multiple", type=float, default=50.0, help="frank-wolfe's time over low-rank's for 1e-3"
    )
    options = parser.parse_args(argv)
    runs: list[Run] = []
    costs: dict[str, Any] = {}
    with threadpool_limits(1, "blas"):
        for data in options.data:
            o = objective_of(data)
            costs[data] = {"evaluation": evaluation_cost(o), "memory": peak_memory(data)}
            runs += measure(data, o, options.multiple)
    for data in options.data:
        report(runs, data, costs[data])
        plot(runs, data)
    save(
        "solver",
        {
            "seed": 0,
            "multiple": options.multiple,
            "costs": costs,
            "runs": [asdict(r) for r in runs],
        },
    )


def measure(data: str, o: Objective, multiple: float) -> list[Run]:
    runs = []
    m = len(o.comparisons)
    with progress() as bar:
        task = bar.add_task(data, total=len(SETTINGS) * (len(TOLERANCES) + 1))
        for setting, loss, C in SETTINGS:
            problem = o.replace(loss=loss, coefficients=np.full(m, C / m))
            for tol in TOLERANCES:
                runs.append(run(data, setting, problem, "low-rank", tol, None))
                bar.advance(task)
            limit = multiple * next(
                r.seconds for r in runs if r.setting == setting and r.tol == 1e-3
            )
            runs.append(run(data, setting, problem, "frank-wolfe", 1e-3, limit))
            bar.advance(task)
    return runs


def report(runs: list[Run], data: str, costs: dict[str, Any]) -> None:
    columns = [
        "setting",
        "solver",
        "tol",
        "gap",
        "seconds",
        "evaluations",
        "passes",
        "rank",
        "status",
    ]
    rows = [
        [r.setting, r.solver, r.tol, r.gap, r.seconds, r.evaluations, r.passes, r.rank, r.status]
        for r in runs
        if r.data == data
    ]
    show(f"{data}: both solvers, one BLAS thread", columns, rows)
    cost, memory = costs["evaluation"], costs["memory"]
    CONSOLE.print(
        f"an evaluation costs {cost['ratio']:.2f} times its two products "
        f"({1e3 * cost['evaluation']:.1f} against {1e3 * cost['products']:.1f} ms)"
    )
    CONSOLE.print(
        f"peak memory of a fit: {memory['ratio']:.2f} times X plus comparisons "
        f"({memory['peak'] / 1e6:.0f} against {memory['inputs'] / 1e6:.0f} MB)\n"
    )


if __name__ == "__main__":
    main()
