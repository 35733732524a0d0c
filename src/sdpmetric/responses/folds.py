"""`ResponseKFold`: hold answers out by participant, item, question or answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.checks import check_choice, check_integer, seed_of
from .._support.typing import Ints
from ..evaluation.folds import comparison_splits
from .responses import UNITS, Responses


@dataclass(frozen=True)
class ResponseKFold:
    """K folds of responses, for the ``cv=`` of a search over comparisons.

    Parameters
    ----------
    n_splits : int, default=5
    by : {"participant", "item", "question", "answer"}, default="participant"
        What is new in the held-out fold. "participant": all participants. "item": at least one item
        of every triplet. "question": the three items together. "answer": the answer alone, which
        for an odd one out or a ranking is several triplets.
    random_state : int, RandomState or None, default=None
        Seeds the shuffle; None is always the same seed.

    Examples
    --------
    >>> from sdpmetric import ResponseKFold, Responses
    >>> r = Responses([[0, 1, 2], [2, 1, 0], [1, 0, 2]], participants=["Ada", "Bo", "Ada"])
    >>> [(train.tolist(), held.tolist()) for train, held in ResponseKFold(2).split(r)]
    [([0, 2], [1]), ([1], [0, 2])]
    """

    n_splits: int = 5
    by: str = "participant"
    random_state: Any = None

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:
        """Yield the training and the held-out triplets of each fold.

        Parameters
        ----------
        X : Responses, or (m, 3) triplets
        y : ignored
        groups : (m,) participants or answers, if X is an array of triplets

        Yields
        ------
        train, held : row numbers of X
        """
        folds = check_integer("n_splits", self.n_splits, 2)
        check_choice("by", self.by, ("item", *UNITS))
        responses = X if isinstance(X, Responses) else Responses(X)
        seed = seed_of(self.random_state)
        if self.by == "item":
            count = len(np.unique(responses.triplets))
            self._check(count, folds, "items")
            yield from comparison_splits(folds, responses.triplets, "item", None, seed)
            return
        if self.by in ("participant", "answer") and not isinstance(X, Responses):
            if groups is None:
                raise ValueError(
                    f"groups is None and by is {self.by!r}; expected one entry per triplet, or "
                    "Responses to split."
                )
            # Groups of any kind are held out as one, and that is all that participants mean here.
            responses = Responses(X, participants=groups)
            unit = responses.units("participant")
        else:
            unit = responses.units(self.by)
        self._check(int(unit.max()) + 1, folds, f"{self.by}s")
        yield from comparison_splits(folds, responses.triplets, "group", unit, seed)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds; the arguments are ignored."""
        return self.n_splits

    def _check(self, count: int, folds: int, what: str) -> None:
        if count < folds:
            raise ValueError(f"n_splits is {folds}, but there are only {count} {what}.")
