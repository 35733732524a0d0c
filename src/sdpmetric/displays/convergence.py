"""The convergence of a fit: objective and gap over time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._support.typing import Floats
from ..learning.fitted import fitted
from ..problem.result import Result
from .drawing import BLUE, GREY, ORANGE, legend_above, new_axes


class ConvergenceDisplay:
    """Objective and relative gap over the seconds of a fit, a point per certificate.

    Parameters
    ----------
    seconds, objective, gap : (n,) arrays, as in ``history_``
    upper_bound : the objective that no metric can exceed
    tol : gap at which the fit stops; None: not drawn

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure; set by `plot`

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.displays import ConvergenceDisplay
    >>> metric = SDPMetric().fit(*load_wine(return_X_y=True))
    >>> display = ConvergenceDisplay.from_estimator(metric)
    >>> bool(display.gap[-1] <= display.tol)
    True
    """

    def __init__(
        self,
        seconds: Floats,
        objective: Floats,
        gap: Floats,
        upper_bound: float,
        tol: float | None = None,
    ) -> None:
        self.seconds, self.objective, self.gap = seconds, objective, gap
        self.upper_bound, self.tol = upper_bound, tol

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Show the last round of a metric's fit; of a search, the fit to all data at its end.

        Parameters
        ----------
        estimator : a fitted metric, a search, or a pipeline that holds one
        """
        learner = fitted(estimator).learner
        return cls(*_columns(learner.history_), learner.upper_bound_, float(learner.tol))

    @classmethod
    def from_result(cls, result: Result, tol: float | None = None) -> Self:
        """Show the fit of a `Result` that `solve` returned; ``tol`` as in the class."""
        return cls(*_columns(result.history), result.upper_bound, tol)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given matplotlib axes, or on new ones. Returns the display itself."""
        ax = new_axes(ax)
        ax.plot(self.seconds, self.gap, "o-", color=BLUE, label="relative gap")
        if self.tol is not None:
            ax.axhline(self.tol, color=GREY, linestyle="--", label=f"tol = {self.tol:g}")
        ax.set_yscale("log", nonpositive="mask")  # a gap of zero has no logarithm
        ax.set_xlabel("seconds")
        ax.set_ylabel("relative gap", color=BLUE)
        ax.set_xlim(0.0, 1.04 * self.seconds[-1])
        # Gap and objective have different units, so that each has an axis of its own.
        value = ax.twinx()
        value.plot(self.seconds, self.objective, "s-", color=ORANGE, label="objective")
        bound = {"color": ORANGE, "linestyle": ":"}
        value.axhline(self.upper_bound, **bound, label="its upper bound")
        value.set_ylabel("objective", color=ORANGE)
        value.ticklabel_format(
            axis="y", style="plain", useOffset=False
        )  # an offset would be written over the legend
        legend_above(ax, [*ax.get_lines(), *value.get_lines()])
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _columns(history: Any) -> tuple[Floats, Floats, Floats]:
    seconds, objective, gap = (np.array(history[n]) for n in ("seconds", "objective", "gap"))
    return seconds, objective, gap
