"""Retrieval scores before and after an adapter, with bootstrap intervals over queries."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from ..._support.registry import REPORTS, stored_in
from ..._support.typing import Floats
from ...evaluation.bootstrap import intervals
from .corpus import Vectors
from .pairs import Pairs
from .ranks import query_scores, rank_of

__all__ = ["AdapterReport", "Change", "Estimate", "make_report"]

_RANKS = (1, 5, 10)  # of hit@k and recall@k; nDCG is at the last of them


@dataclass(frozen=True)
class Estimate:
    """A mean over queries and its bootstrap interval.

    Attributes
    ----------
    mean : float
    low, high : float
        The interval, of the confidence that the report states.
    """

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return _cell(self, "")


@dataclass(frozen=True)
class Change:
    """A score by Euclidean distance and by the adapter, and the difference of the two.

    Attributes
    ----------
    before, after : Estimate
    difference : Estimate
        The mean of after minus before over queries, with a paired interval.
    """

    before: Estimate
    after: Estimate
    difference: Estimate


@stored_in(REPORTS)
@dataclass(frozen=True)
class AdapterReport:
    """Retrieval scores before and after an adapter: ``report["mrr"].difference.mean``.

    Attributes
    ----------
    scores : dict from names, as in `retrieval_scores`, to `Change`. Only known positives count as
        relevant. "ndcg" looks at the whole ranking. If every query has one positive, recall@k and
        map are left out, since they are hit@k and mrr then.
    n_queries, n_positives, n_rows : number of queries, of their known positives, and of rows of the
        corpus
    confidence : confidence of the intervals, from a bootstrap over queries
    scoring : the score by which the settings were chosen; None in files of earlier versions
    """

    scores: dict[str, Change]
    n_queries: int
    n_positives: int
    n_rows: int
    confidence: float
    scoring: str | None = None

    def __getitem__(self, name: str) -> Change:
        if self.n_positives == self.n_queries and name not in self.scores:
            # One each: recall@k is hit@k, map is mrr, and neither is listed twice.
            name = "mrr" if name == "map" else name.replace("recall@", "hit@")
        if name not in self.scores:
            raise KeyError(f"{name!r} was not computed; there are {', '.join(self.scores)}.")
        return self.scores[name]

    def __str__(self) -> str:
        head = f"{self.n_queries} queries, {self.n_positives} known positives, {self.n_rows} rows"
        lines = [f"{head}; intervals of {100 * self.confidence:g} %", ""]
        lines.append(f"{'':10}{'before':^22}{'after':^22}{'difference':^24}".rstrip())
        for name, change in self.scores.items():
            cells = [_cell(e, "") for e in (change.before, change.after)]
            line = f"{name:10}" + "  ".join([*cells, _cell(change.difference, "+")])
            lines.append(line + ("  <- chosen by" if name == self.scoring else ""))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The report as a dict of plain numbers, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """Make a report from the dict that `to_dict` returned."""
        scores = {
            name: Change(**{part: Estimate(**numbers) for part, numbers in change.items()})
            for name, change in stored["scores"].items()
        }
        return cls(**stored | {"scores": scores})


def make_report(
    vectors: Vectors,
    pairs: Pairs,
    components: Floats,
    confidence: float,
    n_resamples: int,
    seed: int,
    scoring: str,
) -> AdapterReport:
    """Score the components against Euclidean distance on these pairs."""
    n = len(vectors.X)
    # A rank beyond the corpus says nothing: every metric finds every positive by then.
    at = [rank for rank in _RANKS if rank <= n]
    chosen_by, rank = rank_of(scoring, n)
    before, after = (
        query_scores(vectors, pairs, how, sorted({*at, rank, n})) for how in (None, components)
    )
    several = len(pairs.positive) > len(pairs)
    shown = [f"{kind}@{rank}" for kind in ("hit", "recall")[: 1 + several] for rank in at]
    shown += ["mrr", "map"][: 1 + several]
    # The score of the choice first: a gain that the others do not show must not look like none.
    names = list(dict.fromkeys([chosen_by, *shown, f"ndcg@{at[-1]}", f"ndcg@{n}"]))
    # Three columns per score: before, after, difference. The bootstrap draws the same queries for
    # all columns, which makes the interval of the difference a paired one.
    parts = [(before[name], after[name], after[name] - before[name]) for name in names]
    columns = np.stack([column for part in parts for column in part], axis=1)
    bounds = intervals(columns, np.ones(len(pairs)), confidence, n_resamples, seed)
    estimates = [
        Estimate(float(mean), float(low), float(high))
        for mean, (low, high) in zip(columns.mean(axis=0), bounds, strict=True)
    ]
    scores = {
        "ndcg" if name == f"ndcg@{n}" else name: Change(*estimates[3 * i : 3 * i + 3])
        for i, name in enumerate(names)
    }
    return AdapterReport(
        scores=scores,
        n_queries=len(pairs),
        n_positives=len(pairs.positive),
        n_rows=len(vectors.X),
        confidence=confidence,
        scoring="ndcg" if chosen_by == f"ndcg@{n}" else scoring,
    )


def _cell(e: Estimate, sign: str) -> str:
    return f"{e.mean:{sign}.3f} [{e.low:{sign}.3f}, {e.high:{sign}.3f}]"
