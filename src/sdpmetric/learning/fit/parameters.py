"""The parameters of a fit: as the user gave them, and parsed once into a `Fit`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._support.checks import check_integer, check_jobs, check_real, seed_of
from ..._support.deadline import Deadline
from ...problem.loss_arguments import as_loss, check_bounded, check_support
from ...problem.losses import Hinge
from ...problem.prior import Prior, as_prior
from ...solvers import Limits, as_solver
from ...solvers.continuation import Continuation
from .run import Fit

__all__ = ["FitParameters", "check_C"]

_C_RANGE = 1e-9, 1e12  # beyond, the objective is all margin or all loss to within rounding
# Features up to which a metric with an identity prior is returned whole: D components of D numbers,
# 3.2 GB at this limit.
_IDENTITY_LIMIT = 20_000


@dataclass(frozen=True, eq=False)
class FitParameters:
    """Everything about a fit except its data, by the names of `SDPMetric`'s parameters."""

    loss: Any
    C: Any
    h: Any
    prior: Any
    prior_weight: Any
    n_components: Any
    solver: Any
    solver_options: Any
    tol: Any
    max_iter: Any
    time_limit: Any
    random_state: Any
    n_jobs: Any

    def resolve(self, n_features: int, deadline: Deadline, *, all_triplets: bool = False) -> Fit:
        """Parse every parameter. A value out of range raises ValueError, before any work.

        ``deadline`` has the moment from which ``time_limit`` counts.
        """
        C = check_C(self.C)
        loss = as_loss(self.loss, self.h)
        if all_triplets:
            check_support(loss)  # C is checked once the triplets are counted
        else:
            check_bounded(loss, C)
        tol = check_real("tol", self.tol, 0.0, 1.0)
        max_iter = check_integer("max_iter", self.max_iter, 1)
        if self.time_limit is not None:
            check_real("time_limit", self.time_limit, 0.0)
        n_jobs = check_jobs(self.n_jobs)
        solver, dense_limit = as_solver(self.solver, self.solver_options)
        if self.n_components is not None:
            check_integer("n_components", self.n_components, 1, n_features)
        prior = as_prior(self.prior, self.prior_weight, n_features)
        _check_rows(prior, self.n_components)
        return Fit(
            loss=loss,
            C=C,
            prior=prior,
            n_components=self.n_components,
            # The hinge has no slope at its kink, and solvers need one: it is solved as the limit of
            # Huber's losses.
            solver=Continuation(solver) if isinstance(loss, Hinge) else solver,
            limits=Limits(
                tol=tol,
                max_iter=max_iter,
                deadline=deadline.limited(self.time_limit),
                seed=seed_of(self.random_state),
                dense_limit=dense_limit,
            ),
            n_jobs=n_jobs,
        )


def check_C(C: object) -> float:
    """Check that C is in the range where both terms of the objective count."""
    return check_real("C", C, *_C_RANGE, closed=True)


def _check_rows(prior: Prior, n_components: object) -> None:
    """Ask for n_components if the whole metric would be too large to return."""
    full_rank = prior.matrix is None and prior.weight > 0.0
    if full_rank and prior.n_features > _IDENTITY_LIMIT and n_components is None:
        raise ValueError(
            f"n_components must be given with an identity prior and more than "
            f"{_IDENTITY_LIMIT} features (here {prior.n_features}): the metric has full rank."
        )
