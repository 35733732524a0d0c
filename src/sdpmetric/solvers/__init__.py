"""The solvers, one file each.

A solver sees an objective and nothing else:
``solver(objective, *, start, tol, max_iter, time_limit, callback, **options) -> Result``.
"""

from __future__ import annotations

from collections.abc import Callable

from ..result import Result
from .frank_wolfe import frank_wolfe
from .hinge import by_continuation
from .low_rank import low_rank
from .working_set import by_working_sets

__all__ = ["SOLVERS", "by_continuation", "by_working_sets", "frank_wolfe", "low_rank"]

SOLVERS: dict[str, Callable[..., Result]] = {"low-rank": low_rank, "frank-wolfe": frank_wolfe}
