"""The eigenvalues of a metric and its effective rank."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._support.typing import Floats
from ..learning.fitted import fitted
from ..problem.result import Result
from .drawing import BLUE, GREY, ORANGE, legend_above, new_axes

_SHOWN = 1e-6  # of the largest eigenvalue: smaller ones change no distance visibly


class SpectrumDisplay:
    """Eigenvalues of M, their running sum, and the effective rank.

    The effective rank is the exponential of the entropy of the eigenvalues (Roy and Vetterli,
    2007). It is k if k eigenvalues are equal and the others are zero.

    Parameters
    ----------
    eigenvalues : (r,) descending, of sum one
    n_features : number of features, the largest rank possible

    Attributes
    ----------
    effective_rank : float
    ax_, figure_ : matplotlib axes and figure; set by `plot`

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric.displays import SpectrumDisplay
    >>> round(SpectrumDisplay(np.array([0.5, 0.5]), 10).effective_rank, 6)
    2.0
    """

    def __init__(self, eigenvalues: Floats, n_features: int) -> None:
        self.eigenvalues, self.n_features = eigenvalues, n_features
        # 0 log 0 counts as 0.
        e = eigenvalues[eigenvalues > 0.0]
        self.effective_rank = float(np.exp(-np.sum(e * np.log(e))))

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Show the spectrum before a cut to ``n_components``, in the coordinates of the fit.

        Parameters
        ----------
        estimator : a fitted metric, a search, or a pipeline that holds one
        """
        learner = fitted(estimator).learner
        return cls(learner.eigenvalues_, learner.n_features_in_)

    @classmethod
    def from_result(cls, result: Result) -> Self:
        """Show the spectrum of a `Result` that `solve` returned."""
        return cls(result.eigenvalues, result.components.shape[1])

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given matplotlib axes, or on new ones. Returns the display itself."""
        ax = new_axes(ax)
        from matplotlib.ticker import MaxNLocator

        e = self.eigenvalues
        number = np.arange(1, len(e) + 1)
        ax.plot(number, e, "o", color=BLUE, markersize=5, label="eigenvalue")
        text = f"effective rank {self.effective_rank:.1f} of {self.n_features}"
        ax.axvline(self.effective_rank, color=GREY, linestyle="--", label=text)
        seen = int(np.count_nonzero(e >= _SHOWN * e[0]))
        rest = f" ({len(e) - seen} more below {_SHOWN:g} of the first)" if seen < len(e) else ""
        ax.set(yscale="log", xlabel="direction" + rest)
        ax.set_ylabel("eigenvalue of M", color=BLUE)
        # A factor of two of room below and above, on the log scale.
        ax.set_ylim(0.5 * e[seen - 1], 2.0 * e[0])
        ax.set_xlim(1.0 - 0.05 * seen, 1.05 * seen)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        share = ax.twinx()
        share.plot(number, np.cumsum(e), "-", color=ORANGE, label="running sum")
        share.set_ylim(0.0, 1.04)
        share.set_ylabel("sum of the eigenvalues so far", color=ORANGE)
        legend_above(ax, [*ax.get_lines(), *share.get_lines()])
        self.ax_, self.figure_ = ax, ax.figure
        return self
