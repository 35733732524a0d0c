"""What each feature counts for in a metric."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.preprocessing import StandardScaler

from .._typing import Floats
from ..validation import check_integer
from .drawing import BLUE, legend_above, new_axes
from .fitted import fitted

__all__ = ["FeaturesDisplay"]


class FeaturesDisplay:
    """The weights of the features that count most, beside their weights in Euclidean distance.

    Parameters
    ----------
    names : (D,) names of all features
    weights, euclidean : (D,) share of each feature by the metric and by Euclidean distance
    in_deviations : whether shares are those of rows one standard deviation apart

    Attributes
    ----------
    shown_ : features that were drawn, heaviest first; set by `plot`

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.displays import FeaturesDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = FeaturesDisplay.from_estimator(SDPMetric().fit(X, y), X)
    >>> display.names[6], round(float(display.weights.sum()), 6)
    ('flavanoids', 1.0)
    """

    def __init__(
        self, names: list[str], weights: Floats, euclidean: Floats, in_deviations: bool
    ) -> None:
        self.names, self.weights, self.euclidean = names, weights, euclidean
        self.in_deviations = in_deviations

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, *, feature_names: Any = None) -> Self:
        """Weights of the features that the metric is given.

        Without X the diagonal of M: the squared distance of two rows that differ in one feature,
        by one unit. Features in different units cannot be compared so; with X they differ by the
        deviation of that column in X instead, and the sum is made one again.

        Parameters
        ----------
        estimator : a fitted metric, a search, or a pipeline that holds one
        X : (n, D) rows, of the fit or others
        feature_names : (D,) names; None for those of the fit, or x0, x1, ...
        """
        parts = fitted(estimator)
        diagonal: Floats = np.sum(parts.metric.components_**2, axis=0)
        variance = np.ones(len(diagonal))
        if X is not None:
            variance = StandardScaler(with_mean=False).fit(parts.given(X)).var_
            if not (diagonal @ variance) > 0.0:
                raise ValueError(
                    "X: the metric sees no difference between the rows, expected some that differ."
                )
        names = parts.names(feature_names)
        return cls(names, _shares(diagonal * variance), _shares(variance), X is not None)

    def plot(self, ax: Any = None, *, top: int = 15) -> Self:
        """Draw the ``top`` heaviest features on given axes, or new ones."""
        check_integer("top", top, 1)
        self.shown_ = np.argsort(-self.weights, kind="stable")[:top]
        some = self.shown_
        ax = new_axes(ax, (6.0, 1.3 + 0.24 * len(some)))
        place = np.arange(len(some))
        bars = ax.barh(
            place, 100.0 * self.weights[some], color=BLUE, height=0.7, label="learned metric"
        )
        mark = {"marker": "|", "markersize": 11, "markeredgewidth": 2.5, "linestyle": "none"}
        ax.plot(100.0 * self.euclidean[some], place, color="black", label="Euclidean", **mark)
        ax.set_yticks(place, [_short(self.names[i]) for i in some])
        ax.set_ylim(len(some) - 0.4, -0.6)
        what = (
            "% of squared distance, one deviation apart" if self.in_deviations else "% of trace M"
        )
        hidden = len(self.weights) - len(some)
        rest = 100.0 * (1.0 - float(self.weights[some].sum()))
        more = f"\n{hidden} more feature{'s' * (hidden > 1)}: {rest:.0f} %" if hidden else ""
        ax.set_xlabel(what + more, loc="right")  # long names leave the axes narrower than it is
        legend_above(ax, [bars, *ax.get_lines()])
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _shares(weights: Floats) -> Floats:
    shares: Floats = weights / weights.sum()
    return shares


def _short(name: str, most: int = 28) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
