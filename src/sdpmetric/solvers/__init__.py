"""The solvers, one file each, and their names.

A solver uses an objective and nothing else of a problem; `protocol` is the contract.
"""

from .frank_wolfe import FrankWolfe
from .low_rank import LowRank
from .options import SOLVERS, as_solver
from .protocol import Limits, Solver

__all__ = ["SOLVERS", "FrankWolfe", "Limits", "LowRank", "Solver", "as_solver"]
