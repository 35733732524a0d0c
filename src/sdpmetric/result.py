"""What a solver returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from ._typing import Floats

__all__ = ["Progress", "Result", "Status"]


class Status(StrEnum):
    """Why a solver stopped."""

    CONVERGED = "converged"
    ITERATION_LIMIT = "iteration limit"
    TIME_LIMIT = "time limit"
    STOPPED = "stopped by callback"
    INTERRUPTED = "interrupted"
    STALLED = "stalled"  # rounding error, or the paper's own stop test, came before the gap


@dataclass(frozen=True)
class Progress:
    """What a callback is told; it returns True to stop the fit.

    ``gap`` is the relative gap when it was last computed, infinite before that (for the hinge, that
    of the Huber problem at hand). ``factor()`` computes the factor of the learned part of M, as in
    `Result`; it costs nothing unless it is called.
    """

    n_iter: int
    objective: float
    gap: float
    seconds: float
    rank: int
    factor: Callable[[], Floats] = field(repr=False, compare=False)


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
    scale : what squared distances were multiplied by
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
    components: Floats = field(default_factory=lambda: np.empty((0, 0)))
    eigenvalues: Floats = field(default_factory=lambda: np.empty(0))
    retained: float = 1.0
    scale: float = 1.0

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED

    @property
    def rank(self) -> int:
        """Of M before it was cut."""
        return len(self.eigenvalues)

    def get_mahalanobis_matrix(self) -> Floats:
        """M, as an array of shape (D, D)."""
        return self.components.T @ self.components
