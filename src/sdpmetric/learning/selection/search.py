"""The search among settings: which candidates are tried, and in what order.

Each grid is searched in turn with the others at their best so far, instead of all combinations:
scores on a few hundred held-out rows are noisy, and the more candidates there are, the likelier it
is that the winner was merely lucky. The first grid is searched over all values of C, later ones
near the best. All candidates are tried on the first splits, the best of them on the others too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from operator import methodcaller
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..._support.deadline import Deadline, OutOfTimeError
from ...problem.result import Status
from .table import Candidate, Key, Table, Trial

__all__ = ["FINALISTS", "OnEach", "Space", "Split", "in_turn", "search"]

# Calls a function on every split of a list; returns the results in order.
OnEach: TypeAlias = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]

# Candidates that are tried again on the confirmation splits; one of them is the reference, if there
# is one. A choice by one fifth alone did worse than the defaults on two sets
# (docs/paper-checked.md), and all candidates would cost five times.
FINALISTS = 3
# Coordinates are dropped if their score is behind by this many standard errors.
_BEHIND = 2.0
_KINDS = 2  # coordinates that go on at most


class Split(Protocol):
    """One split of the data: fits on one part, scores on the other."""

    def trials(
        self, candidate: Any, Cs: Sequence[float], early_C: float | None = None, /
    ) -> list[Trial]:
        """A trial for each C, ascending, along one warm-started path.

        ``early_C`` is the C of all rounds but the last; None: the middle one of ``Cs``.
        """

    def prior_score(self, candidate: Any, /) -> Trial:
        """The trial of the prior alone."""


@dataclass(frozen=True)
class Space:
    """The candidates of a search.

    ``first`` has the first value of every grid. ``grids`` has the values of each of its fields.
    ``Cs_of`` gives the path of values of C, ascending, for a candidate. ``every`` tries all
    combinations instead of one grid after the other. ``default_C``: the first value of every grid
    and the C nearest to this one are default settings, which have to be improved on;
    ``default_coordinates`` are those of the default settings, None the ones with the best score.
    ``votes`` is the number of held-out rows by which coordinates may be dropped after one fit with
    the default settings; with 0 none are. ``finalists`` is the number of candidates that are tried
    again on the confirmation splits, besides the prior alone.
    """

    first: Any
    grids: dict[str, list[Any]]
    Cs_of: Callable[[Any], Sequence[float]]
    every: bool = False
    default_C: float | None = None
    default_coordinates: str | None = None
    votes: int = 0
    finalists: int = FINALISTS

    @property
    def n_paths(self) -> int:
        """How many candidates are tried, each with a path of values of C."""
        sizes = [len(values) for values in self.grids.values()]
        if self.every:
            return int(np.prod(sizes))
        return (1 + self.races) * sizes[0] + sum(size - 1 for size in sizes[1:])

    @property
    def races(self) -> bool:
        """Whether coordinates are compared at one C before the others are tried."""
        several = len(self.grids["coordinates"]) > 1 and len(self.Cs_of(self.first)) > 1
        return bool(self.votes) and several and not self.every

    def references(self) -> list[Key]:
        """The default settings, in each of the coordinates if none are the default."""
        firsts = self.firsts()
        return [key for key in firsts if key[0].coordinates == self.default_coordinates] or firsts

    def firsts(self) -> list[Key]:
        """The default settings in each of the coordinates."""
        default = self.default_C
        if default is None:
            return []
        firsts = [replace(self.first, coordinates=kind) for kind in self.grids["coordinates"]]
        return [
            (each, min(self.Cs_of(each), key=lambda C: abs(np.log(C / default)))) for each in firsts
        ]

    def prior_alone(self, candidate: Candidate) -> Key:
        """The prior alone in the coordinates of a candidate; its C has no effect."""
        alone = replace(self.first, coordinates=candidate.coordinates).prior_alone()
        return alone, self.Cs_of(alone)[0]

    def plan(self, table: Table) -> Iterator[tuple[Any, Sequence[float], float | None]]:
        """Yield each candidate, its values of C and the C of its early rounds.

        The table shows how earlier candidates did.
        """
        if self.every:
            for values in product(*self.grids.values()):
                candidate = replace(self.first, **dict(zip(self.grids, values, strict=True)))
                yield candidate, self.Cs_of(candidate), None
            return
        # 1. The first grid, over all values of C; the coordinates are compared at one of them.
        name, *names = self.grids
        raced: dict[Any, float] = dict(self.firsts()) if self.races else {}
        for candidate, C in raced.items():
            yield candidate, [C], None
        dropped = self._behind(table) if raced else set()
        for value in self.grids[name]:
            candidate = replace(self.first, **{name: value})
            at = raced.get(candidate)
            left = [C for C in self.Cs_of(candidate) if at != C]
            # The early rounds of the race serve the whole path: they are made once.
            yield candidate, [] if candidate.coordinates in dropped else left, at
        # 2. Each further grid, from the best candidate so far and near its C.
        for name in names:
            best, C = table.best_fitted()
            # Paths have the same largest C, so the places are counted from there.
            at = list(self.Cs_of(best)).index(C) - len(self.Cs_of(best))
            for value in self.grids[name]:
                if value != getattr(best, name):
                    candidate = replace(best, **{name: value})  # type: ignore[type-var]
                    Cs = self.Cs_of(candidate)
                    below, above = candidate.WINDOW.get(name, (1, 1))
                    middle = max(0, len(Cs) + at)
                    yield candidate, Cs[max(0, middle - below) : middle + above + 1], None

    def _behind(self, table: Table) -> set[str]:
        """The coordinates whose default settings and prior alone are clearly behind the best."""
        score = {
            key[0].coordinates: max(
                table.mean_score(key), table.mean_score(self.prior_alone(key[0]))
            )
            for key in self.firsts()
        }
        ranked = sorted(score, key=lambda kind: -score[kind])
        best = score[ranked[0]]
        # The variance of a difference of two shares of right votes is at most this.
        clearly = {
            kind
            for kind, own in score.items()
            if best - own > _BEHIND * np.sqrt((2.0 - best - own) / self.votes)
        }
        return clearly | set(ranked[_KINDS:])


def in_turn(work: Callable[[Any], Any], splits: Sequence[Any]) -> list[Any]:
    """Call a function on one split after the other."""
    return [work(split) for split in splits]


def search(
    space: Space,
    splits: Iterable[Split],
    deadline: Deadline | None = None,
    *,
    confirmation_splits: Sequence[Callable[[], Split]] = (),
    report: Callable[[int, int], object] = lambda done, total: None,
    on_each: OnEach = in_turn,
    at_once: int = 1,
) -> Table:
    """Try the candidates on all splits, then the best of them on the confirmation splits.

    Ends early if ``report`` returns a true value, at the deadline, at Ctrl-C, or if memory runs
    out; the last two raise their exception before the first path is complete. At the deadline a
    path that is not complete is left out. The prior alone is scored in any case, on one split at
    least, so that there is always something to choose.
    ``on_each`` calls a function on every split, perhaps on several at the same time. At most
    ``at_once`` confirmation splits are made at a time: each has a copy of its rows.
    """
    kept, deadline = list(splits), deadline or Deadline()
    table, total = Table(), space.n_paths + len(confirmation_splits)

    def stopped() -> bool:
        table.n_tried += 1
        # A callback that asks to stop after the last setting stops nothing.
        if report(table.n_tried, total) and table.n_tried < total:
            table.ended = Status.STOPPED
        return table.ended is not None

    try:
        for candidate, Cs, early_C in space.plan(table):
            # 1. The baseline: the prior alone, once in each of the coordinates.
            alone = space.prior_alone(candidate)
            if alone not in table.rows:
                _score_prior(table, alone, kept, deadline)
            deadline.check()
            # 2. A path over C on every split; a candidate enters the table with all its scores.
            found = on_each(methodcaller("trials", candidate, Cs, early_C), kept) if Cs else []
            for i, C in enumerate(Cs):
                table.rows[candidate, C] = [trials[i] for trials in found]
            if stopped():
                return table
        # 3. The best candidates and the baselines again, on further splits.
        finalists = _finalists(table, space)
        step = max(1, at_once)
        for first in range(0, len(confirmation_splits), step):
            deadline.check()
            # All of them before any enters the table: after Ctrl-C every finalist must have the
            # same number of scores.
            makes = confirmation_splits[first : first + step]
            for again in on_each(partial(_confirm, finalists), makes):
                for key, trial in zip(finalists, again, strict=True):
                    table.rows[key].append(trial)
                if stopped():
                    return table
    except OutOfTimeError:
        table.ended = Status.TIME_LIMIT
    except (KeyboardInterrupt, MemoryError) as error:
        if table.n_tried == 0:
            raise  # no candidate has its scores: there is nothing to choose from
        interrupted = isinstance(error, KeyboardInterrupt)
        table.ended = Status.INTERRUPTED if interrupted else Status.OUT_OF_MEMORY
    return table


def _score_prior(table: Table, alone: Key, splits: list[Split], deadline: Deadline) -> None:
    """Enter the prior alone into the table, with all its scores unless it is the first entry."""
    trials: list[Trial] = []
    for split in splits:
        if deadline.over and (trials or table.rows):
            break
        trials.append(split.prior_score(alone[0]))
    if len(trials) == len(splits) or not table.rows:
        table.rows[alone] = trials


def _finalists(table: Table, space: Space) -> list[Key]:
    """The best candidates, the best reference, and the prior alone in all coordinates."""
    ranked = sorted(table.fitted(), key=lambda key: -table.mean_score(key))
    known = [key for key in ranked if key in space.references()]
    best = ranked[: space.finalists - len(known[:1])]
    return list(dict.fromkeys([*best, *known[:1], *table.priors()]))


def _confirm(finalists: list[Key], make: Callable[[], Split]) -> list[Trial]:
    """The trials of all finalists on a new split."""
    split = make()
    return [_try_again(split, candidate, C) for candidate, C in finalists]


def _try_again(split: Split, candidate: Candidate, C: float) -> Trial:
    if candidate.is_prior_alone:
        return split.prior_score(candidate)
    return split.trials(candidate, [C])[0]
