"""Both solvers on digits and MNIST: CPU seconds, evaluations, passes over X, gap over time.

The low-rank solver runs to relative gaps of 1e-2, 1e-3, 1e-4 and 1e-6. The paper's algorithm
then gets a multiple of the CPU seconds that the low-rank solver needed for 1e-3, so that the ratio
of the two is measured in the same run. Also measured, with one BLAS thread: an evaluation against
the two bare products inside it, and the peak memory of a whole fit.

All times are CPU seconds of one thread, since other work on the machine would add to the wall time.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from benchmarks import common
from benchmarks.common import CONSOLE, Array, least_cpu, load, parser, progress, save, show
from benchmarks.passes import counted
from benchmarks.processes import measured
from sdpmetric import Huber, Loss, SquaredHinge, knn_triplets
from sdpmetric.linalg.items import items_of
from sdpmetric.problem.objective import EdgeObjective
from sdpmetric.problem.prior import Prior
from sdpmetric.problem.result import Progress
from sdpmetric.problem.units import Problem
from sdpmetric.solvers import SOLVERS, Limits

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-6)
BASE_TOL = 1e-3  # frank-wolfe's CPU seconds are a multiple of low-rank's for this gap
SETTINGS: dict[str, tuple[Loss, float]] = {
    **{f"S C={C:g}": (SquaredHinge(), C) for C in (2.0, 20.0, 200.0)},
    **{f"H C={C:g} h={h:g}": (Huber(h), C) for h in (0.5, 0.05) for C in (2.0, 10.0, 50.0)},
}


@dataclass(frozen=True)
class Run:
    """One solve; ``times`` (CPU seconds) and ``gaps`` are its certificates, in order."""

    data: str
    setting: str
    solver: str
    tol: float
    gap: float
    status: str
    cpu: float
    evaluations: int
    passes: int
    products: int
    rank: int
    times: list[float]
    gaps: list[float]


class Clock:
    """A callback that records every new gap with the CPU seconds spent, and stops at a limit."""

    def __init__(self, limit: float | None) -> None:
        self.limit, self.began = limit, time.process_time()
        self.times: list[float] = []
        self.gaps: list[float] = []

    @property
    def cpu(self) -> float:
        return time.process_time() - self.began

    def __call__(self, now: Progress) -> bool:
        if np.isfinite(now.gap) and (not self.gaps or now.gap != self.gaps[-1]):
            self.times.append(self.cpu)
            self.gaps.append(now.gap)
        return self.limit is not None and self.cpu > self.limit


def rows_of(name: str) -> tuple[Array, Array]:
    """digits whole; 7,000 rows of MNIST's test set, drawn with seed 0."""
    if name == "digits":
        return load("digits")
    X, y = load("mnist_test")
    chosen = np.random.default_rng(0).permutation(len(y))[:7000]
    return X[chosen], y[chosen]


def objective_of(name: str) -> EdgeObjective:
    X, y = rows_of(name)
    triplets, prior = knn_triplets(X, y), Prior(X.shape[1])
    items = items_of(X)
    return Problem.from_triplets(items, triplets, loss=Huber(0.5), C=10.0, prior=prior).objective


def run(
    data: str, setting: str, o: EdgeObjective, solver: str, tol: float, limit: float | None = None
) -> Run:
    """Solve once; ``limit`` is in CPU seconds."""
    # What an earlier run has cached about the items would be a gift to this one.
    o = replace(o, cache={})
    most = 3000 if solver == "low-rank" else 10**6
    with counted(o.X) as passes:
        clock = Clock(limit)
        limits = Limits(tol=tol, max_iter=most, callback=clock)
        result = SOLVERS[solver]()(o, None, limits)
        cpu = clock.cpu
    return Run(
        data=data,
        setting=setting,
        solver=solver,
        tol=tol,
        gap=result.gap,
        status=str(result.status),
        cpu=cpu,
        evaluations=result.n_iter,
        passes=passes.total,
        products=result.n_products,
        rank=int(np.linalg.matrix_rank(result.factor)),
        times=[*clock.times, cpu],
        gaps=[*clock.gaps, result.gap],
    )


