"""A split on which candidates are tried: paths of fits on one part, scores on the other."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._support.typing import Floats
from ...problem.losses import Loss
from ...problem.result import Result, Status
from ..fit.prepared import Prepared
from ..fit.rounds import EARLY_TOL
from ..fit.run import Fit
from .cells import Cell, SplitCells
from .table import Trial

__all__ = ["HeldOutSplit", "SplitInCoordinates"]

# Coordinates that are kept at a time. All are compared before the first path, so that none is made
# twice; standardised and whitened rows are copies.
_COORDINATES = 3


class SplitInCoordinates(ABC):
    """A split in one kind of coordinates. Results that several candidates share are made once."""

    early_tol = EARLY_TOL  # gap of all rounds but the last, that of the estimator's own fits

    def __init__(self) -> None:
        self.prepared: dict[Any, Prepared] = {}
        self.fits: dict[Any, Result] = {}
        self.early: dict[Any, list[Result]] = {}
        # The last factor for each C: other settings start from it.
        self.factors: dict[float, Floats] = {}

    @abstractmethod
    def comparisons_key(self, candidate: Any) -> Any:
        """The settings that decide the comparisons of the first round."""

    @abstractmethod
    def prepare(self, candidate: Any, fit: Fit, last: Result | None) -> Prepared:
        """The comparisons of a candidate under the previous metric, None for the first round."""

    @abstractmethod
    def score(self, components: Floats | None) -> float:
        """The score of the held-out part under a metric; None is Euclidean distance."""

    def fit(self, candidate: Any, fit: Fit, middle: Fit, start: Floats | None) -> Result:
        """The fit of a candidate, made once; ``middle`` is that of its early rounds."""
        key = candidate, fit.C
        if key not in self.fits:
            self.fits[key] = fit.run(self._prepared(candidate, fit, middle), start)
        return self.fits[key]

    def nearest_factor(self, C: float) -> Floats | None:
        """The last factor for the tried C that is nearest by ratio, None before the first fit."""
        if not self.factors:
            return None
        return self.factors[min(self.factors, key=lambda tried: abs(np.log(tried / C)))]

    def saturation_C(self, candidate: Any, fit: Fit, middle: Fit, result: Result) -> float:
        """The C above which all fits of a path are the same."""
        # With a positive margin, a larger C still moves comparisons across it.
        if result.rho > 0.0:
            return np.inf
        return self._prepared(candidate, fit, middle).saturation_C(result.factor)

    def _prepared(self, candidate: Any, fit: Fit, middle: Fit) -> Prepared:
        """The comparisons of a candidate's last round, ready for a fit.

        Those of a first round do not depend on any metric. Those of a later round are chosen once
        for the whole path, under the metric of ``middle``: a round for each C would double the cost
        of a search.
        """
        key: Any = self.comparisons_key(candidate)
        if candidate.rounds > 1:
            key = candidate, middle.C
        if key not in self.prepared:
            # One at a time: edges and distances of all comparisons are large.
            self.prepared = {}
            last = self._early_rounds(candidate, middle) if candidate.rounds > 1 else None
            self.prepared = {key: self.prepare(candidate, middle, last)}
        # The varied data replace the stored ones: their prior distances and working triplets need
        # not be found again.
        self.prepared[key] = fit.vary(self.prepared[key])
        return self.prepared[key]

    def _early_rounds(self, candidate: Any, fit: Fit) -> Result:
        """All rounds of a candidate but the last; those of fewer rounds are the first of them."""
        early = fit.loosened(self.early_tol)
        made: list[Result] = self.early.setdefault((candidate.one_round(), fit.C), [])
        while len(made) < candidate.rounds - 1:
            last = made[-1] if made else None
            # Cold at first, as the last fit will be: a resumed search takes the same steps.
            start = None if last is None else last.factor
            made.append(_certified(early.run(self.prepare(candidate, fit, last), start)))
            fit.limits.deadline.check()
        rounds: int = candidate.rounds
        return made[rounds - 2]


@dataclass(eq=False)
class HeldOutSplit(ABC):
    """One split of the data. For each candidate it walks a path over C, with warm starts.

    ``fit`` has the parsed parameters that are not searched; ``losses`` has the loss of each h.
    ``cells`` are finished earlier, and those that are finished now go there.
    """

    fit: Fit
    losses: dict[float, Loss]
    in_use: dict[str, SplitInCoordinates] = field(default_factory=dict, init=False)
    cells: SplitCells | None = field(default=None, init=False)

    @abstractmethod
    def make(self, coordinates: str) -> SplitInCoordinates:
        """The split in these coordinates, which are learned from the training part alone."""

    def trials(
        self, candidate: Any, Cs: Sequence[float], early_C: float | None = None, /
    ) -> list[Trial]:
        """A trial for each C, in ascending order of C.

        ``early_C`` is the C of all rounds but the last; None: the middle one of ``Cs``.
        """
        view = self._in_coordinates(candidate.coordinates)
        start, end, found = view.nearest_factor(max(Cs)), np.inf, []
        middle_C = sorted(Cs)[len(Cs) // 2] if early_C is None else early_C
        fit = middle = self._fit(candidate, middle_C, candidate.prior_weight)
        # From large C to small: directions are dropped along the path, which is cheaper than
        # to find them (benchmarks/README.md, bench-path).
        for C in sorted(Cs, reverse=True):
            self.fit.limits.deadline.check()
            # Above the saturation every C has the same metric: `fit` as before finds it stored.
            if end > C:
                fit = self._fit(candidate, C, candidate.prior_weight)
            cell = None if self.cells is None else self.cells.get(candidate, C)
            if cell is None:
                # From the same C with other settings, or from the C before with the same ones;
                # the first of a path from the nearest C that was tried with any.
                cell = self._cell(view, candidate, fit, middle, view.factors.get(C, start), end)
                if self.cells is not None:
                    self.cells.add(candidate, C, cell)
            view.fits[candidate, fit.C] = cell.result
            start = view.factors[C] = cell.result.factor
            end = cell.end
            found.append(cell.trial)
        return found[::-1]

    def _cell(
        self,
        view: SplitInCoordinates,
        candidate: Any,
        fit: Fit,
        middle: Fit,
        start: Floats | None,
        end: float,
    ) -> Cell:
        """Fit a candidate and score it; ``end`` is the saturation of its path so far."""
        began = time.perf_counter()
        result = self._finished(view.fit(candidate, fit, middle, start))
        end = min(end, view.saturation_C(candidate, fit, middle, result))
        seconds = time.perf_counter() - began
        score = view.score(result.components)
        return Cell(Trial(score, result.gap, result.rank, result.rho, seconds), result, end)

    def prior_score(self, candidate: Any, /) -> Trial:
        """The trial of the prior alone."""
        view = self._in_coordinates(candidate.coordinates)
        fit = self._fit(candidate, self.fit.C, 1.0)
        components = None
        # The whole identity is Euclidean distance: only a given matrix or a cut needs a fit.
        if fit.prior.matrix is not None or fit.n_components is not None:
            components = _certified(view.fit(candidate, fit, fit, None)).components
        return Trial(view.score(components), 0.0, fit.n_components or 0, 0.0, 0.0)

    def _finished(self, result: Result) -> Result:
        """The result of a fit on a path, whose end must not be that of the time limit."""
        _certified(result)
        self.fit.limits.deadline.check()
        return result

    def _fit(self, candidate: Any, C: float, prior_weight: float) -> Fit:
        return self.fit.with_settings(self.losses[candidate.h], C, prior_weight)

    def _in_coordinates(self, coordinates: str) -> SplitInCoordinates:
        if coordinates not in self.in_use:
            while len(self.in_use) >= _COORDINATES:
                self.in_use.pop(next(iter(self.in_use)))
            self.in_use[coordinates] = self.make(coordinates)
        return self.in_use[coordinates]


def _certified(result: Result) -> Result:
    """The result of a fit in the search; what interrupts a fit ends the whole search."""
    # Stopped: another split was interrupted, and told all fits to end.
    if result.status in (Status.INTERRUPTED, Status.STOPPED):
        raise KeyboardInterrupt
    if result.status is Status.OUT_OF_MEMORY:
        raise MemoryError("Memory ran out in a fit of the search.")
    return result
