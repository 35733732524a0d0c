"""The candidates of a search and their scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from ..._support.typing import Floats
from ...problem.result import Status
from ..estimators.coordinates import COORDINATES

__all__ = ["ROUNDING", "Candidate", "Key", "Table", "Trial"]


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

    def one_round(self) -> Self:
        """The candidate whose only fit is the first one of this candidate."""
        return self if self.rounds == 1 else self._changed(n_rounds=1)

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

ROUNDING = 1e-12  # means of equal scores in another order can differ by this much


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
        ahead |= (whole == whole[:, None]) & (mean > mean[:, None] + ROUNDING)
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
