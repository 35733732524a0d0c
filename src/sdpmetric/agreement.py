"""How well any metric could do, from questions that were answered more than once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._typing import Floats, Ints
from .responses import Responses
from .settings import seed_of
from .validation import check_integer

__all__ = ["NoiseCeiling", "noise_ceiling"]


@dataclass(frozen=True)
class NoiseCeiling:
    """What `noise_ceiling` returns; all shares are comparable with a triplet accuracy.

    Attributes
    ----------
    upper : share of answers that follow the majority of all: no metric can exceed it on these
    lower : share that follows the majority of the *other* participants; reached by one who knows
        them as well as they know each other
    split_half : share that follows the majority of a random other half of the participants
    agreement : chance that two participants agree on a question
    n_questions, n_triplets : what was answered by two or more, on which all of this rests
    """

    upper: float
    lower: float
    split_half: float
    agreement: float
    n_questions: int
    n_triplets: int


def noise_ceiling(
    responses: Responses, *, by: str | None = None, n_splits: int = 100, random_state: Any = None
) -> NoiseCeiling:
    """What accuracy people's own disagreement leaves to any metric.

    A metric answers the question "is j or k nearer to i?" always in the same way, so where people
    disagree it is sometimes wrong. The true ceiling, that of the majority of *all* people, lies
    between ``lower`` and ``upper`` on average: a majority that includes the answer it predicts
    flatters, one of few others is often the wrong one. A tie counts half.

    Parameters
    ----------
    responses : Responses, one row for each answer (not `Responses.merged`)
    by : {"participant", "answer"}; None: participants where known, else answers. By "answer", those
        of the same person count as answers of others: is one listener of the same mind tomorrow?
    n_splits : int, default=100
        Random halves.
    random_state : int, RandomState or None; None is always the same seed

    Returns
    -------
    NoiseCeiling

    Examples
    --------
    >>> from sdpmetric import Responses, noise_ceiling
    >>> r = Responses([[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 2, 1]])
    >>> ceiling = noise_ceiling(r)
    >>> ceiling.upper, ceiling.lower, ceiling.agreement
    (0.75, 0.75, 0.5)
    """
    splits = check_integer("n_splits", n_splits, 1)
    votes = _Votes.of(responses, by)
    rng = np.random.default_rng(seed_of(random_state))
    return NoiseCeiling(
        upper=_share(np.maximum(*votes.totals.T), votes.totals.sum(axis=1)),
        lower=_share(*votes.followed(votes.totals[votes.question] - votes.cast)),
        split_half=votes.split_half(splits, rng),
        agreement=votes.agreement(),
        n_questions=len(votes.totals),
        n_triplets=votes.n_triplets,
    )


@dataclass(frozen=True, eq=False)
class _Votes:
    """What each unit said on each question that two or more answered."""

    question: Ints  # (v,)
    unit: Ints  # (v,)
    cast: Floats  # (v, 2) weight for the lower and for the higher item
    totals: Floats  # (questions, 2)
    n_triplets: int

    @classmethod
    def of(cls, responses: Responses, by: str | None) -> _Votes:
        if not isinstance(responses, Responses):
            raise ValueError(f"responses must be Responses, got {type(responses).__name__}.")
        if by == "question":
            raise ValueError("by must be 'participant' or 'answer', got 'question'.")
        who = responses.units(by)
        counted = responses.weights > 0.0
        anchor, near, far = responses.triplets[counted].T
        asked = np.stack([anchor, np.minimum(near, far), np.maximum(near, far)], axis=1)
        question = np.unique(asked, axis=0, return_inverse=True)[1]
        pairs, vote = np.unique(
            np.stack([question, who[counted]], axis=1), axis=0, return_inverse=True
        )
        enough = np.bincount(pairs[:, 0]) > 1
        if not enough.any():
            raise ValueError(
                f"responses: none of {len(enough)} questions was answered twice "
                f"(by={by!r}), expected repeated questions."
            )
        w = responses.weights[counted]
        cast = np.stack([np.bincount(vote, w * side) for side in (near < far, near > far)], axis=1)
        kept = enough[pairs[:, 0]]
        number = np.unique(pairs[kept, 0], return_inverse=True)[1]
        return cls(
            number,
            np.unique(pairs[kept, 1], return_inverse=True)[1],
            cast[kept],
            _totals(number, cast[kept], int(enough.sum())),
            int(kept[vote].sum()),
        )

    def followed(self, others: Floats) -> tuple[Floats, Floats]:
        """Of each vote, the weight that follows the majority of others, and all of it.

        Votes on which no other has a word do not count.
        """
        heard = others.sum(axis=1) > 1e-9 * self.cast.sum(axis=1)
        low, high = others.T
        tie = np.isclose(low, high, rtol=1e-9, atol=0.0)
        share = np.where(tie, 0.5, low > high)
        gain = self.cast[:, 0] * share + self.cast[:, 1] * (1.0 - share)
        return gain * heard, self.cast.sum(axis=1) * heard

    def agreement(self) -> float:
        """The chance that two agree: questions weigh as their answers do."""
        own = np.square(self.cast)
        alone = _totals(self.question, own, len(self.totals)).sum(axis=1)
        whole = np.square(self.cast.sum(axis=1))
        pairs = np.square(self.totals.sum(axis=1)) - np.bincount(self.question, whole)
        agree = np.square(self.totals).sum(axis=1) - alone
        weight = self.totals.sum(axis=1)
        return float(np.average(agree / pairs, weights=weight))

    def split_half(self, n_splits: int, rng: np.random.Generator) -> float:
        n_units = int(self.unit.max()) + 1
        gains, weights = [], []
        for _ in range(n_splits):
            side = (rng.permutation(n_units) < n_units // 2)[self.unit]
            half = self._half(side)
            gain, weight = self.followed(
                np.where(side[:, None], self.totals[self.question] - half, half)
            )
            gains.append(gain.sum())
            weights.append(weight.sum())
        return _share(np.array(gains), np.array(weights))

    def _half(self, side: npt.NDArray[np.bool_]) -> Floats:
        return _totals(self.question, self.cast * side[:, None], len(self.totals))[self.question]


def _totals(question: Ints, cast: Floats, n: int) -> Floats:
    return np.stack([np.bincount(question, column, n) for column in cast.T], axis=1)


def _share(part: Floats, whole: Floats) -> float:
    total = float(whole.sum())
    return float(part.sum()) / total if total > 0.0 else float("nan")  # halves may never meet
