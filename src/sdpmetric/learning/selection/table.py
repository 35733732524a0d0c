"""The candidates of a search, their scores, and the choice among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from ..._support.typing import Floats
from ...problem.result import Status
from ..estimators.coordinates import COORDINATES

__all__ = ["Candidate", "Key", "Table", "Trial", "choose"]


class Candidate:
    """A value for every setting that a search chooses, except C.

    Subclasses are frozen dataclasses. Their fields are the grids, in the order of the search; the
    three that every search has are declared here.
    """

    coordinates: str
    prior_weight: float
    h: float

    # Values of C below and above the best at which the values of a later grid are tried. This
    # assumes that another setting moves the best C only a little; `search="product"` does not.
    WINDOW: ClassVar[Mapping[str, tuple[int, int]]] = MappingProxyType({})

    @property
    def is_prior_alone(self) -> bool:
        """Whether nothing is learned: the metric is the prior."""
        return self.prior_weight == 1.0

    @property
    def rounds(self) -> int:
        """How many fits there are, each of which chooses the comparisons of the next."""
        return 1

    def prior_alone(self) -> Self:
        """The candidate that learns nothing, in the same coordinates."""
        return self._changed(prior_weight=1.0)

    @property
    def simplicity(self) -> tuple[Any, ...]:
        """Of two candidates the simpler sorts first: the one that leans more on the prior."""
        return -self.prior_weight, COORDINATES.index(self.coordinates)

    def settings(self) -> dict[str, Any]:
        """The settings by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def _changed(self, **changes: Any) -> Self:
        changed: Self = replace(self, **changes)  # type: ignore[type-var]
        return changed


Key: TypeAlias = tuple[Candidate, float]  # a candidate and its C

_CAUTION = 0.5  # the share of the doubt that protects the references
_ROUNDING = 1e-12  # means of equal scores in another order can differ by this much


@dataclass(frozen=True)
class Trial:
    """The outcome of one candidate on one split."""

    score: float
    gap: float
    rank: int
    rho: float
    seconds: float


@dataclass
class Table:
    """Candidates and their trials, in the order in which they were first tried.

    ``n_tried`` counts the complete paths and confirmation splits. ``ended`` says why the search
    ended early, None if it did not.
    """

    rows: dict[Key, list[Trial]] = field(default_factory=dict)
    n_tried: int = 0
    ended: Status | None = None

    def scores(self) -> Floats:
        """The scores, (candidates, splits); NaN for splits on which a candidate was not tried."""
        scores = np.full((len(self.rows), max(map(len, self.rows.values()))), np.nan)
        for row, trials in zip(scores, self.rows.values(), strict=True):
            row[: len(trials)] = [t.score for t in trials]
        return scores

    def results(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of ``cv_results_``, as in scikit-learn's searches."""
        scores = self.scores()
        mean = np.nanmean(scores, axis=1)
        whole = np.array([len(trials) == scores.shape[1] for trials in self.rows.values()])
        # Candidates that were tried on all splits rank before the others, because means over
        # different splits do not compare.
        ahead = whole & ~whole[:, None]
        ahead |= (whole == whole[:, None]) & (mean > mean[:, None] + _ROUNDING)
        columns: dict[str, Any] = {"param_C": [C for _, C in self.rows]}
        settings = [candidate.settings() for candidate, _ in self.rows]
        for name in settings[0]:
            columns[f"param_{name}"] = [s[name] for s in settings]
        for split in range(scores.shape[1]):
            columns[f"split{split}_test_score"] = scores[:, split]
        columns["mean_test_score"] = mean
        columns["std_test_score"] = np.nanstd(scores, axis=1)
        columns["rank_test_score"] = 1 + ahead.sum(axis=1)
        columns["max_gap"] = self._over_splits(np.max, "gap")
        columns["mean_rank"] = self._over_splits(np.mean, "rank")
        columns["mean_rho"] = self._over_splits(np.mean, "rho")
        columns["seconds"] = self._over_splits(np.sum, "seconds")
        return {name: np.asarray(values) for name, values in columns.items()}

    def _over_splits(self, how: Any, name: str) -> list[Any]:
        return [how([getattr(t, name) for t in trials]) for trials in self.rows.values()]

    def best_fitted(self) -> Key:
        """The best candidate so far that learns something."""
        return max(self.fitted(), key=self.mean_score)

    def mean_score(self, key: Key) -> float:
        """The mean over the splits on which a candidate was tried."""
        return float(np.mean([trial.score for trial in self.rows[key]]))

    def fitted(self) -> Iterable[Key]:
        """The candidates that learn something."""
        return [key for key in self.rows if not key[0].is_prior_alone]

    def priors(self) -> Iterable[Key]:
        """The candidates that learn nothing, one in each of the coordinates."""
        return [key for key in self.rows if key[0].is_prior_alone]


def choose(
    table: Table,
    *,
    doubt: float,
    one_standard_error: bool,
    references: Sequence[Key] = (),
    sampled: bool = False,
) -> int:
    """The row of the candidate with the best mean score; among equals, the simplest.

    Only candidates that were tried on all splits count. The prior alone is replaced only for a gain
    of more than ``doubt`` standard errors, split by split, and the best of the ``references`` for
    half as many; with ``sampled`` the prior alone is a candidate like others. With
    ``one_standard_error`` the choice is the simplest of all candidates within one standard error
    of the best.
    """
    scores = table.scores()
    mean = np.where(np.isnan(scores).any(axis=1), -np.inf, np.nanmean(scores, axis=1))
    best = int(np.argmax(mean))
    keys = list(table.rows)
    near = np.flatnonzero(mean >= mean[best] - _ROUNDING)

    def doubtful(start: int, doubt: float) -> bool:
        """Whether the best may be no better than ``start``."""
        # Paired by split, so that easy and hard splits cancel. Why two standard errors are the
        # default: docs/paper-checked.md.
        gain = scores[best] - scores[start]
        return bool(mean[best] - mean[start] <= doubt * _standard_error(gain))

    if scores.shape[1] > 1:  # a single split has no standard error
        alone = np.array([candidate.is_prior_alone for candidate, _ in keys])
        known = np.array([key in references for key in keys])
        start = int(np.argmax(np.where(known, mean, -np.inf)))
        # The best of many was also the luckiest; the defaults had no luck.
        if known[start] and np.isfinite(mean[start]) and doubtful(start, _CAUTION * doubt):
            best, near = start, np.array([start])
        start = int(np.argmax(np.where(alone, mean, -np.inf)))
        if not sampled and doubtful(start, doubt):
            near = np.flatnonzero(alone & (mean >= mean[start] - _ROUNDING))
        elif one_standard_error:
            near = np.flatnonzero(mean >= mean[best] - _standard_error(scores[best]))

    def order(i: int) -> tuple[Any, ...]:
        candidate, C = keys[i]
        return *candidate.simplicity, C, -mean[i]

    return min(map(int, near), key=order)


def _standard_error(scores: Floats) -> float:
    return float(scores.std(ddof=1)) / float(np.sqrt(len(scores)))
