"""From runs to one cell for each rival on each data set: means over its splits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.peers.data import SETS
from benchmarks.peers.rivals import RIVALS

FAILED = ("error", "memory")


@dataclass(frozen=True)
class Cell:
    """What a rival did on a data set; None where no split got that far."""

    seconds: float | None  # CPU seconds, mean; a run at its limit counts with the limit
    growth: float | None  # the largest, in MB
    error: float | None  # mean over the splits that ended, in %
    errors: dict[int, float]  # of each split that ended, in %
    first_call: float | None
    at_limit: bool
    note: str

    @property
    def time(self) -> str:
        if self.seconds is None:
            return "-"
        return ("> " if self.at_limit else "") + number(self.seconds)

    @property
    def memory(self) -> str:
        if self.growth is None:
            return "-"
        return (">= " if self.at_limit else "") + number(self.growth)


def number(value: float) -> str:
    """Three digits, without exponents."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def cell(runs: list[dict[str, Any]]) -> Cell:
    timed = [run for run in runs if run["status"] not in FAILED]
    ended = [run for run in runs if run["status"] == "ok"]
    first = [run["first_call_seconds"] for run in runs if "first_call_seconds" in run]
    error = mean([100 * run["error"] for run in ended])
    return Cell(
        # A run that was ended at its limit has no CPU seconds.
        seconds=mean([run.get("cpu_seconds", run["seconds"]) for run in timed]),
        growth=max((run["growth_mb"] for run in timed), default=None),
        error=error,
        errors={run["split"]: 100 * run["error"] for run in ended},
        first_call=mean(first),
        at_limit=any(run["status"] == "limit" for run in runs),
        note=note(runs, len(ended)),
    )


def note(runs: list[dict[str, Any]], ended: int) -> str:
    if ended == len(runs):
        return ""
    failed = next((run for run in runs if run["status"] in FAILED), None)
    reason = f"{failed['status']}: {failed.get('message', '')}"[:60] if failed else "time limit"
    return reason if ended == 0 else f"{ended} of {len(runs)} splits ended; {reason}"


def cells(content: dict[str, Any]) -> dict[str, dict[str, Cell]]:
    """By data set, then by rival, both in their usual order and only where there are runs."""
    table: dict[str, dict[str, Cell]] = {}
    for name in SETS:
        for rival in RIVALS:
            runs = [r for r in content["runs"] if (r["data"], r["rival"]) == (name, rival)]
            if runs:
                table.setdefault(name, {})[rival] = cell(runs)
    return table


def euclidean(content: dict[str, Any], name: str) -> dict[int, float]:
    """3-NN errors of the untouched columns in %, by split."""
    stored = content["data"][name]["euclidean"]
    return {int(split): 100 * error for split, error in stored.items()}


def higher(ours: dict[int, float], other: dict[int, float], test_rows: int) -> bool:
    """Whether our mean error is higher than another by more than one standard error.

    The standard error is that of the paired differences of splits. For a single split it is a bound
    on that of paired test rows, reached if no row is wrong for both: which rows are wrong is not
    stored.
    """
    shared = sorted(ours.keys() & other.keys())
    a, b = (np.array([errors[split] for split in shared]) for errors in (ours, other))
    gap = float(np.mean(a - b))
    if len(shared) > 1:
        return gap > float(np.std(a - b, ddof=1)) / math.sqrt(len(shared))
    return gap > math.sqrt(max(0.0, 100.0 * float(a[0] + b[0]) - gap**2) / test_rows)