def measure(data: str, o: EdgeObjective, settings: list[str], multiple: float) -> list[Run]:
    """Every setting by both solvers."""
    runs = []
    m = len(o.comparisons)
    with progress() as bar:
        task = bar.add_task(data, total=len(settings) * (len(TOLERANCES) + 1))
        for setting in settings:
            loss, C = SETTINGS[setting]
            problem = o.replace(loss=loss, coefficients=np.full(m, C / m))
            for make in SOLVERS.values():
                make()(problem, None, Limits(max_iter=2))  # loads the loops compiled for this loss
            cpu = {}
            for tol in TOLERANCES:
                runs.append(run(data, setting, problem, "low-rank", tol))
                cpu[tol] = runs[-1].cpu
                bar.advance(task)
            runs.append(
                run(data, setting, problem, "frank-wolfe", BASE_TOL, multiple * cpu[BASE_TOL])
            )
            bar.advance(task)
    return runs


def evaluation_cost(o: EdgeObjective, rank: int = 64, repeat: int = 15) -> dict[str, float]:
    """One evaluation against its two bare products, the least CPU seconds of several."""
    P = np.random.default_rng(0).standard_normal((o.n_features, min(rank, o.n_features)))
    X = o.X.raw
    S = np.asarray(X @ P)  # has the shape of what X' is multiplied with
    rho = o.at(P).rho
    products = least_cpu(lambda: X @ P, repeat) + least_cpu(lambda: X.T @ S, repeat)
    evaluation = least_cpu(lambda: o.at(P, rho=rho).gradient(), repeat)
    return {"products": products, "evaluation": evaluation, "ratio": evaluation / products}


def report(runs: list[Run], data: str, costs: dict[str, Any], multiple: float) -> None:
    names = ["setting", "solver", "tol", "gap", "cpu", "evaluations", "passes", "rank", "status"]
    rows = [[getattr(r, name) for name in names] for r in runs if r.data == data]
    show(f"{data}: both solvers, one thread, frank-wolfe {multiple:g} times the CPU", names, rows)
    cost, memory = costs["evaluation"], costs["memory"]
    CONSOLE.print(
        f"an evaluation costs {cost['ratio']:.2f} times its two products "
        f"({1e3 * cost['evaluation']:.1f} against {1e3 * cost['products']:.1f} ms)"
    )
    CONSOLE.print(
        f"peak memory of a fit: {memory['ratio']:.2f} times X plus comparisons "
        f"({memory['peak'] / 1e6:.0f} against {memory['inputs'] / 1e6:.0f} MB)\n"
    )


def plot(runs: list[Run], data: str) -> None:
    figure = Figure(figsize=(11, 9), layout="constrained")
    axes = figure.subplots(3, 3, sharex=True, sharey=True)
    for ax, setting in zip(axes.flat, SETTINGS, strict=True):
        mine = [r for r in runs if r.data == data and r.setting == setting]
        ours = [r for r in mine if r.solver == "low-rank"]
        ax.loglog([r.cpu for r in ours], [r.gap for r in ours], "o-", label="low-rank")
        for r in mine:
            if r.solver == "frank-wolfe":
                ax.loglog(r.times, np.minimum.accumulate(r.gaps), "-", label="frank-wolfe")
        ax.set_title(setting, fontsize=10)
        ax.grid(alpha=0.3)
    axes[0, 0].legend()
    figure.supxlabel("CPU seconds")
    figure.supylabel("relative gap, certified")
    figure.suptitle(f"{data}: gap against CPU seconds, one thread")
    common.save_picture(figure, f"solver_{data}", dpi=110)


def stored(without: list[str]) -> dict[str, Any]:
    """What results/solver.json holds of other data sets, so that each can be run by itself."""
    path = common.results_folder() / "solver.json"
    content = json.loads(path.read_text()) if path.exists() else {}
    kept = [r for r in content.get("runs", []) if r["data"] not in without and "cpu" in r]
    found = {r["data"] for r in kept}
    costs = {name: cost for name, cost in content.get("costs", {}).items() if name in found}
    return {"runs": kept, "costs": costs}


def main(argv: list[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("--data", nargs="+", default=["digits", "mnist"])
    options.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    options.add_argument(
        "--multiple", type=float, default=50.0, help="frank-wolfe's CPU over low-rank's for 1e-3"
    )
    chosen = options.parse_args(argv)
    kept = stored(chosen.data)
    with threadpool_limits(1, "blas"):
        for data in chosen.data:
            o = objective_of(data)
            memory = measured("benchmarks.solver_memory", [data])
            costs = {
                "multiple": chosen.multiple,
                "evaluation": evaluation_cost(o),
                "memory": memory,
            }
            runs = measure(data, o, chosen.settings, chosen.multiple)
            report(runs, data, costs, chosen.multiple)
            plot(runs, data)
            kept["costs"][data] = costs
            kept["runs"] += [asdict(r) for r in runs]
            save("solver", {"seed": 0, **kept})


if __name__ == "__main__":
    main()
