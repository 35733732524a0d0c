"""`Responses`: comparisons from people and logs, with who gave them and their weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._support.checks import check_choice
from .._support.text import shorten
from .._support.typing import Floats, Ints
from ..linalg.scaling import power_of_two
from ..problem.checks import as_triplets, as_weights
from .from_programs import FromPrograms
from .ids import labels
from .tables import Column

_MOST = 0.5 * float(np.finfo(np.float64).max)  # half: the largest product may round up
UNITS = ("participant", "answer", "question")


@dataclass(frozen=True, eq=False)
class Responses(FromPrograms):
    """Triplets [anchor, near, far] of rows of X, as people answered or clicked them.

    ``TripletSDPMetric().fit(X, r.triplets, r.weights)`` learns from them. The ``from_...`` methods
    read the usual kinds of answers. They take a ``table`` with named columns (a dict of columns, a
    list of dicts, a pandas or polars frame, an Arrow table), or rows of entries in the order of
    ``columns``. All of them share these arguments:

    - ids: the id of each row of X, strings or whole numbers; None: the table holds row numbers
    - participants, weights, counts: a column's name, or one entry for each row of the table: who
      answered, the weight of the answer, and how often it was given (as so many answers)

    Parameters
    ----------
    triplets : (m, 3) row indices [anchor, near, far]
    weights : (m,) weight of each, default 1
    participants : (m,) who answered, strings or whole numbers, or None
    answers : (m,) number of the answer that each triplet is part of
        An odd one out gives two triplets, a ranking many. Default: each is an answer of its own.

    Examples
    --------
    >>> from sdpmetric import Responses
    >>> table = {"song": ["a", "a"], "b": ["b", "d"], "c": ["c", "c"], "odd": ["c", "a"]}
    >>> r = Responses.from_odd_one_out(
    ...     table, "odd", columns=("song", "b", "c"), ids=["a", "b", "c", "d"], participants=[7, 8]
    ... )
    >>> r.triplets.tolist()
    [[0, 1, 2], [1, 0, 2], [3, 2, 0], [2, 3, 0]]
    >>> r.participants.tolist()
    [7, 7, 8, 8]
    """

    triplets: Ints
    weights: Floats = None  # type: ignore[assignment]  # set below, as are answers
    participants: Column | None = None
    answers: Ints = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        # How many rows X has is known to `fit` alone, so that any index is accepted here.
        triplets = as_triplets(self.triplets, 2**63 - 1)
        m, width = triplets.shape
        if width != 3:
            raise ValueError(f"triplets has shape {triplets.shape}, expected (m, 3).")
        weights = np.ones(m) if self.weights is None else self.weights
        as_weights(weights, m, "weights")  # for its checks; the scale it returns is not the user's
        answers = np.arange(m) if self.answers is None else _one_each("answers", self.answers, m)
        who = self.participants
        for name, value in {
            "triplets": triplets,
            "weights": np.asarray(weights, dtype=np.float64),
            "answers": np.unique(answers, return_inverse=True)[1],
            "participants": None if who is None else _one_each("participants", who, m),
        }.items():
            object.__setattr__(self, name, value)  # the dataclass is frozen

    def __len__(self) -> int:
        return len(self.triplets)

    def __getitem__(self, rows: Any) -> Self:
        """Select triplets by a slice, a mask or row numbers, such as those of a splitter."""
        who = self.participants
        return replace(
            self,
            triplets=self.triplets[rows],
            weights=self.weights[rows],
            participants=None if who is None else who[rows],
            answers=self.answers[rows],
        )

    @classmethod
    def concatenate(cls, parts: Iterable[Responses]) -> Self:
        """Join answers from several sources about the same items.

        Parameters
        ----------
        parts : Responses
            All of them say who answered, or none does. Equal participants are the same person.

        Returns
        -------
        Responses

        Examples
        --------
        >>> first = Responses([[0, 1, 2], [1, 0, 2]], answers=[0, 0])
        >>> Responses.concatenate([first, Responses([[2, 1, 0]])]).answers.tolist()
        [0, 0, 1]
        """
        given = list(parts)
        if not given or not all(isinstance(part, Responses) for part in given):
            raise ValueError(
                f"parts must be one or more Responses, got {shorten(repr(parts), 60)}."
            )
        who = [part.participants for part in given if part.participants is not None]
        if len(who) not in (0, len(given)):
            raise ValueError(
                f"participants are known in {len(who)} of {len(given)} parts, expected all or none."
            )
        # Numbers of answers start anew in every part.
        sizes = [int(part.answers.max(initial=-1)) + 1 for part in given]
        firsts = np.cumsum([0, *sizes[:-1]])
        return cls(
            np.concatenate([part.triplets for part in given]),
            np.concatenate([part.weights for part in given]),
            # One list for all: NumPy would join 7 and "7" to one person where kinds differ.
            labels([one for part in who for one in part.tolist()], "participants") if who else None,
            np.concatenate([p.answers + first for p, first in zip(given, firsts, strict=True)]),
        )

    def units(self, by: str | None = None) -> Ints:
        """The unit of each triplet. A unit is resampled, held out or balanced as one.

        Parameters
        ----------
        by : {"participant", "answer", "question"}, default=None
            A question is asked by the same three items. None: participants where they are known,
            else answers.

        Returns
        -------
        (m,) numbers 0, 1, ...
        """
        if by is None:
            by = "answer" if self.participants is None else "participant"
        check_choice("by", by, UNITS)
        if by == "answer":
            return self.answers
        if by == "question":
            return np.unique(np.sort(self.triplets, axis=1), axis=0, return_inverse=True)[1]
        if self.participants is None:
            raise ValueError("by is 'participant' but participants is None, expected who answered.")
        return np.unique(self.participants, return_inverse=True)[1]

    def balanced(self, by: str = "participant") -> Self:
        """Rescale the weights so that every participant (answer, question) has the same total.

        The sum of all weights does not change.

        Parameters
        ----------
        by : {"participant", "answer", "question"}, default="participant"

        Returns
        -------
        Responses

        Examples
        --------
        >>> r = Responses([[0, 1, 2], [1, 0, 2], [2, 1, 0]], participants=["Ada", "Ada", "Bo"])
        >>> r.balanced().weights.tolist()
        [0.75, 0.75, 1.5]
        """
        unit, (weights, factor) = self.units(by), in_range(self.weights)
        totals = np.bincount(unit, weights)
        some = totals > 0.0  # a unit without any weight keeps none: no factor could give it a share
        shares = weights / np.where(some, totals, 1.0)[unit] * (totals.sum() / some.sum())
        return replace(self, weights=_restored(shares, factor))

    def merged(self) -> tuple[Ints, Floats]:
        """Each distinct triplet once, with the sum of its weights: the same fit from fewer rows.

        Returns
        -------
        triplets : (u, 3)
        weights : (u,)

        Examples
        --------
        >>> r = Responses([[0, 1, 2], [0, 2, 1], [0, 1, 2]])
        >>> [array.tolist() for array in r.merged()]
        [[[0, 1, 2], [0, 2, 1]], [2.0, 1.0]]
        """
        unique, numbers = np.unique(self.triplets, axis=0, return_inverse=True)
        weights, factor = in_range(self.weights)
        return unique, _restored(np.bincount(numbers, weights).astype(np.float64), factor)


def in_range(weights: Floats) -> tuple[Floats, float]:
    """Weights times a power of two, and that power: their sums and squares stay in range.

    The largest is between 1/2 and 1; those below 1e-308 of it become zero.
    """
    factor = power_of_two(float(weights.max()))
    return weights * factor, factor


def _restored(weights: Floats, factor: float) -> Floats:
    """Weights in the units before `in_range`, or as near to them as their range allows."""
    # Only ratios matter to a fit, so that a smaller factor than the user's does no harm.
    return weights * min(1.0 / factor, _MOST / float(weights.max()))


def _one_each(name: str, values: Any, m: int) -> Column:
    column = labels(values, name)
    if len(column) != m:
        raise ValueError(f"{name} has {len(column)} entries, expected one per triplet, {m}.")
    return column
