"""Finished cells, one line of JSON each in a file per row, so that a run can be resumed.

A cell's key is everything that defines it: the row with its sizes, the inputs, the split's number,
the method with its options. What another definition has left behind is not found again.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.paper.methods import METHODS, Task
from benchmarks.paper.rows import ROWS

Cell = dict[str, Any]
PLACE = ("row", "inputs", "run", "method")


def definition(row: str, method: str) -> dict[str, Any]:
    """Plain JSON, so that it equals what comes back from a file."""
    leader = METHODS[method].follows
    content: dict[str, Any] = {
        "row": ROWS[row].definition(),
        "options": METHODS[method].options,
        **({"follows": METHODS[leader].options} if leader else {}),
    }
    return content


def plain(value: Any) -> Any:
    """NumPy's numbers, which a search may leave in its parameters, as JSON's."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def key(cell: Cell) -> str:
    return json.dumps([[cell[name] for name in PLACE], cell["definition"]], sort_keys=True)


def blank(task: Task) -> Cell:
    place = {name: getattr(task, name) for name in PLACE}
    return {**place, "definition": definition(task.row, task.method)}


@dataclass(frozen=True)
class Store:
    folder: Path

    def read(self, row: str) -> dict[str, Cell]:
        path = self.folder / f"{row}.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return {key(cell): cell for cell in map(json.loads, lines)}

    def get(self, task: Task) -> Cell | None:
        return self.read(task.row).get(key(blank(task)))

    def put(self, task: Task, record: Cell) -> Cell:
        """Add a cell, in place of an earlier one of the same key."""
        cell = {**blank(task), **record, "limit": task.limit}
        with self.locked():
            cells = self.read(task.row) | {key(cell): cell}
            path = self.folder / f"{task.row}.jsonl"
            fresh = path.with_suffix(".tmp")
            fresh.write_text("".join(json.dumps(c, default=plain) + "\n" for c in cells.values()))
            fresh.replace(path)
        return cell

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Two runs may fill different cells of a row at the same time."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def current(self) -> list[Cell]:
        """The cells of today's definitions."""
        return [
            cell
            for row in ROWS
            for cell in self.read(row).values()
            if cell["method"] in METHODS and cell["definition"] == definition(row, cell["method"])
        ]
