"""`Responses`: comparisons from people and logs, with who gave them and how much they count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._typing import Floats, Ints
from ..inputs import as_triplets, as_weights
from ..validation import check_choice
from . import list_readers, readers
from .extras import as_choices, as_counts, as_importance, as_names
from .ids import Lookup, labels
from .tables import Column

__all__ = ["UNITS", "Responses"]

UNITS = ("participant", "answer", "question")


@dataclass(frozen=True, eq=False)
class Responses:
    """Triplets [anchor, near, far] of rows of X, as people answered or clicked them.

    ``TripletSDPMetric().fit(X, r.triplets, r.weights)`` learns from them. The ``from_...`` methods
    read the usual kinds of answers. They take a ``table`` with named columns (a dict of columns, a
    list of dicts, a pandas or polars frame, an Arrow table), or rows of entries in the order of
    ``columns``. All of them share these arguments:

    - ids: the id of each row of X, strings or whole numbers; None: the table holds row numbers
    - participants, weights, counts: a column's name, or one entry for each row of the table: who
      answered, how much the answer counts, and how often it was given (as so many answers)

    Parameters
    ----------
    triplets : (m, 3) row indices [anchor, near, far]
    weights : (m,) weight of each, default 1
    participants : (m,) who answered, strings or whole numbers, or None
    answers : (m,) number of the answer that each triplet is part of; an odd one out gives two
        triplets, a ranking many. Default: each is an answer of its own

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
        triplets = as_triplets(self.triplets, 2**63 - 1)
        m, width = triplets.shape
        if width != 3:
            raise ValueError(f"triplets has shape {triplets.shape}, expected (m, 3).")
        weights = np.ones(m) if self.weights is None else self.weights
        as_weights(weights, m, "weights")  # a check; it would rescale them
        answers = np.arange(m) if self.answers is None else _one_each("answers", self.answers, m)
        who = self.participants
        for name, value in {
            "triplets": triplets,
            "weights": np.asarray(weights, dtype=np.float64),
            "answers": np.unique(answers, return_inverse=True)[1],
            "participants": None if who is None else _one_each("participants", who, m),
        }.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.triplets)

    def __getitem__(self, rows: Any) -> Self:
        """Some of the triplets, by a slice, a mask or numbers, as splitters give them."""
        who = self.participants
        return replace(
            self,
            triplets=self.triplets[rows],
            weights=self.weights[rows],
            participants=None if who is None else who[rows],
            answers=self.answers[rows],
        )

    @classmethod
    def from_triplets(
        cls,
        table: Any,
        *,
        columns: Sequence[str] | None = None,
        ids: Any = None,
        participants: Any = None,
        weights: Any = None,
        counts: Any = None,
    ) -> Self:
        """Answers "the positive is nearer to the anchor than the negative is".

        Columns: anchor or query, positive, negative or negative_1, negative_2, ..., found by name
        unless given; where there are several negatives some may be missing.

        >>> table = {"query": [0, 1], "positive": [1, 0], "negative_1": [2, 2]}
        >>> Responses.from_triplets(table | {"negative_2": [3, None]}).triplets.tolist()
        [[0, 1, 2], [0, 1, 3], [1, 0, 2]]
        """
        read = readers.triplets(table, columns, Lookup(ids))
        return cls._of(read, table, participants, weights, counts)

    @classmethod
    def from_odd_one_out(
        cls,
        table: Any,
        odd: Any = None,
        *,
        columns: Sequence[str] = ("a", "b", "c"),
        ids: Any = None,
        participants: Any = None,
        weights: Any = None,
        counts: Any = None,
    ) -> Self:
        """Answers to "which of the three does not belong?", two triplets each.

        ``odd``: a column's name or the ids chosen, None: the third of each row.

        >>> Responses.from_odd_one_out([[5, 6, 7]], odd=[6]).triplets.tolist()
        [[5, 7, 6], [7, 5, 6]]
        """
        lookup = Lookup(ids)
        read = readers.odd_one_out(table, as_choices(odd, "odd", table, columns), columns, lookup)
        return cls._of(read, table, participants, weights, counts)

    @classmethod
    def from_2afc(
        cls,
        table: Any,
        chosen: Any = None,
        *,
        columns: Sequence[str] = ("anchor", "a", "b"),
        ids: Any = None,
        participants: Any = None,
        weights: Any = None,
        counts: Any = None,
    ) -> Self:
        """Answers to "which of a and b is closer to the anchor?" (two-alternative forced choice).

        ``chosen``: a column's name or the ids chosen, None: the first alternative of each row.

        >>> Responses.from_2afc([[5, 6, 7], [5, 7, 8]], chosen=[7, 7]).triplets.tolist()
        [[5, 7, 6], [5, 7, 8]]
        """
        lookup = Lookup(ids)
        read = readers.two_afc(table, as_choices(chosen, "chosen", table, columns), columns, lookup)
        return cls._of(read, table, participants, weights, counts)

    @classmethod
    def from_rankings(
        cls,
        table: Any,
        *,
        pairs: str = "all",
        columns: Sequence[str] = ("anchor", "ranking"),
        ids: Any = None,
        participants: Any = None,
        weights: Any = None,
        counts: Any = None,
    ) -> Self:
        """An anchor and a list of other items, nearest first, of any length.

        ``pairs="all"``: each item is nearer than every one that follows; ``"adjacent"``: than the
        next.

        >>> Responses.from_rankings([(0, [3, 1, 2])]).triplets.tolist()
        [[0, 3, 1], [0, 3, 2], [0, 1, 2]]
        """
        check_choice("pairs", pairs, ("all", "adjacent"))
        read = list_readers.rankings(table, pairs, columns, Lookup(ids))
        return cls._of(read, table, participants, weights, counts)

    @classmethod
    def from_clicks(
        cls,
        table: Any,
        *,
        rule: str = "skipped",
        columns: Sequence[str] | None = None,
        ids: Any = None,
        participants: Any = None,
        weights: Any = None,
        counts: Any = None,
    ) -> Self:
        """A query, the item or items clicked, and what was passed over for them.

        ``rule="skipped"``: columns query, clicked, and skipped, the items that were seen and not
        clicked; each clicked one is nearer than each of them. ``"skip-above"``: columns query,
        clicked, and shown, all results in order; a clicked one is nearer than those above it that
        were not clicked. What stands below it may not have been seen and says nothing.

        Rows without a click, or with nothing skipped, say nothing and are left out.

        >>> Responses.from_clicks([(0, 4, [1, 2]), (3, [], [5])]).triplets.tolist()
        [[0, 4, 1], [0, 4, 2]]
        >>> log = [(0, [2, 4], [1, 2, 3, 4, 5])]
        >>> Responses.from_clicks(log, rule="skip-above").triplets.tolist()
        [[0, 2, 1], [0, 4, 1], [0, 4, 3]]
        """
        check_choice("rule", rule, ("skipped", "skip-above"))
        above = rule == "skip-above"
        names = columns or ("query", "clicked", "shown" if above else "skipped")
        reader = list_readers.clicks_above if above else list_readers.clicks
        read = reader(table, names, Lookup(ids))
        return cls._of(read, table, participants, weights, counts)

    def units(self, by: str | None = None) -> Ints:
        """What counts, is resampled or held out as one: (m,) numbers 0, 1, ...

        ``by="participant"``, ``"answer"`` or ``"question"`` (the same three items); None:
        participants where they are known, else answers.
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
        """Weights rescaled so that each participant (answer, question) counts the same in all.

        The sum of all weights stays what it is.

        >>> r = Responses([[0, 1, 2], [1, 0, 2], [2, 1, 0]], participants=["Ada", "Ada", "Bo"])
        >>> r.balanced().weights.tolist()
        [0.75, 0.75, 1.5]
        """
        unit = self.units(by)
        totals = np.bincount(unit, self.weights)
        some = totals > 0.0  # who has no weight at all is left at none
        shares = np.zeros(len(totals))
        shares[some] = totals.sum() / some.sum() / totals[some]
        return replace(self, weights=self.weights * shares[unit])

    def merged(self) -> tuple[Ints, Floats]:
        """Each different triplet once, and the sum of its weights: the same fit from fewer rows.

        >>> r = Responses([[0, 1, 2], [0, 2, 1], [0, 1, 2]])
        >>> [array.tolist() for array in r.merged()]
        [[[0, 1, 2], [0, 2, 1]], [2.0, 1.0]]
        """
        unique, numbers = np.unique(self.triplets, axis=0, return_inverse=True)
        return unique, np.bincount(numbers, self.weights).astype(np.float64)

    @classmethod
    def _of(cls, read: readers.Read, table: Any, who: Any, weights: Any, counts: Any) -> Self:
        """What was read, with what belongs to each row of the table."""
        triplets, rows, n = read
        names, importance = as_names(who, table, n), as_importance(weights, table, n)
        times = as_counts(counts, table, n)
        each = times[rows]
        if not each.any():
            raise ValueError("counts is zero everywhere, expected an answer that was given.")
        first = np.cumsum(times) - times  # the first answer of each row
        copy = np.arange(int(each.sum())) - np.repeat(np.cumsum(each) - each, each)
        rows = np.repeat(rows, each)
        return cls(
            np.repeat(triplets, each, axis=0),
            importance[rows],
            None if names is None else names[rows],
            first[rows] + copy,
        )


def _one_each(name: str, values: Any, m: int) -> Column:
    column = labels(values, name)
    if len(column) != m:
        raise ValueError(f"{name} has {len(column)} entries, expected one per triplet, {m}.")
    return column
