"""Make a solver from the parameters ``solver`` and ``solver_options``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

from .._support.checks import check_integer
from ..spectraplex.oracle import DENSE_LIMIT
from .frank_wolfe import FrankWolfe
from .low_rank import LowRank
from .protocol import Solver

__all__ = ["SOLVERS", "as_solver"]

# Name and class. A solver's options are the parameters of its class, so a new solver declares and
# checks its own; this module does not know them.
SOLVERS: dict[str, Callable[..., Solver]] = {"low-rank": LowRank, "frank-wolfe": FrankWolfe}

_DENSE_LIMIT = "dense_limit"  # an option of certificates, so every solver has it


def as_solver(name: object, options: object) -> tuple[Solver, int]:
    """Return the solver of these parameters, and the ``dense_limit`` of its certificates."""
    if not isinstance(name, str) or name not in SOLVERS:
        raise ValueError(f"solver must be one of {sorted(SOLVERS)}, got {name!r}.")
    if options is None:
        options = {}
    if not isinstance(options, Mapping):
        raise ValueError(f"solver_options must be a dict or None, got {options!r}.")
    given = dict(options)
    known = {*inspect.signature(SOLVERS[name]).parameters, _DENSE_LIMIT}
    unknown = sorted(str(key) for key in set(given) - known)
    if unknown:
        raise ValueError(
            f"solver_options has {', '.join(map(repr, unknown))}, which this solver does not know; "
            f"expected some of {', '.join(sorted(known))}."
        )
    dense_limit = given.pop(_DENSE_LIMIT, DENSE_LIMIT)
    check_integer(f"solver_options[{_DENSE_LIMIT!r}]", dense_limit, 1)
    return SOLVERS[name](**given), int(dense_limit)
