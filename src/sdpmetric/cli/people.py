"""Who answered, and which answers a metric does not predict: tables for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..responses.responses import Responses

Predicted = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Participant:
    """One participant: the number of triplets, and the share that each distance predicts."""

    name: str
    n_comparisons: int
    accuracy: dict[str, float]


@dataclass(frozen=True)
class AtOdds:
    """An answer that the metric contradicts: near and far are distances to the anchor."""

    participant: str | None
    anchor: str
    near: str
    far: str
    near_distance: float
    far_distance: float


def participants(answers: Responses, right: Mapping[str, Predicted]) -> list[Participant]:
    """The participants, those whom the last of the distances predicts worst first."""
    if answers.participants is None:
        return []
    names, codes = np.unique(answers.participants, return_inverse=True)
    weights = answers.weights
    total = np.bincount(codes, weights)
    counted = np.where(total > 0.0, total, 1.0)  # one whose answers have no weight is left out
    shares = {name: np.bincount(codes, weights * one) / counted for name, one in right.items()}
    counts, last = np.bincount(codes), list(right)[-1]
    return [
        Participant(
            str(names[i]), int(counts[i]), {n: float(share[i]) for n, share in shares.items()}
        )
        for i in np.argsort(shares[last], kind="stable")
        if total[i] > 0.0
    ]


def at_odds(
    answers: Responses, mapped: Any, names: Sequence[str], right: Predicted, most: int
) -> list[AtOdds]:
    """The answers that a metric contradicts most clearly, one triplet of each.

    Parameters
    ----------
    answers : Responses
    mapped : (n, k) items under the metric
    names : names of the items
    right : which triplets the metric predicts
    most : number of answers to list
    """
    i, j, k = answers.triplets.T
    near, far = (np.linalg.norm(mapped[i] - mapped[other], axis=1) for other in (j, k))
    # Relative, so that answers about far items do not lead for their distance alone.
    margin = (far - near) / np.maximum(near + far, np.finfo(float).tiny)
    found: dict[int, AtOdds] = {}
    for row in np.argsort(margin, kind="stable"):
        if right[row] or len(found) == most:
            break
        who = None if answers.participants is None else str(answers.participants[row])
        anchor, closer, other = (names[index] for index in answers.triplets[row])
        # An odd one out is two triplets: the one that is more at odds stands for both.
        found.setdefault(
            int(answers.answers[row]),
            AtOdds(who, anchor, closer, other, float(near[row]), float(far[row])),
        )
    return list(found.values())
