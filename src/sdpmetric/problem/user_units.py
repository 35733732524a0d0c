"""The way from the coordinates and units of an objective back to those of the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._support.typing import Floats
from ..spectraplex.factors import spectrum
from .prior import Prior
from .protocols import Objective
from .result import Result, Solution, Status

__all__ = ["LARGE_OFFSET", "LIGHT", "SCALES", "UserUnits", "check_far"]

# A column this many ranges away from zero loses a digit in differences, so items are centred then.
# Not always: centring copies X, which a memory map may not allow (docs/guide/scale.md).
LARGE_OFFSET = 10.0
# float32 items with fewer entries (32 MB as float64) are converted: certificates then need no
# evaluation of their own, and steps do not end at the rounding of float32.
LIGHT = 1 << 22
SCALES = np.finfo(np.float64).tiny, np.finfo(np.float64).max  # no infinity leaves a fit
# Mean far distance over the largest one. Below it all other distances are so large in the units of
# the fit that squares of sums over them overflow.
_LEAST_FAR = 1e-50


@dataclass(frozen=True, eq=False)
class UserUnits:
    """An objective, and the way from its solution to a metric on the user's items.

    Attributes
    ----------
    objective : the function to maximise, in the solver's coordinates
    user_scale : the factor of the user's squared distances (the objective has another one for its
        own items, which may be rescaled)
    total : the weight of all comparisons
    unit : the coefficient ``c_r`` of a comparison of weight one, ``C / total``
    basis : maps the objective's coordinates to the user's; None if they are the same
    prior : M0 and its weight t
    root : a factor of a given M0 in the objective's coordinates; None for the identity
    """

    objective: Objective
    user_scale: float
    total: float
    unit: float
    basis: Any
    prior: Prior
    root: Floats | None

    @property
    def n_features(self) -> int:
        """The number of columns of the user's items."""
        return self.prior.n_features

    def to_solver(self, factor: Floats | None) -> Floats | None:
        """Map a user's factor to the objective's coordinates; None if nothing of it lies there."""
        if factor is None or self.basis is None:
            return factor
        inside: Floats = self.basis.T @ factor
        # Below this share only rounding is left, which would be scaled up to a random start.
        return inside if np.linalg.norm(inside) > 1e-8 * np.linalg.norm(factor) else None

    def to_user(self, factor: Floats) -> Floats:
        """Map a factor in the objective's coordinates to the user's."""
        return factor if self.basis is None else self.basis @ factor

    def finish(self, solution: Solution, status: Status, n_components: int | None) -> Result:
        """Make the user's result: coordinates mapped back, prior mixed in, cut to k components."""
        factor = self.to_user(solution.factor)
        whole = spectrum(factor, self.prior.mix, n_components)
        numbers = solution.rho, solution.objective, whole.components.sum()
        if not np.isfinite(numbers).all():
            raise FloatingPointError(
                "the fit ended with NaN or infinity in its metric, rho or objective; standardise "
                "the columns of X, or choose C and h closer to 1."
            )
        return Result(
            components=whole.components,
            eigenvalues=whole.eigenvalues,
            retained=whole.retained,
            factor=factor,
            rho=solution.rho,
            objective=solution.objective,
            upper_bound=solution.upper_bound,
            gap=solution.gap,
            status=status,
            n_iter=solution.n_iter,
            n_products=solution.n_products,
            history=solution.history,
            scale=self.user_scale,
        )


def check_far(mean: float, largest_far: float, largest: float) -> None:
    """Raise ValueError if the mean far distance is no unit for the distances of all edges."""
    if not largest_far > 0.0:
        raise ValueError(
            "X: the two items of every far pair coincide (distance 0), so no metric can tell them "
            "apart; expected at least one far pair of different rows."
        )
    if not mean > _LEAST_FAR * largest:
        raise ValueError(
            "X: the mean squared distance of far pairs, by the weights of their comparisons, is "
            f"less than {_LEAST_FAR:g} of the largest squared distance; expected far pairs that "
            "differ more, or have more weight."
        )
