"""Every table and figure of the paper, run again, on one page.

Finished cells are kept, and a call does what is missing. --quick is a small subset of its own that
ends in minutes; its results are kept apart in output/. --output keeps cells and page in a folder
of your own.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.common import ROOT, results_folder
from benchmarks.paper import runner
from benchmarks.paper.cells import Store
from benchmarks.paper.methods import METHODS
from benchmarks.paper.page import Place, write
from benchmarks.paper.rows import INPUTS, ROWS, STANDARDISED
from benchmarks.peers import rivals
from benchmarks.processes import terminable


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

    def moved(self, folder: Path) -> Plan:
        """The same plan with cells, page and pictures in one folder."""
        quick = self.place.quick
        place = Place(folder / "page.md", folder / "page.html", folder, quick=quick)
        return replace(self, folder=folder, place=place)


def full() -> Plan:
    """A function, since the results folder may be set after this module is imported."""
    return Plan(
        rows=tuple(ROWS),
        methods=tuple(method for method in METHODS if method != "cv-short"),
        runs=None,
        limit=600.0,
        folder=results_folder() / "paper",
        place=Place(
            ROOT / "docs" / "paper-results.md",
            ROOT / "output" / "paper.html",
            results_folder() / "paper",
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
    parser.add_argument("--again", action="store_true", help="fill the chosen cells again")
    parser.add_argument("--quick", action="store_true", help="a small subset, in minutes")
    parser.add_argument("--report", action="store_true", help="only the page, of what is there")
    parser.add_argument("--output", type=Path, help="folder for cells, page and pictures")
    parser.add_argument(
        "--skip-missing", action="store_true", help="go on without peers that are not installed"
    )
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    options = arguments(argv)
    plan = QUICK if options.quick else full()
    if options.output:
        plan = plan.moved(options.output)
    store = Store(plan.folder / "cells")
    if not options.report:
        todo = runner.tasks(
            options.rows or plan.rows,
            options.methods or plan.methods,
            runs=options.runs or plan.runs,
            limit=options.limit or plan.limit,
            inputs=options.inputs,
        )
        todo = [task for task in todo if (task.row, task.inputs) != plan.without]
        peers = {METHODS[t.method].name for t in todo if METHODS[t.method].rival}
        there = rivals.installed(peers, skip_missing=options.skip_missing)
        left_out = peers - there
        todo = [task for task in todo if METHODS[task.method].name not in left_out]
        with terminable():
            runner.run(todo, store, again=options.again)
    write(store.current(), plan.place)


if __name__ == "__main__":
    main()
