"""Numbers of the tables: means over runs, LMNN's best, paired differences, ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import numpy as np
from scipy.stats import rankdata

from benchmarks.paper.cells import Cell
from benchmarks.paper.methods import LMNN, METHODS
from benchmarks.paper.rows import ROWS

BEST = "lmnn"  # the one of LMNN's implementations that the validation rows prefer


@dataclass(frozen=True)
class Score:
    """A method on a row: its finished runs, and why others are missing."""

    cells: tuple[Cell, ...]
    expected: int  # runs that any method has

    @cached_property
    def ok(self) -> tuple[Cell, ...]:
        return tuple(sorted((c for c in self.cells if c["status"] == "ok"), key=by_run))

    @property
    def complete(self) -> bool:
        return len(self.ok) == self.expected > 0

    @property
    def error(self) -> float:
        """In percent; a method that did not finish every run is behind all that did."""
        return 100.0 * self.mean("error") if self.complete else inf

    @property
    def deviation(self) -> float | None:
        if len(self.ok) < 2:
            return None
        return 100.0 * float(np.std([c["error"] for c in self.ok], ddof=1))

    def mean(self, name: str) -> float:
        return float(np.mean([c[name] for c in self.ok]))

    @property
    def trouble(self) -> str:
        """Why there is no number: the first reason that is not another's consequence."""
        failed = [c for c in self.cells if c["status"] not in ("ok", "skipped")]
        if not failed:
            return "not run"
        cell = min(failed, key=by_run)
        words = {"limit": f"> {cell['limit']:g} s", "memory": "memory"}
        return words.get(cell["status"], "error")


def by_run(cell: Cell) -> int:
    return int(cell["run"])


@dataclass(frozen=True)
class Summary:
    """All cells of one kind of inputs."""

    cells: tuple[Cell, ...]
    inputs: str

    @cached_property
    def scores(self) -> dict[tuple[str, str], Score]:
        mine = [c for c in self.cells if c["inputs"] == self.inputs]
        scores = {}
        for row in ROWS:
            here = [c for c in mine if c["row"] == row]
            expected = len({c["run"] for c in here})
            for method in METHODS if here else ():
                chosen = tuple(c for c in here if c["method"] == method)
                scores[row, method] = Score(chosen, expected)
            if here:
                scores[row, BEST] = scores[row, best([scores[row, m] for m in LMNN])]
        return scores

    @property
    def rows(self) -> list[str]:
        return [row for row in ROWS if (row, BEST) in self.scores]

    def methods(self) -> list[str]:
        """Those that were tried at all, in the table's order."""
        return [m for m in METHODS if any(self.scores[row, m].cells for row in self.rows)]

    def ranks(self, methods: Sequence[str]) -> dict[str, float]:
        """Mean rank over the rows: 1 is the lowest error, equals share, unfinished come last."""
        if not self.rows:
            return {}
        table = [rankdata([self.rounded(row, m) for m in methods]) for row in self.rows]
        return dict(zip(methods, map(float, np.mean(table, axis=0)), strict=True))

    def rounded(self, row: str, method: str) -> float:
        """Means over the same runs that differ by rounding are equal."""
        return round(self.scores[row, method].error, 9)

    def lowest(self, row: str, methods: Sequence[str]) -> list[str]:
        least = min(self.rounded(row, m) for m in methods)
        return [m for m in methods if self.rounded(row, m) == least < inf]


def best(candidates: Iterable[Score]) -> str:
    """The most runs finished, then the fewest mistakes on validation rows, then the fastest."""
    ranked = [
        (-len(score.ok), score.mean("validation"), score.mean("seconds"), score.ok[0]["method"])
        for score in candidates
        if score.ok
    ]
    return str(min(ranked)[-1]) if ranked else LMNN[0]


def difference(mine: Score, base: Score, tested: int) -> tuple[float, float] | None:
    """Mean of (mine - base) in percent and its standard error, over the runs that both have.

    With a single run the error is that of a mean over its test rows, each -1, 0 or 1.
    """
    pairs = [(a, b) for a in mine.ok for b in base.ok if a["run"] == b["run"]]
    if not pairs:
        return None
    if len(pairs) > 1:
        values = np.array([a["error"] - b["error"] for a, b in pairs])
    else:
        values = np.zeros(tested)
        values[pairs[0][0]["mistakes"]] += 1.0
        values[pairs[0][1]["mistakes"]] -= 1.0
    return 100.0 * float(values.mean()), 100.0 * float(values.std(ddof=1)) / sqrt(len(values))
