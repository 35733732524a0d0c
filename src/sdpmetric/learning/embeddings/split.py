"""One split of queries: fits to the training queries, scores on the held-out ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._support.typing import Floats
from ...problem.result import Result
from ..fit.prepared import Prepared
from ..fit.run import Fit
from ..selection.splits import HeldOutSplit, SplitInCoordinates
from ..selection.table import Candidate
from .corpus import Vectors
from .negatives import Hardness, comparisons
from .pairs import Pairs
from .ranks import query_scores, rank_of

__all__ = ["QueryCandidate", "QuerySplit"]

# Bytes of first-round fits that are kept for candidates with more rounds. With an identity prior a
# fit has D rows of D numbers, so keeping all of a search could fill the memory.
_KEPT_BYTES = 1 << 26


@dataclass(frozen=True)
class QueryCandidate(Candidate):
    """The settings that `EmbeddingAdapter` chooses, except C; searched in this order."""

    coordinates: str
    skip: int
    guard: float
    n_negatives: int
    preserve: float
    prior_weight: float
    n_rounds: int
    h: float

    @property
    def hardness(self) -> Hardness:
        """The settings that decide which comparisons are made."""
        return Hardness(self.n_negatives, self.skip, self.guard, self.preserve)

    @property
    def rounds(self) -> int:
        return self.n_rounds

    @property
    def simplicity(self) -> tuple[Any, ...]:
        return *super().simplicity, self.n_rounds


@dataclass(eq=False)
class QuerySplit(HeldOutSplit):
    """A split scored by the ranks of the held-out queries' known positives in the whole corpus."""

    vectors: Vectors
    train: Pairs
    held: Pairs
    scoring: str

    def make(self, coordinates: str) -> SplitInCoordinates:
        # Embeddings are compared as they are: there is one kind of coordinates.
        return _RawQuerySplit(self)


class _RawQuerySplit(SplitInCoordinates):
    early_tol = 0.0  # as in the adapter's own fits, whose rounds all go on to tol

    def __init__(self, split: QuerySplit) -> None:
        super().__init__()
        self.split = split

    def comparisons_key(self, candidate: QueryCandidate) -> Hardness:
        return candidate.hardness

    def prepare(self, candidate: QueryCandidate, fit: Fit, last: Result | None) -> Prepared:
        under = None if last is None else last.components
        mined = comparisons(self.split.vectors, self.split.train, candidate.hardness, under)
        return fit.prepare(*mined)

    def fit(self, candidate: QueryCandidate, fit: Fit, middle: Fit, start: Floats | None) -> Result:
        if sum(result.components.nbytes for result in self.fits.values()) > _KEPT_BYTES:
            # All of them: the path at work goes on from its last factor, which it holds itself.
            self.fits.clear()
            self.early.clear()
        return super().fit(candidate, fit, middle, start)

    def score(self, components: Floats | None) -> float:
        split = self.split
        name, rank = rank_of(split.scoring, len(split.vectors.X))
        scores = query_scores(split.vectors, split.held, components, [rank])
        return float(scores[name].mean())
