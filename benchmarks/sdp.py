"""Time against dimension: `solve` and two conic solvers on the same semidefinite program.

The paper's figure of time against dimension, with the solvers of today: 1,000 random triplets that
a planted metric decides, 5 % of them flipped, for the Huber and the hinge loss. Every solve is a
process of its own with one thread and a time limit, one at a time; see `sdp_reference` for the
problem that both sides get. Objectives are all computed by one function at each solver's own M.
"""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks import common
from benchmarks import sdp_reference as reference
from benchmarks.common import CONSOLE, growth, parser, progress, save, show
from benchmarks.processes import ChildError, measured

SHARED = (20, 40, 60, 80, 100)  # dimensions that every solver gets
ALONE = (200, 500, 1000)  # and those that only ours gets
SOLVERS = ("ours", *reference.RIVALS)
NAMES = {"ours": "sdpmetric", "CLARABEL": "Clarabel", "SCS": "SCS"}
LOOKS = {"ours": ("#0072B2", "o"), "CLARABEL": ("#D55E00", "s"), "SCS": ("#009E73", "D")}
THREADS = ("OPENBLAS", "OMP", "MKL", "RAYON", "BLIS", "VECLIB_MAXIMUM")
PROBLEM: dict[str, Any] = {
    "items": reference.N_ITEMS,
    "triplets": reference.N_TRIPLETS,
    "planted rank": reference.PLANTED_RANK,
    "flipped": reference.FLIPPED,
    "seed": reference.SEED,
    "losses": reference.LOSSES,
}

Run = dict[str, Any]


def cases(only: list[str], dimensions: list[int], losses: list[str]) -> list[Run]:
    """What there is to solve, the quick ones first."""
    return [
        {"solver": solver, "loss": loss, "D": D, "tol": tol}
        for solver in SOLVERS
        if solver in only
        for D in dimensions
        if solver == "ours" or D not in ALONE
        for loss in losses
        for tol in (reference.TOLERANCES[loss] if solver == "ours" else (None,))
    ]


def key(run: Run) -> tuple[Any, ...]:
    return tuple(run[name] for name in ("solver", "loss", "D", "tol"))


def measure(case: Run, limit: float) -> Run:
    """One solve in a process of its own; a process that outlives its limit by far is ended."""
    rival = case["solver"] != "ours"
    arguments = [case["solver"], case["loss"], case["D"], limit]
    arguments += [] if rival else [case["tol"]]
    # Clarabel looks at the clock between its steps only, and CVXPY has to compile before.
    patience = 1.5 * limit + 60 if rival else (reference.REPEATS + 1) * limit
    run = {**case, "limit": limit, "date": datetime.now(UTC).isoformat(timespec="seconds")}
    nothing = {"seconds": None, "objective": None, "iterations": None}
    one_thread = {f"{name}_NUM_THREADS": "1" for name in THREADS}
    try:
        module = "benchmarks.sdp_reference"
        return run | measured(module, arguments, env=one_thread, timeout=patience)
    except subprocess.TimeoutExpired:
        return {**run, "status": "ended", **nothing}
    except ChildError as failure:
        CONSOLE.print(str(failure), style="red")
        return {**run, "status": "failed", **nothing}


def keep(runs: dict[tuple[Any, ...], Run]) -> None:
    """Write what there is so far, without a word."""
    CONSOLE.quiet = True
    save(
        "sdp",
        {
            "problem": PROBLEM,
            "threads": 1,
            "scs eps": reference.EPS,
            "rivals": {name: version(name) for name in ("cvxpy", "clarabel", "scs")},
            "runs": [runs[k] for k in sorted(runs, key=str)],
        },
    )
    CONSOLE.quiet = False


def stored() -> dict[tuple[Any, ...], Run]:
    """The runs of results/sdp.json, if they are of this problem."""
    path = common.results_folder() / "sdp.json"
    if not path.exists():
        raise SystemExit("There is no results/sdp.json yet; run without --only and --report first.")
    content = json.loads(path.read_text())
    if content["problem"] != PROBLEM:
        raise SystemExit("results/sdp.json is of another problem; run without --only and --report.")
    return {key(run): run for run in content["runs"]}


def finished(run: Run | None) -> bool:
    return bool(run and run["seconds"] and run["status"] not in ("user_limit", "iteration limit"))


def series(runs: dict[tuple[Any, ...], Run], loss: str, solver: str, tol: Any = None) -> list[Run]:
    return sorted(
        (r for k, r in runs.items() if (k[0], k[1], k[3]) == (solver, loss, tol)),
        key=lambda r: int(r["D"]),
    )


def exponent(line: list[Run], what: str = "seconds") -> float:
    """The slope of a quantity against D on logarithmic axes, by least squares."""
    done = [r for r in line if finished(r)]
    return growth([r["D"] for r in done], [r[what] for r in done])


