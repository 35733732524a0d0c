"""The noise ceiling: the accuracy that people's disagreement leaves within reach of any metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._support.checks import check_integer, seed_of
from .._support.typing import Floats, Ints
from .responses import Responses, in_range

_ROUNDING = 1e-9  # relative difference of sums of weights below which they may be equal


@dataclass(frozen=True)
class NoiseCeiling:
    """Bounds of the accuracy that any metric can reach; comparable with a triplet accuracy.

    Attributes
    ----------
    upper : share of answers that agree with the majority of all answers to the question: no metric
        can exceed it on these answers
    lower : share of answers that agree with the majority of the *other* participants
    split_half : share of answers that agree with the majority of the other half of the
        participants, for random halves; NaN if no question was ever answered in both halves
    agreement : probability that two participants agree on a question
    n_questions, n_triplets : number of questions with two or more answers, and of their triplets;
        all shares are computed from these
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
    """Estimate the accuracy that any metric can reach, from questions with several answers.

    A metric answers the question "is j or k nearer to i?" always in the same way, so it is
    sometimes wrong where people disagree. The true ceiling is the accuracy of the majority of *all*
    people. It lies between ``lower`` and ``upper`` on average: ``upper`` is too high, since the
    majority includes the answer that it predicts; ``lower`` is too low, since the majority of a few
    others is often not that of all people. A tie counts half.

    Parameters
    ----------
    responses : Responses, one row for each answer (not `Responses.merged`)
    by : {"participant", "answer"}; None: participants where known, else answers. By "answer", two
        answers of one person count as those of two people: this measures how consistent one
        person is
    n_splits : int, default=100
        Number of random halves for ``split_half``.
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
    """The votes of units on the questions that two or more units answered."""

    question: Ints  # (v,) of each vote
    unit: Ints  # (v,) of each vote
    cast: Floats  # (v, 2) weight that the vote gives to the lower and to the higher item
    totals: Floats  # (questions, 2) sum of all votes on a question
    n_triplets: int

    @classmethod
    def of(cls, responses: Responses, by: str | None) -> _Votes:
        """Count the votes in responses; raise if no question has votes of two units."""
        if not isinstance(responses, Responses):
            raise ValueError(f"responses must be Responses, got {type(responses).__name__}.")
        if by == "question":
            raise ValueError("by must be 'participant' or 'answer', got 'question'.")
        who = responses.units(by)
        weights = in_range(responses.weights)[0]
        counted = weights > 0.0
        anchor, near, far = responses.triplets[counted].T
        # A question is the anchor and the unordered pair: who said j and who said k answered the
        # same.
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
        w = weights[counted]
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
        """The weight of each vote that agrees with the majority of others, and its whole weight.

        Votes on questions that no other unit answered count zero in both.
        """
        # Others are totals minus the vote itself, so that zero is only as exact as their sum.
        heard = others.sum(axis=1) > _ROUNDING * self.cast.sum(axis=1)
        low, high = others.T
        # Sums of weights that should be equal may differ in their last digits.
        tie = np.isclose(low, high, rtol=_ROUNDING, atol=0.0)
        share = np.where(tie, 0.5, low > high)
        gain = self.cast[:, 0] * share + self.cast[:, 1] * (1.0 - share)
        return gain * heard, self.cast.sum(axis=1) * heard

    def agreement(self) -> float:
        """The probability that two units agree; questions weigh as much as their answers.

        The weight of pairs that agree is ``sum_{u != v} a_u a_v + b_u b_v``: the square of a sum
        minus the sum of squares.
        """
        own = np.square(self.cast)
        alone = _totals(self.question, own, len(self.totals)).sum(axis=1)
        whole = np.square(self.cast.sum(axis=1))
        pairs = np.square(self.totals.sum(axis=1)) - np.bincount(self.question, whole)
        agree = np.square(self.totals).sum(axis=1) - alone
        weight = self.totals.sum(axis=1)
        # Below, one unit has all the weight, and the difference of squares is rounding.
        some = pairs > _ROUNDING * np.square(weight)
        if not some.any():
            raise ValueError(
                "responses: of every repeated question one answer has all the weight, expected "
                "weights that compare."
            )
        return float(np.average(agree[some] / pairs[some], weights=weight[some]))

    def split_half(self, n_splits: int, rng: np.random.Generator) -> float:
        """The share of votes that agree with the majority of the half they are not in."""
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
    return float(part.sum()) / total if total > 0.0 else float("nan")  # no question in both halves
