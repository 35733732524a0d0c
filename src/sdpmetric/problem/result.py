"""The types of results: a solver's `Solution`, a user's `Result`, and why a fit ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .._support.typing import Floats

__all__ = ["HISTORY", "Callback", "Dual", "Progress", "Result", "Solution", "Status"]


class Status(StrEnum):
    """Why a solver stopped."""

    CONVERGED = "converged"
    ITERATION_LIMIT = "iteration limit"
    TIME_LIMIT = "time limit"
    STOPPED = "stopped by callback"
    INTERRUPTED = "interrupted"
    OUT_OF_MEMORY = "out of memory"
    STALLED = "stalled"  # rounding error, or the paper's own stop test, came before the gap


@dataclass(frozen=True)
class Progress:
    """The state of a fit, for a callback, which returns True to stop the fit.

    ``gap`` is the relative gap when it was last computed, infinite before that (for the hinge, the
    gap of the Huber problem of the current stage). ``inner_gap`` is that over the directions which
    the factor has now: it is known more often, and proves nothing. ``factor()`` computes the factor
    of the learned part of M, as in `Result`; it costs nothing unless it is called. ``resume`` has
    the numbers that a later fit needs, besides the factor, to go on from here (`Limits.resume`).
    """

    n_iter: int
    objective: float
    gap: float
    seconds: float
    rank: int
    factor: Callable[[], Floats] = field(repr=False, compare=False)
    resume: Mapping[str, float] = field(default_factory=dict, compare=False)
    inner_gap: float = np.inf


@dataclass(frozen=True)
class Dual:
    """The dual point of a certificate: what its slopes prove, whatever the loss.

    ``bound`` is a number that ``<G, M>`` does not exceed for any M, the prior's share included.
    ``far_weight`` is ``sum_r w_r d_M(far_r)`` at the certified M. ``rounding`` is the usual and the
    largest size of rounding in these numbers.
    """

    bound: float
    far_weight: float
    rounding: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Solution:
    """The point where a solver stopped, in the coordinates of its objective.

    Everything is recomputed at that point. ``status`` is why the loop ended; whether the gap is
    good enough is for the caller to decide, in one place, since only the caller knows if this is
    one stage of several.
    """

    factor: Floats
    rho: float
    objective: float
    upper_bound: float
    gap: float
    status: Status
    n_iter: int
    n_products: int
    history: npt.NDArray[np.void]
    dual: Dual

    @property
    def ended_early(self) -> bool:
        """Whether a callback, Ctrl-C or a lack of memory ended the loop: no stage may follow."""
        return self.status in (Status.STOPPED, Status.INTERRUPTED, Status.OUT_OF_MEMORY)


@dataclass(frozen=True, eq=False)
class Result:
    """A metric with its certificate, everything recomputed at the returned point.

    Attributes
    ----------
    components : (k, D) rows, ``M = components' components``, trace one
    eigenvalues : of M, descending, before it was cut to ``n_components``
    retained : the share of the trace that the components keep
    factor : (D, d) factor of the learned part of M, a start for another fit
    rho : the margin
    objective : F(M)
    upper_bound : no M reaches more than this (the best bound seen)
    gap : the relative gap at M, ``(lambda_max(G) - <G, M>) / sum_r w_r d_M(far_r)``
    status : why the solver stopped
    n_iter : evaluations of F (frank-wolfe: steps)
    n_products : columns multiplied by G for eigenvectors
    history : structured array (objective, gap, seconds), a row per certificate
    scale : the factor by which squared distances were multiplied
    """

    components: Floats
    eigenvalues: Floats
    retained: float
    factor: Floats
    rho: float
    objective: float
    upper_bound: float
    gap: float
    status: Status
    n_iter: int
    n_products: int
    history: npt.NDArray[np.void]
    scale: float

    @property
    def converged(self) -> bool:
        """Whether the gap is at most ``tol``."""
        return self.status is Status.CONVERGED

    @property
    def rank(self) -> int:
        """The rank of M before it was cut."""
        return len(self.eigenvalues)

    def get_mahalanobis_matrix(self) -> Floats:
        """Return M.

        Returns
        -------
        (D, D) array, ``components.T @ components``
        """
        return self.components.T @ self.components


Callback: TypeAlias = Callable[[Progress], object]
HISTORY = np.dtype([("objective", float), ("gap", float), ("seconds", float)])
