"""The search among settings: which are tried, in what order, and which is chosen.

Each grid is searched in turn with the others at their best so far, instead of all combinations:
scores on a few hundred held-out rows are noisy, and the more candidates, the likelier it is that
the winner was merely lucky. The first grid is searched over all values of C, later ones near the
best. Where fits are dear, all candidates meet on one split, and the best of them on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from .._typing import Floats
from ..result import Status

__all__ = ["Ground", "Lane", "Table", "Trial", "choose", "n_settings", "search"]

Lane: TypeAlias = tuple[tuple[str, Any], ...]  # settings but C, by name
_WINDOW = 2  # values of C on either side of the best that later grids look at
_FINALISTS = 8  # candidates that meet again on further splits


@dataclass(frozen=True)
class Trial:
    """One candidate on one split."""

    score: float
    gap: float
    rank: int
    rho: float
    seconds: float


class Ground(Protocol):
    """One split of the data: fits on the one part, scores on the other."""

    def trials(self, lane: Lane, Cs: Sequence[float], /) -> list[Trial]:
        """A trial for each C, ascending, along one warm-started path."""

    def untouched(self, lane: Lane, /) -> Trial:
        """The score of the prior alone."""


@dataclass
class Table:
    """Candidates and their trials, in the order in which they were first tried.

    ``n_tried``: lanes, and further splits, that are complete; ``ended``: why not all of them are,
    if so.
    """

    rows: dict[tuple[Lane, float], list[Trial]] = field(default_factory=dict)
    n_tried: int = 0
    ended: Status | None = None

    def scores(self) -> Floats:
        """(candidates, splits), NaN where a candidate was not tried."""
        scores = np.full((len(self.rows), max(map(len, self.rows.values()))), np.nan)
        for row, trials in zip(scores, self.rows.values(), strict=True):
            row[: len(trials)] = [t.score for t in trials]
        return scores

    def results(self) -> dict[str, npt.NDArray[Any]]:
        """As `cv_results_` of scikit-learn's searches: a column per array."""
        scores = self.scores()
        mean = np.nanmean(scores, axis=1)
        whole = np.array([len(trials) == scores.shape[1] for trials in self.rows.values()])
        # Those that were tried on all splits come first.
        ahead = whole & ~whole[:, None]
        ahead |= (whole == whole[:, None]) & (mean > mean[:, None] + 1e-12)
        columns: dict[str, Any] = {"param_C": [C for _, C in self.rows]}
        names = [name for name, _ in next(iter(self.rows))[0]]
        for i, name in enumerate(names):
            columns[f"param_{name}"] = [lane[i][1] for lane, _ in self.rows]
        for split in range(scores.shape[1]):
            columns[f"split{split}_test_score"] = scores[:, split]
        columns["mean_test_score"] = mean
        columns["std_test_score"] = np.nanstd(scores, axis=1)
        columns["rank_test_score"] = 1 + ahead.sum(axis=1)
        for name, how in (("gap", np.max), ("rank", np.mean), ("rho", np.mean)):
            values = [how([getattr(t, name) for t in trials]) for trials in self.rows.values()]
            columns[f"{'max' if how is np.max else 'mean'}_{name}"] = values
        seconds = [sum(t.seconds for t in trials) for trials in self.rows.values()]
        return {k: np.asarray(v) for k, v in (columns | {"seconds": seconds}).items()}


def search(
    grids: dict[str, list[Any]],
    Cs_of: Callable[[Lane], Sequence[float]],
    grounds: Iterable[Ground],
    *,
    every: bool,
    finals: Sequence[Callable[[], Ground]] = (),
    report: Callable[[int, int], object] = lambda done, total: None,
) -> Table:
    """Try the grids one after the other, or all combinations of them, then the best on ``finals``.

    Ends early if ``report`` returns something true, or by Ctrl-C once a lane is complete. Grounds
    of the finals are made one at a time: each has a copy of its rows.
    """
    kept = list(grounds)
    table, total = Table(), n_settings(grids, every) + len(finals)

    def stopped() -> bool:
        table.n_tried += 1
        if report(table.n_tried, total) and table.n_tried < total:
            table.ended = Status.STOPPED
        return table.ended is not None

    try:
        for lane, Cs in _plan(grids, Cs_of, every, table):
            # Where we started: the prior alone, once in each of the coordinates.
            alone = _alone(grids, lane)
            at = alone, Cs_of(alone)[0]
            if at not in table.rows:
                table.rows[at] = [ground.untouched(alone) for ground in kept]
            found = [ground.trials(lane, Cs) for ground in kept]
            for i, C in enumerate(Cs):
                table.rows[lane, C] = [trials[i] for trials in found]
            if stopped():
                return table
        best = _finalists(table)
        for make in finals:
            ground = make()
            again = [_again(ground, lane, Cs) for lane, Cs in best]
            for (lane, Cs), trials in zip(best, again, strict=True):
                for C, trial in zip(Cs, trials, strict=True):
                    table.rows[lane, C].append(trial)
            if stopped():
                return table
    except KeyboardInterrupt:
        if table.n_tried == 0:
            raise
        table.ended = Status.INTERRUPTED
    return table


