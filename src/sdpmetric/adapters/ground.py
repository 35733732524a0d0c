"""A split of queries: fits to the pairs of some, scores of how the others find theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._typing import Floats
from ..result import Result
from ..selection.grounds import Split, View
from ..settings import Ready, Settings
from .negatives import Hardness, comparisons
from .pairs import Pairs
from .ranks import query_scores
from .vectors import Vectors

__all__ = ["QueryGround", "hardness_of", "rank_of"]

_KEPT_BYTES = 1 << 26  # of fits that further rounds may go on from


@dataclass(eq=False)
class QueryGround(Split):
    """Scored by where the held-out queries' known positives stand in the whole corpus."""

    vectors: Vectors
    train: Pairs
    held: Pairs
    scoring: str

    def look(self, coordinates: str) -> View:
        return _QueryView(self)


class _QueryView(View):
    mined_by = ("n_negatives", "skip", "guard")

    def __init__(self, ground: QueryGround) -> None:
        super().__init__()
        self.ground = ground

    def prepare(self, given: dict[str, Any], settings: Settings) -> Ready:
        ground = self.ground
        return settings.prepare(*comparisons(ground.vectors, ground.train, hardness_of(given)))

    def fit(self, given: dict[str, Any], settings: Settings, start: Floats | None) -> Result:
        if sum(result.components.nbytes for result in self.fits.values()) > _KEPT_BYTES:
            self.fits.clear()  # with an identity prior each has D rows
        return super().fit(given, settings, start)

    def further(self, given: dict[str, Any], settings: Settings, result: Result) -> Result:
        ground = self.ground
        for _ in range(1, given["n_rounds"]):
            mined = comparisons(ground.vectors, ground.train, hardness_of(given), result.components)
            result = settings.solve(settings.prepare(*mined), result.factor)
        return result

    def score(self, components: Floats | None) -> float:
        ground = self.ground
        name, rank = rank_of(ground.scoring, len(ground.vectors.X))
        scores = query_scores(ground.vectors, ground.held, components, [rank])
        return float(scores[name].mean())


def hardness_of(given: dict[str, Any]) -> Hardness:
    return Hardness(given["n_negatives"], given["skip"], given["guard"])


def rank_of(scoring: str, n: int) -> tuple[str, int]:
    """The score's name, and the rank that it looks down to; "ndcg" alone goes to the end."""
    if scoring == "ndcg":
        return f"ndcg@{n}", n
    _, _, rank = scoring.partition("@")
    return scoring, int(rank or 1)
