"""From runs to one cell for each rival on each data set: means over its splits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.peers.data import SETS
from benchmarks.peers.rivals import RIVALS
from benchmarks.rules import RULES

FAILED = ("error", "memory")


@dataclass(frozen=True)
class Errors:
    """3-NN errors in % by split, and the wrong test rows; None where they were not stored."""

    shares: dict[int, float]
    wrong: dict[int, frozenset[int] | None]

    @classmethod
    def of(cls, outcomes: dict[int, dict[str, Any]]) -> Errors:
        """From what `run.measure` found on each split."""
        shares = {split: 100 * outcome["error"] for split, outcome in outcomes.items()}
        wrong = {
            split: frozenset(map(int, outcome["wrong"].split())) if "wrong" in outcome else None
            for split, outcome in outcomes.items()
        }
        return cls(shares, wrong)

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.shares.values())))


@dataclass(frozen=True)
class Cell:
    """What a rival did on a data set; None where no split got that far."""

    seconds: float | None  # CPU seconds, mean; a run at its limit counts with the limit
    growth: float | None  # the largest, in MB
    error: float | None  # mean over the splits that ended, in %
    errors: Errors  # of each split that ended
    rules: dict[str, float]  # the same mean by the other rules, in %
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
    ruled = [run["rules"] for run in ended if "rules" in run]
    return Cell(
        # A run that was ended at its limit has no CPU seconds.
        seconds=mean([run.get("cpu_seconds", run["seconds"]) for run in timed]),
        growth=max((run["growth_mb"] for run in timed), default=None),
        error=mean([100 * run["error"] for run in ended]),
        errors=Errors.of({run["split"]: run for run in ended}),
        rules=mean_rules(ruled) if len(ruled) == len(ended) else {},
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


def mean_rules(found: list[dict[str, float]]) -> dict[str, float]:
    """The mean error of every rule in %, over splits."""
    return {rule: 100 * float(np.mean([f[rule] for f in found])) for rule in RULES if found}


def euclidean(content: dict[str, Any], name: str) -> Errors:
    """3-NN errors of the untouched columns, by split."""
    stored = content["data"][name]["euclidean"]
    return Errors.of({int(split): found for split, found in stored.items()})


def higher(ours: Errors, other: Errors, test_rows: int) -> bool:
    """Whether our mean error is higher than another by more than one standard error.

    The standard error is that of the paired differences of splits, or of test rows where there is a
    single split. If it was not stored which rows are wrong, it is the bound that is reached if no
    row is wrong for both.
    """
    shared = sorted(ours.shares.keys() & other.shares.keys())
    a, b = (np.array([errors.shares[split] for split in shared]) for errors in (ours, other))
    gap = float(np.mean(a - b))
    if len(shared) > 1:
        return gap > float(np.std(a - b, ddof=1)) / math.sqrt(len(shared))
    mine, theirs = ours.wrong[shared[0]], other.wrong[shared[0]]
    differ = float(a[0] + b[0])  # rows in % that one of both has wrong
    if mine is not None and theirs is not None:
        differ = 100.0 * len(mine ^ theirs) / test_rows
    return gap > math.sqrt(max(0.0, 100.0 * differ - gap**2) / test_rows)