def _plan(
    grids: dict[str, list[Any]],
    Cs_of: Callable[[Lane], Sequence[float]],
    every: bool,
    table: Table,
) -> Iterator[tuple[Lane, Sequence[float]]]:
    """Which lanes to try, and at which values of C; the table tells how the earlier ones did."""
    if every:
        for lane in map(_lane, _combinations(grids)):
            yield lane, Cs_of(lane)
        return
    first = next(iter(grids))
    start = {name: values[0] for name, values in grids.items()}
    for value in grids[first]:
        lane = _lane(start | {first: value})
        yield lane, Cs_of(lane)
    for name in list(grids)[1:]:
        best, C = _best_fitted(table)
        at = list(Cs_of(best)).index(C)
        window = slice(max(0, at - _WINDOW), at + _WINDOW + 1)
        for value in grids[name]:
            if value != dict(best)[name]:
                lane = _lane(dict(best) | {name: value})
                yield lane, Cs_of(lane)[window]


def _alone(grids: dict[str, list[Any]], lane: Lane) -> Lane:
    """The prior alone, in the coordinates of a lane, which come first."""
    start = {name: values[0] for name, values in grids.items()}
    return _lane(start | dict(lane[:1]) | {"prior_weight": 1.0})


def _finalists(table: Table) -> list[tuple[Lane, list[float]]]:
    """The best candidates, by lane, and the prior alone in all coordinates."""
    scores = {key: trials[0].score for key, trials in table.rows.items()}
    fitted = sorted((key for key in scores if not _is_alone(key[0])), key=lambda k: -scores[k])
    lanes: dict[Lane, list[float]] = {}
    for lane, C in [*fitted[:_FINALISTS], *filter(lambda key: _is_alone(key[0]), scores)]:
        lanes.setdefault(lane, []).append(C)
    return [(lane, sorted(Cs)) for lane, Cs in lanes.items()]


def _again(ground: Ground, lane: Lane, Cs: list[float]) -> list[Trial]:
    return [ground.untouched(lane)] if _is_alone(lane) else ground.trials(lane, Cs)


def choose(
    table: Table, order: Callable[[Lane, float], Any], *, doubt: float, one_standard_error: bool
) -> int:
    """The candidate of the best mean score, the simplest of equals; ``order`` says what is simple.

    Only those that were tried on all splits count. The prior alone is left only for a gain on it,
    split by split, of more than ``doubt`` standard errors. With ``one_standard_error`` it is the
    simplest of all that are within one standard error of the best.
    """
    scores = table.scores()
    mean = np.where(np.isnan(scores).any(axis=1), -np.inf, np.nanmean(scores, axis=1))
    best = int(np.argmax(mean))
    keys = list(table.rows)
    room = 1e-12
    near = np.flatnonzero(mean >= mean[best] - room)
    if scores.shape[1] > 1:
        alone = np.array([_is_alone(lane) for lane, _ in keys])
        start = int(np.argmax(np.where(alone, mean, -np.inf)))
        if mean[best] - mean[start] <= doubt * _standard_error(scores[best] - scores[start]):
            near = np.flatnonzero(alone & (mean >= mean[start] - room))
        elif one_standard_error:
            near = np.flatnonzero(mean >= mean[best] - _standard_error(scores[best]))
    return int(min(near, key=lambda i: (order(*keys[i]), -mean[i])))


def _is_alone(lane: Lane) -> bool:
    return bool(dict(lane)["prior_weight"] == 1.0)


def _standard_error(scores: Floats) -> float:
    return float(scores.std(ddof=1)) / float(np.sqrt(len(scores)))


def _best_fitted(table: Table) -> tuple[Lane, float]:
    """The best candidate so far that was fitted, for the other grids to start from."""
    fitted = {key: t for key, t in table.rows.items() if not _is_alone(key[0])}
    return max(fitted, key=lambda key: float(np.mean([t.score for t in fitted[key]])))


def _lane(settings: dict[str, Any]) -> Lane:
    return tuple(settings.items())


def _combinations(grids: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(grids, values, strict=True)) for values in product(*grids.values())]


def n_settings(grids: dict[str, list[Any]], every: bool) -> int:
    """How many lanes a search has."""
    sizes = [len(values) for values in grids.values()]
    return int(np.prod(sizes)) if every else sizes[0] + sum(size - 1 for size in sizes[1:])
