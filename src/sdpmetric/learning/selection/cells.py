"""Cells of a search: the finished fits, kept in a file, so that a search goes on where it stopped.

A cell is one candidate with one C on one split. Besides its scores it keeps its fit, from which
later fits of the split start. So a resumed search takes the same steps as one that
was never interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Self

from ...persistence.digest import digest
from ...persistence.state_file import BROKEN, StateFile, as_folder
from ...problem.result import Result
from .table import Candidate, Trial

__all__ = ["Cell", "Cells", "SplitCells"]


@dataclass(frozen=True, eq=False)
class Cell:
    """The outcome of a candidate and its C on a split.

    Attributes
    ----------
    trial : its scores
    result : its fit
    end : the C above which all fits of its path are the same
    """

    trial: Trial
    result: Result
    end: float

    @classmethod
    def of(cls, held: dict[str, Any], n_features: int) -> Self:
        """Check the cell that a file holds."""
        result = Result(**held["result"])
        if result.factor.shape[0] != n_features or result.components.shape[1] != n_features:
            raise ValueError("its fits do not match the features")
        return cls(Trial(**held["trial"]), result, float(held["end"]))

    def plain(self) -> dict[str, Any]:
        """The cell as values that a state file holds."""
        return {"trial": vars(self.trial), "result": vars(self.result), "end": self.end}


class Cells:
    """All cells of a search that are finished; ``key`` computes the digest of the search."""

    def __init__(self, folder: Any, key: Callable[[], str], n_features: int) -> None:
        self.folder: Path = as_folder(folder)
        self.file = StateFile(self.folder, "search", key())
        self.found: dict[str, Cell] = {}
        self.written = 0
        self.lock = RLock()  # splits are tried in several threads
        held = self.file.read()
        if held is None:
            self.file.begin([])
            return
        try:
            self.found = {name: Cell.of(cell, n_features) for name, cell in held}
        except BROKEN as error:
            self.file.refuse(error)
        self.written = len(self.found)

    def last_fit(self, params: dict[str, Any]) -> Path:
        """The folder of the checkpoint of a last fit with these parameters."""
        # One of its own for every choice: a search that is interrupted may choose others later.
        return self.folder / f"last-fit-{digest(params)[:8]}"

    def kept(self, split: Any, number: int) -> Any:
        """The split, which from now on takes and keeps its cells."""
        split.cells = SplitCells(self, number)
        return split

    def made(self, make: Callable[[], Any], number: int) -> Any:
        """A new split that takes and keeps its cells."""
        return self.kept(make(), number)

    def flush(self) -> None:
        """Write the cells that are not written yet."""
        with self.lock:
            if len(self.found) > self.written:
                self._write()

    def finish(self) -> None:
        """Let other searches take the file."""
        self._write(done=True)

    def _write(self, *, done: bool = False) -> None:
        self.file.write([[name, cell.plain()] for name, cell in self.found.items()], done=done)
        self.written = len(self.found)


@dataclass(frozen=True, eq=False)
class SplitCells:
    """The cells of one split, by its number."""

    cells: Cells
    split: int

    def get(self, candidate: Candidate, C: float) -> Cell | None:
        """The cell of a candidate and its C, if it is finished."""
        return self.cells.found.get(self._name(candidate, C))

    def add(self, candidate: Candidate, C: float, cell: Cell) -> None:
        """Keep a finished cell."""
        with self.cells.lock:
            self.cells.found[self._name(candidate, C)] = cell
            if self.cells.file.due:
                self.cells.flush()

    def _name(self, candidate: Candidate, C: float) -> str:
        return json.dumps([self.split, candidate.settings(), C])