def report(runs: dict[tuple[Any, ...], Run]) -> None:
    for loss, setting in reference.LOSSES.items():
        numbers = ", ".join(f"{name} = {value:.3g}" for name, value in setting.items())
        columns = ["D", "s", "evals", "rank"]
        for solver in reference.RIVALS:
            columns += [f"{NAMES[solver]}: s", "compile", "ratio", "of CPU", "diff"]
        for tol in reference.TOLERANCES[loss]:
            line = series(runs, loss, "ours", tol)
            rows = []
            for r in line:
                row = [r["D"], r["seconds"], r["iterations"], r["rank"]]
                for solver in reference.RIVALS:
                    row += against(r, runs.get((solver, loss, r["D"], None)))
                rows.append(row)
            show(
                f"{loss} ({numbers}), ours to a gap of {tol:g}, one thread; ratio: of its seconds "
                "to ours; diff: our objective less its, relative",
                columns,
                rows,
            )
            if len(line) > 1:
                grows = [exponent(line, what) for what in ("seconds", "cpu", "iterations")]
                CONSOLE.print(
                    "ours grows as D^{:.2f} (CPU time: D^{:.2f}), evaluations as D^{:.2f}\n".format(
                        *grows
                    )
                )


def against(mine: Run, other: Run | None) -> list[object]:
    """Seconds, compilation, ratios of wall and CPU times, relative difference of objectives.

    On a machine that others use too, the ratio of CPU times is the steadier one.
    """
    if other is None:
        return [""] * 5
    sign = "" if finished(other) else "> "
    seconds = other["seconds"] if finished(other) else other["limit"]
    compiled, objective = other.get("compile"), other["objective"]
    return [
        f"{sign}{seconds:.3g}",
        "" if compiled is None else f"{compiled:.2g}",
        f"{sign}{seconds / mine['seconds']:.3g}",
        f"{sign}{other['cpu'] / mine['cpu']:.3g}" if "cpu" in other and "cpu" in mine else "",
        ""
        if objective is None
        else f"{(mine['objective'] - objective) / abs(mine['objective']):.1e}",
    ]


def plot(runs: dict[tuple[Any, ...], Run]) -> None:
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, (loss, setting) in zip(axes, reference.LOSSES.items(), strict=True):
        for tol, style in zip(reference.TOLERANCES[loss], ("-", ":"), strict=True):
            line = series(runs, loss, "ours", tol)
            if len(line) > 1:
                grows = f"{NAMES['ours']}, gap {tol:g}: grows as D^{exponent(line):.2f}"
                draw(ax, line, "ours", grows, style)
        for solver in reference.RIVALS:
            draw(ax, series(runs, loss, solver), solver, NAMES[solver], "-")
        numbers = ", ".join(f"{name} = {value:.3g}" for name, value in setting.items())
        ax.set_title(f"{'Huber' if loss == 'huber' else 'hinge'} ({numbers})")
        ax.set_xlabel("dimension D")
        ax.set_xticks(SHARED + ALONE, [str(D) for D in SHARED + ALONE])
        ax.set_xticks([], minor=True)
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8, loc="lower right")
    axes[0].set_ylabel("seconds, one thread")
    figure.suptitle(
        f"{PROBLEM['triplets']:,} triplets among {PROBLEM['items']:,} items; "
        "open marker: stopped at the time limit",
        fontsize=11,
    )
    common.save_picture(figure, "sdp")


def draw(ax: Axes, line: list[Run], solver: str, label: str, style: str) -> None:
    colour, marker = LOOKS[solver]
    D = [r["D"] for r in line]
    seconds = [r["seconds"] if finished(r) else r["limit"] for r in line]
    ax.loglog(D, seconds, style, color=colour, label=label)
    for x, y, r in zip(D, seconds, line, strict=True):
        ax.plot(x, y, marker, ms=6, mec=colour, mfc=colour if finished(r) else "white")


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--limit", type=float, default=600.0, help="seconds for one solve")
    arguments.add_argument(
        "--only", nargs="+", choices=SOLVERS, help="run these; the others' stored numbers are kept"
    )
    arguments.add_argument("--dimensions", type=int, nargs="+", default=[*SHARED, *ALONE])
    losses = list(reference.LOSSES)
    arguments.add_argument("--losses", nargs="+", choices=losses, default=losses)
    arguments.add_argument("--report", action="store_true", help="show stored numbers again")
    options = arguments.parse_args(argv)
    runs = stored() if options.only or options.report else {}
    if not options.report:
        todo = cases(options.only or list(SOLVERS), options.dimensions, options.losses)
        with progress() as bar:
            task = bar.add_task("solves", total=len(todo))
            for case in todo:
                bar.update(task, description=f"{NAMES[case['solver']]} {case['loss']} {case['D']}")
                runs[key(case)] = measure(case, options.limit)
                keep(runs)
                bar.advance(task)
    report(runs)
    plot(runs)


if __name__ == "__main__":
    main()
