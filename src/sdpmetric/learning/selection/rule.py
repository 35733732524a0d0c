"""The rule that chooses among the candidates of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..._support.typing import Floats
from .table import ROUNDING, Key, Table

__all__ = ["choose"]

Mask: TypeAlias = npt.NDArray[np.bool_]

_CAUTION = 0.5  # the share of the doubt that protects the references


def choose(
    table: Table,
    *,
    doubt: float,
    one_standard_error: bool,
    references: Sequence[Key] = (),
    sampled: bool = False,
) -> int:
    """The row of the candidate with the best mean score, unless a simpler one is protected.

    Only candidates that were tried on all splits count. The protected candidate is the better one
    of two that had no luck: the best of the ``references``, and the prior alone in coordinates
    that learn nothing. The best of all replaces the prior alone only for a gain of more than
    ``doubt`` standard errors, split by split, and a reference for half as many; with ``sampled``
    the prior alone is not protected. With ``one_standard_error`` the choice is the simplest of all
    candidates within one standard error of the best. Among equals it is the simplest.
    """
    scores = table.scores()
    mean = np.where(np.isnan(scores).any(axis=1), -np.inf, np.nanmean(scores, axis=1))
    best = int(np.argmax(mean))
    near = np.flatnonzero(mean >= mean[best] - ROUNDING)
    if scores.shape[1] > 1:  # a single split has no standard error
        alone, known = _protected(table, references)
        kept = _best(mean, known)
        start = _best(mean, alone)
        # Neither of the two was chosen for its score, so they meet without privilege.
        if start is not None and (kept is None or mean[kept] <= mean[start] + ROUNDING):
            kept, doubt = start, 0.0 if sampled else doubt
        else:
            doubt *= _CAUTION
        if kept is not None and _doubtful(scores, best, kept, doubt):
            best, near = kept, np.array([kept])
        if best == start:
            near = np.flatnonzero(alone & (mean >= mean[best] - ROUNDING))
        elif one_standard_error:
            near = np.flatnonzero(mean >= mean[best] - _standard_error(scores[best]))
    keys = list(table.rows)

    def order(i: int) -> tuple[Any, ...]:
        candidate, C = keys[i]
        return *candidate.simplicity, C, -mean[i]

    return min(map(int, near), key=order)


def _protected(table: Table, references: Sequence[Key]) -> tuple[Mask, Mask]:
    """Masks of the rows: the prior alone where it is protected, and the references."""
    alone: Mask = np.array([candidate.is_prior_alone for candidate, _ in table.rows])
    # Whitened coordinates are a metric that was learned from the labels.
    whitened: Mask = np.array([candidate.coordinates == "within" for candidate, _ in table.rows])
    known: Mask = np.array([key in references for key in table.rows])
    unlearned = alone & ~whitened
    return unlearned if unlearned.any() else alone, known


def _best(mean: Floats, mask: Mask) -> int | None:
    """The row with the best mean among those of the mask; None if none was tried on all splits."""
    masked = np.where(mask, mean, -np.inf)
    best = int(np.argmax(masked))
    return best if np.isfinite(masked[best]) else None


def _doubtful(scores: Floats, best: int, kept: int, doubt: float) -> bool:
    """Whether the best may be no better than the candidate that is kept otherwise."""
    # Paired by split, so that easy and hard splits cancel.
    gain = scores[best] - scores[kept]
    return bool(gain.mean() <= doubt * _standard_error(gain))


def _standard_error(scores: Floats) -> float:
    return float(scores.std(ddof=1)) / float(np.sqrt(len(scores)))
