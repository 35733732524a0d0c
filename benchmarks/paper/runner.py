"""Fill what is missing, the cheapest first, and write every cell at once."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from benchmarks.common import CONSOLE, progress
from benchmarks.paper.cells import Cell, Store
from benchmarks.paper.limited import fill
from benchmarks.paper.methods import METHODS, Task
from benchmarks.paper.rows import ROWS
from benchmarks.peers.run import now

HOPELESS = ("limit", "memory")


def tasks(
    rows: Iterable[str],
    methods: Iterable[str],
    *,
    runs: int | None,
    limit: float,
    inputs: Iterable[str],
) -> list[Task]:
    """A method that follows another brings it along."""
    methods, inputs = list(methods), list(inputs)
    leaders = [f for f in (METHODS[m].follows for m in methods) if f and f not in methods]
    chosen = [
        Task(row, how, run, method, limit)
        for row in rows
        for how in ROWS[row].inputs
        if how in inputs
        for run in range(min(runs or ROWS[row].printed.runs, ROWS[row].printed.runs))
        for method in (*leaders, *methods)
    ]
    return sorted(chosen, key=lambda t: ROWS[t.row].cost * METHODS[t.method].slowness)


def done(cell: Cell | None, limit: float) -> bool:
    """Errors are tried again, and so is what met a shorter limit than today's."""
    if cell is None or cell["status"] == "error":
        return False
    return bool(cell["status"] == "ok" or cell["limit"] >= limit)


def run(todo: list[Task], store: Store, *, again: bool = False) -> None:
    missing = [task for task in todo if again or not done(store.get(task), task.limit)]
    CONSOLE.print(f"{len(todo)} cells, {len(todo) - len(missing)} of them are there already")
    with progress() as bar:
        shown = bar.add_task("cells", total=len(missing))
        for task in missing:
            label = f"{ROWS[task.row].printed.name} {task.inputs} {task.run}: "
            bar.update(shown, description=label + METHODS[task.method].name)
            stamp = {"date": now(), "load": round(os.getloadavg()[0], 2)}
            cell = store.put(task, attempt(task, store) | stamp)
            if cell["status"] != "ok":
                reason = cell.get("message", f"{cell.get('seconds', 0):g} s")
                CONSOLE.print(f"{label}{METHODS[task.method].name}: {cell['status']}, {reason}")
            bar.advance(shown)


def attempt(task: Task, store: Store) -> Cell:
    """Fill a cell, unless an earlier run of the same has shown that there is no hope."""
    for run in range(task.run):
        earlier = store.get(replace(task, run=run))
        if earlier and earlier["status"] in HOPELESS and earlier["limit"] >= task.limit:
            reason = f"not run: run {run} met its {earlier['status']}"
            return {"status": "skipped", "message": reason}
    leader = METHODS[task.method].follows
    if leader is None:
        return fill(task)
    followed = store.get(replace(task, method=leader))
    if followed is None or followed["status"] != "ok":
        return {"status": "error", "message": f"{METHODS[leader].name} has no C to follow"}
    return fill(replace(task, params=followed["params"]))
