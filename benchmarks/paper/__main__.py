"""Every table and figure of the paper, run again, on one page.

Finished cells are kept, and a call does what is missing. --quick is a small subset of its own that
ends in minutes; its results are kept apart in output/.
"""

from __future__ import annotations

import argparse
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import HERE, RESULTS
from benchmarks.paper import runner
from benchmarks.paper.cells import Store
from benchmarks.paper.methods import METHODS
from benchmarks.paper.page import Place, write
from benchmarks.paper.rows import INPUTS, ROWS, STANDARDISED
from benchmarks.peers.rivals import RIVALS

ROOT = HERE.parent


@dataclass(frozen=True)
class Plan:
    """What is run unless the options say otherwise, and where it goes."""

    rows: tuple[str, ...]
    methods: tuple[str, ...]
    runs: int | None
    limit: float
    folder: Path
    place: Place
    without: tuple[str, str] | None = None  # a row and inputs that are left out


FULL = Plan(
    rows=tuple(ROWS),
    methods=tuple(method for method in METHODS if method != "cv-short"),
    runs=None,
    limit=600.0,
    folder=RESULTS / "paper",
    place=Place(
        ROOT / "docs" / "paper-results.md", ROOT / "output" / "paper.html", RESULTS / "paper"
    ),
)
SMALL = ROOT / "output" / "paper-quick"
QUICK = Plan(
    rows=("orl", "wine", "balance", "faces"),
    methods=("euclidean", "pylmnn", "s", "h", "s-fw", "h-fw", "cv-short"),
    runs=2,
    limit=30.0,
    folder=SMALL,
    place=Place(SMALL / "page.md", SMALL / "page.html", SMALL, quick=True),
    without=("faces", STANDARDISED),
)


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    parser.add_argument("--rows", nargs="+", choices=ROWS, metavar="ROW", help=", ".join(ROWS))
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, metavar="METHOD", help=", ".join(METHODS)
    )
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, default=INPUTS)
    parser.add_argument("--runs", type=int, help="at most; default: the paper's 1 or 10")
    parser.add_argument("--limit", type=float, help="seconds a fit; 600, quick 30")
    parser.add_argument("--again", action="store_true", help="fill the chosen cells anew")
    parser.add_argument("--quick", action="store_true", help="a small subset, in minutes")
    parser.add_argument("--report", action="store_true", help="only the page, of what is there")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    options = arguments(argv)
    plan = QUICK if options.quick else FULL
    store = Store(plan.folder / "cells")
    if not options.report:
        # A fit has a process of its own: without this, ending the benchmark would leave it.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        todo = runner.tasks(
            options.rows or plan.rows,
            options.methods or plan.methods,
            runs=options.runs or plan.runs,
            limit=options.limit or plan.limit,
            inputs=options.inputs,
        )
        todo = [task for task in todo if (task.row, task.inputs) != plan.without]
        for method in {task.method for task in todo if METHODS[task.method].rival}:
            _ = RIVALS[METHODS[method].name].python  # says now which environment is missing
        runner.run(todo, store, again=options.again)
    write(store.current(), plan.place)


if __name__ == "__main__":
    main()
