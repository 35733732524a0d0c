"""The two ends of a search: the checked grids before it, and the choice after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from threading import Event
from typing import Any

from ..._support.deadline import Deadline
from ...problem.losses import Loss
from ..fit.run import Fit
from .search import Space
from .table import Table

__all__ = ["CheckedSpace", "Choice"]


@dataclass(frozen=True)
class CheckedSpace:
    """Checked grids, and the parsed parameters of the fits in a search.

    ``losses`` has the loss of each h, ``path`` the values of C in ascending order. ``deadline`` is
    that of the whole search and the last fit; that of ``fit`` comes sooner. ``cancelled`` ends all
    fits of the search.
    """

    grids: dict[str, list[Any]]
    fit: Fit
    losses: dict[float, Loss]
    path: list[float]
    deadline: Deadline
    cancelled: Event

    def space(
        self,
        kind: type[Any],
        every: bool,
        Cs_of: Callable[[Any], Sequence[float]] | None = None,
        **more: Any,
    ) -> Space:
        """The space of a search.

        ``kind`` is the class of its candidates, ``more`` has other fields of `Space`.
        """
        grids = {f.name: self.grids[f.name] for f in fields(kind)}
        first = kind(**{name: values[0] for name, values in grids.items()})
        return Space(first, grids, Cs_of or (lambda candidate: self.path), every, **more)


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen settings, and how they were found."""

    params: dict[str, Any]
    index: int
    table: Table

    def attributes(self) -> dict[str, Any]:
        """The fitted attributes that describe the choice."""
        results = self.table.results()
        return {
            "search_ended_": self.table.ended,
            "best_index_": self.index,
            "best_params_": self.params,
            "best_score_": float(results["mean_test_score"][self.index]),
            "cv_results_": results,
            "n_splits_": self.table.scores().shape[1],
        }
