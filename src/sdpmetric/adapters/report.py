"""What an adapter changes: retrieval scores before and after, with intervals over queries."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from .._typing import Floats
from ..resampling import intervals
from .pairs import Pairs
from .ranks import query_scores
from .vectors import Vectors

__all__ = ["AdapterReport", "Change", "Estimate", "make_report"]

_RANKS = 1, 5, 10


@dataclass(frozen=True)
class Estimate:
    """A mean over queries and its interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return _cell(self, "")


@dataclass(frozen=True)
class Change:
    """A score under Euclidean distance, under the adapter, and the paired difference."""

    before: Estimate
    after: Estimate
    difference: Estimate


@dataclass(frozen=True)
class AdapterReport:
    """Retrieval scores before and after; ``report["mrr"].difference.mean`` is a gain.

    Attributes
    ----------
    scores : dict from names, as in `retrieval_scores`, to before, after and (paired) difference,
        each with mean, low and high. Known positives alone count as relevant.
    n_queries, n_positives, n_rows : queries, their known positives, rows of the corpus
    confidence : of the intervals, from a bootstrap over queries
    """

    scores: dict[str, Change]
    n_queries: int
    n_positives: int
    n_rows: int
    confidence: float

    def __getitem__(self, name: str) -> Change:
        if name not in self.scores:
            raise KeyError(f"{name!r} was not computed; there are {', '.join(self.scores)}.")
        return self.scores[name]

    def __str__(self) -> str:
        head = f"{self.n_queries} queries, {self.n_positives} known positives, {self.n_rows} rows"
        lines = [f"{head}; intervals of {100 * self.confidence:g} %", ""]
        lines.append(f"{'':10}{'before':^22}{'after':^22}{'difference':^24}".rstrip())
        for name, change in self.scores.items():
            cells = [_cell(e, "") for e in (change.before, change.after)]
            lines.append(f"{name:10}" + "  ".join([*cells, _cell(change.difference, "+")]))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """As plain numbers, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, held: dict[str, Any]) -> Self:
        """What `to_dict` gave."""
        scores = {
            name: Change(**{part: Estimate(**held_) for part, held_ in change.items()})
            for name, change in held["scores"].items()
        }
        return cls(**held | {"scores": scores})


def make_report(
    vectors: Vectors,
    pairs: Pairs,
    components: Floats,
    confidence: float,
    n_resamples: int,
    seed: int,
) -> AdapterReport:
    """Compare with Euclidean distance on these pairs."""
    at = [rank for rank in _RANKS if rank <= len(vectors.X)]
    before, after = (query_scores(vectors, pairs, how, at) for how in (None, components))
    names = [f"{kind}@{rank}" for kind in ("hit", "recall") for rank in at]
    names += ["mrr", f"ndcg@{at[-1]}"]
    table = np.stack([part[name] for name in names for part in (before, after)], axis=1).reshape(
        len(pairs), len(names), 2
    )
    table = np.concatenate([table, table[:, :, 1:] - table[:, :, :1]], axis=2)
    columns = table.reshape(len(pairs), -1)
    bounds = intervals(columns, np.ones(len(pairs)), confidence, n_resamples, seed)
    estimates = [
        Estimate(float(mean), float(low), float(high))
        for mean, (low, high) in zip(columns.mean(axis=0), bounds, strict=True)
    ]
    scores = {name: Change(*estimates[3 * i : 3 * i + 3]) for i, name in enumerate(names)}
    sizes = len(pairs), len(pairs.positive), len(vectors.X)
    return AdapterReport(scores, *sizes, confidence)


def _cell(e: Estimate, sign: str) -> str:
    return f"{e.mean:{sign}.3f} [{e.low:{sign}.3f}, {e.high:{sign}.3f}]"
