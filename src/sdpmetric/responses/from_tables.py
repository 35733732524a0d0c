"""The ``from_...`` constructors of `Responses`: one for each way in which people are asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._support.checks import check_choice
from .._support.grouping import places
from .._support.typing import Floats, Ints
from .extras import as_choices, as_counts, as_importance, as_names
from .ids import Lookup
from .list_readers import clicks, clicks_above, rankings
from .readers import Read, check_many, odd_one_out, triplets, two_afc
from .study_files import COLUMNS, read_study
from .tables import Column


class FromTables:
    """Base class of `Responses` that reads tables.

    A ``table`` has named columns (a dict of columns, a list of dicts, a pandas or polars frame, an
    Arrow table), or rows of entries in the order of ``columns``. All constructors share these
    arguments:

    - ids: the id of each row of X, strings or whole numbers; None: the table holds row numbers
    - participants, weights, counts: a column's name, or one entry for each row of the table: who
      answered, the weight of the answer, and how often it was given (as so many answers)
    """

    if TYPE_CHECKING:  # the dataclass that derives from this class writes it

        def __init__(
            self, triplets: Ints, weights: Floats, participants: Column | None, answers: Ints
        ) -> None: ...

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
        """Read answers "the positive is nearer to the anchor than the negative is".

        Parameters
        ----------
        table : as described for the class
        columns : names of the anchor, the positive and the negatives. Default: anchor or query,
            positive, and negative or negative_1, negative_2, ...; where there are several
            negatives, some may be missing
        ids, participants, weights, counts : as described for the class

        Returns
        -------
        Responses

        Examples
        --------
        >>> from sdpmetric import Responses
        >>> table = {"query": [0, 1], "positive": [1, 0], "negative_1": [2, 2]}
        >>> Responses.from_triplets(table | {"negative_2": [3, None]}).triplets.tolist()
        [[0, 1, 2], [0, 1, 3], [1, 0, 2]]
        """
        read = triplets(table, columns, Lookup(ids))
        return cls._from_read(read, table, participants, weights, counts)

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
        """Read answers to "which of the three does not belong?", two triplets each.

        Parameters
        ----------
        table : as described for the class
        odd : a column's name, or the ids chosen; None: the third item of each row. Instead of
            ids the answers may all be names of ``columns``, or places 1 to 3 where ids are names
        columns : names of the columns of the three items
        ids, participants, weights, counts : as described for the class

        Returns
        -------
        Responses

        Examples
        --------
        >>> from sdpmetric import Responses
        >>> Responses.from_odd_one_out([[5, 6, 7]], odd=[6]).triplets.tolist()
        [[5, 7, 6], [7, 5, 6]]
        """
        chosen = as_choices(odd, "odd", table, columns)
        read = odd_one_out(table, chosen, columns, Lookup(ids))
        return cls._from_read(read, table, participants, weights, counts)

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
        """Read answers to "is a or b closer to the anchor?" (two-alternative forced choice).

        Parameters
        ----------
        table : as described for the class
        chosen : a column's name, or the ids chosen; None: the first alternative of each row.
            Instead of ids the answers may all be names of columns such as "left" and "right", or
            places 1 and 2 where ids are names
        columns : names of the columns of the anchor and the two alternatives
        ids, participants, weights, counts : as described for the class

        Returns
        -------
        Responses

        Examples
        --------
        >>> from sdpmetric import Responses
        >>> Responses.from_2afc([[5, 6, 7], [5, 7, 8]], chosen=[7, 7]).triplets.tolist()
        [[5, 7, 6], [5, 7, 8]]
        """
        choices = as_choices(chosen, "chosen", table, columns)
        read = two_afc(table, choices, columns, Lookup(ids))
        return cls._from_read(read, table, participants, weights, counts)

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
        """Read an anchor and a list of other items, nearest first, of any length.

        Parameters
        ----------
        table : as described for the class
        pairs : {"all", "adjacent"}, default="all"
            "all": each item is nearer than every item that follows. "adjacent": than the next.
        columns : names of the columns of the anchor and the list
        ids, participants, weights, counts : as described for the class

        Returns
        -------
        Responses

        Examples
        --------
        >>> from sdpmetric import Responses
        >>> Responses.from_rankings([(0, [3, 1, 2])]).triplets.tolist()
        [[0, 3, 1], [0, 3, 2], [0, 1, 2]]
        """
        check_choice("pairs", pairs, ("all", "adjacent"))
        read = rankings(table, pairs, columns, Lookup(ids))
        return cls._from_read(read, table, participants, weights, counts)

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
        """Read a query, the item or items clicked, and the items that were not clicked.

        Rows without a clicked item, or without an item to compare it with, are left out.

        Parameters
        ----------
        table : as described for the class
        rule : {"skipped", "skip-above"}, default="skipped"
            "skipped": columns query, clicked, and skipped, the items that were seen and not
            clicked; each clicked item is nearer than each skipped one. "skip-above": columns query,
            clicked, and shown, all results in order; a clicked item is nearer than the items above
            it that were not clicked. Items below it may not have been seen and are not compared.
        columns : names of the three columns
        ids, participants, weights, counts : as described for the class

        Returns
        -------
        Responses

        Examples
        --------
        >>> from sdpmetric import Responses
        >>> Responses.from_clicks([(0, 4, [1, 2]), (3, [], [5])]).triplets.tolist()
        [[0, 4, 1], [0, 4, 2]]
        >>> log = [(0, [2, 4], [1, 2, 3, 4, 5])]
        >>> Responses.from_clicks(log, rule="skip-above").triplets.tolist()
        [[0, 2, 1], [0, 4, 1], [0, 4, 3]]
        """
        check_choice("rule", rule, ("skipped", "skip-above"))
        above = rule == "skip-above"
        names = columns or ("query", "clicked", "shown" if above else "skipped")
        read = (clicks_above if above else clicks)(table, names, Lookup(ids))
        return cls._from_read(read, table, participants, weights, counts)

    @classmethod
    def from_study(cls, path: Any, *, ids: Any = None) -> Self:
        """Read the answers in a study file, which ``sdpmetric ask`` writes.

        Answers that were taken back, answers "cannot tell", practice and catch questions are left
        out. The study may be running.

        Parameters
        ----------
        path : name of the file
        ids : the id of each row of X, strings

        Returns
        -------
        Responses
        """
        kind, table = read_study(path)
        *columns, chosen = COLUMNS[kind]
        if not table[chosen]:
            raise ValueError(f"{path} holds no answer yet, expected at least one.")
        read = cls.from_odd_one_out if kind == "odd-one-out" else cls.from_2afc
        return read(table, chosen, columns=columns, ids=ids, participants="participant")

    @classmethod
    def _from_read(
        cls, read: Read, table: Any, participants: Any, weights: Any, counts: Any
    ) -> Self:
        """Repeat the triplets of each row of the table as often as its answer was given."""
        found, rows, n = read
        names, importance = as_names(participants, table, n), as_importance(weights, table, n)
        times = as_counts(counts, table, n)
        each = times[rows]
        if not each.any():
            raise ValueError("counts is zero everywhere, expected an answer that was given.")
        check_many("counts", int(each.sum()))
        # A row that was given three times is three answers, each with all triplets of the row.
        first = np.cumsum(times) - times
        copy = places(each)
        rows = np.repeat(rows, each)
        return cls(
            np.repeat(found, each, axis=0),
            importance[rows],
            None if names is None else names[rows],
            first[rows] + copy,
        )
