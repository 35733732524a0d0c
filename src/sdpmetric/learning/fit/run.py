"""`Fit`: parsed parameters, applied to data.

This is the one place where the status of a fit is decided. A solver only says why its loop ended:
it may be one stage of several, and an outer loop must see that the user asked to stop even where
the gap is good already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._support.memory import check_memory
from ..._support.typing import Floats, Ints
from ..._support.warnings import warn
from ...linalg.items import Items
from ...problem.comparisons import Comparisons
from ...problem.losses import Loss
from ...problem.prior import Prior
from ...problem.result import Callback, Progress, Result, Solution, Status
from ...problem.units import Problem
from ...problem.user_units import UserUnits
from ...solvers import Limits, Solver
from ...triplets.all_triplets import AllTriplets
from ...triplets.working_triplets import WorkingTriplets
from .prepared import EveryTriplet, ListedComparisons, Prepared, Solvable

__all__ = ["Fit"]


@dataclass(frozen=True, eq=False)
class Fit:
    """Parsed parameters: prepare data for a solver, then run it.

    ``asked_tol`` is the user's tolerance, for messages, where that of the limits is a looser one.
    """

    loss: Loss
    C: float
    prior: Prior
    n_components: int | None
    solver: Solver
    limits: Limits
    n_jobs: int | None
    asked_tol: float | None = None

    @property
    def bounded(self) -> bool:
        """Whether the slopes of the loss are bounded, so that C must exceed a threshold."""
        return bool(np.isfinite(self.loss.max_slope))

    def with_settings(self, loss: Loss, C: float, prior_weight: float) -> Fit:
        """The same fit with other settings, which the caller has checked."""
        return replace(self, loss=loss, C=C, prior=self.prior.with_weight(prior_weight))

    def with_prior_matrix(self, change: Callable[[Floats], Floats]) -> Fit:
        """The same fit; a matrix that was given as prior is changed to the coordinates of X."""
        if self.prior.matrix is None:
            return self
        return replace(self, prior=replace(self.prior, matrix=change(self.prior.matrix)))

    def loosened(self, tol: float) -> Fit:
        """The same fit with at least this tolerance."""
        limits = replace(self.limits, tol=max(tol, self.limits.tol))
        return replace(self, limits=limits, asked_tol=self.limits.tol)

    def settled(self, result: Result) -> Result:
        """A result of rounds, judged by the tolerance of this fit.

        If a limit or the user ends the rounds early, the last one may have had a looser tolerance.
        """
        if result.gap <= self.limits.tol or result.status is not Status.CONVERGED:
            return result
        why = self.limits.reached(result.n_iter) or Status.STOPPED
        result = replace(result, status=why)
        _warn(result, self.limits.tol)
        return result

    def after(self, n_iter: int) -> Fit:
        """The same fit with the evaluations that are left after so many."""
        if n_iter == 0:
            return self
        left = replace(self.limits, max_iter=self.limits.max_iter - n_iter, stage=(n_iter,))
        return replace(self, limits=left)

    def prepare(self, X: Items, indices: Ints, weights: Floats | None) -> ListedComparisons:
        """Prepare checked items and comparisons for a solver."""
        self._check_memory(len(indices) if weights is None else int(np.count_nonzero(weights)))
        return ListedComparisons(Problem.from_triplets(X, indices, weights, **self._terms))

    def prepare_comparisons(self, X: Items, comparisons: Comparisons) -> ListedComparisons:
        """Prepare checked items and comparisons that are on edges already."""
        self._check_components()
        return ListedComparisons(Problem.of(X, comparisons, **self._terms))

    def prepare_all(self, X: Items, triplets: AllTriplets, codes: Ints) -> EveryTriplet:
        """All triplets of labelled rows, ready to be solved; those in ``codes`` give the units."""
        self._check_memory(len(codes))
        # Every item stays: a later working set may mention rows that the first one does not.
        given = triplets.indices(codes)
        problem = Problem.from_triplets(X, *given, every_item=True, **self._terms)
        limits = self.limits
        return EveryTriplet(WorkingTriplets(problem, triplets, codes, limits.seed, limits.deadline))

    def vary(self, prepared: Prepared) -> Prepared:
        """Prepared data with the loss, C and prior weight of this fit."""
        return prepared.with_settings(self.loss, self.C, self.prior.weight)

    def run(
        self,
        prepared: Solvable,
        start: Floats | None = None,
        callback: Callback | None = None,
        resume: Mapping[str, float] | None = None,
    ) -> Result:
        """Run the solver on prepared data. Warns if ``tol`` is not reached.

        If interrupted, the result is the last certified point with `Status.INTERRUPTED`; whether
        KeyboardInterrupt is raised again is for the caller to decide.
        """
        problem, limits = prepared.problem, replace(self.limits, resume=resume)
        if callback is not None:
            limits = replace(limits, callback=_in_user_coordinates(callback, problem))
        solution = prepared.solve(self.solver, problem.to_solver(start), limits)
        result = problem.finish(solution, self._status(solution), self.n_components)
        if not result.gap <= limits.tol:
            _warn(result, limits.tol if self.asked_tol is None else self.asked_tol)
        return result

    def _check_memory(self, n_comparisons: int) -> None:
        """Raise MemoryError if a fit of so many comparisons cannot succeed."""
        # `Comparisons.from_indices` has three arrays of two numbers of 4 bytes or more.
        check_memory(24.0 * n_comparisons, f"{n_comparisons:,} comparisons")
        self._check_components()

    def _check_components(self) -> None:
        """Raise MemoryError if the components of the metric do not fit into memory."""
        # With an identity prior the metric has full rank: eigenvectors, and components.
        D = self.prior.n_features
        if self.prior.matrix is None and self.prior.weight > 0.0 and self.n_components is None:
            check_memory(16.0 * D * D, f"The {D:,} components of a metric with an identity prior")

    @property
    def _terms(self) -> dict[str, Any]:
        """The terms of the objective, as a problem takes them."""
        return {"loss": self.loss, "C": self.C, "prior": self.prior}

    def _status(self, solution: Solution) -> Status:
        """The status of a fit, decided by its gap."""
        # Even with a gap below tol: the caller must raise Ctrl-C again.
        if solution.status is Status.INTERRUPTED:
            return Status.INTERRUPTED
        # However the loop ended: a limit may be hit by the very step that closes the gap.
        if solution.gap <= self.limits.tol:
            return Status.CONVERGED
        # A solver that says it converged, with a gap that says otherwise, made no progress.
        return Status.STALLED if solution.status is Status.CONVERGED else solution.status


def _in_user_coordinates(callback: Callback, problem: UserUnits) -> Callback:
    """The callback, called with factors in the user's coordinates."""

    def translated(now: Progress) -> object:
        # Lazily: most callbacks never look at the factor, and its map costs a product each step.
        return callback(replace(now, factor=lambda: problem.to_user(now.factor())))

    return translated


_ADVICE = {
    Status.ITERATION_LIMIT: "increase max_iter, or tol",
    Status.TIME_LIMIT: "increase time_limit, or tol",
    Status.STOPPED: "the callback asked to stop",
    Status.INTERRUPTED: "the fit was interrupted; fit again with warm_start=True to go on",
    Status.OUT_OF_MEMORY: "memory ran out, and this is the last metric before; fit fewer rows, or "
    "float32",
    Status.STALLED: "rounding allows no further progress; increase tol, standardise the columns, "
    "or use float64",
}


def _warn(result: Result, tol: float) -> None:
    """Warn that a fit did not reach the tolerance."""
    proven = "and its gap is certified" if result.gap < np.inf else "but no gap is proven"
    warn(
        f"The relative gap is {result.gap:.2g}, above tol = {tol:.2g} "
        f"({result.status} after {result.n_iter} iterations): {_ADVICE[result.status]}. "
        f"The metric is valid {proven}.",
        ConvergenceWarning,
    )
