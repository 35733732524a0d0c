"""The weight of each feature in a metric."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._support.checks import check_integer
from .._support.text import shorten
from .._support.typing import Floats
from ..learning.estimators.coordinates import deviations
from ..learning.fitted import fitted
from .drawing import BLUE, LITERAL, legend_above, literal, new_axes

_LETTERS = 28  # of a name: longer ones would leave no room for the bars


class FeaturesDisplay:
    """The features with the largest weights, beside their weights in Euclidean distance.

    Parameters
    ----------
    names : (D,) names of all features
    weights, euclidean : (D,) share of each feature by the metric and by Euclidean distance
    in_deviations : whether the shares are for rows one standard deviation apart in a feature

    Attributes
    ----------
    shown_ : features that were drawn, largest weight first; set by `plot`
    ax_, figure_ : matplotlib axes and figure; set by `plot`

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
        """Compute the weights of the features that the metric is given.

        Without X, the weights are the diagonal of M: the squared distance between two rows that
        differ in one feature, by one unit. Such weights do not compare features in different units.
        With X, the rows differ by one standard deviation of that column in X. The weights sum to
        one.

        Parameters
        ----------
        estimator : a fitted metric, a search, or a pipeline that holds one
        X : (n, D) rows, of the fit or others
        feature_names : (D,) names; None for those of the fit, or x0, x1, ...
        """
        parts = fitted(estimator)
        components = parts.metric.components_
        deviation = np.ones(components.shape[1])
        if X is not None:
            deviation = deviations(parts.given(X))
            if not np.any(components * deviation):
                raise ValueError(
                    "X: the metric sees no difference between the rows, expected some that differ."
                )
        names = parts.names(feature_names)
        weights, euclidean = _shares(components * deviation), _shares(deviation[None])
        return cls(names, weights, euclidean, X is not None)

    def plot(self, ax: Any = None, *, top: int = 15) -> Self:
        """Draw the ``top`` features of largest weight on the given axes, or on new ones.

        Returns the display itself.
        """
        check_integer("top", top, 1)
        self.shown_ = np.argsort(-self.weights, kind="stable")[:top]
        some = self.shown_
        # 0.24 inches per bar and 1.3 for axis and legend: bars of one height in any number.
        ax = new_axes(ax, (6.0, 1.3 + 0.24 * len(some)))
        place = np.arange(len(some))
        bars = ax.barh(
            place, 100.0 * self.weights[some], color=BLUE, height=0.7, label="learned metric"
        )
        mark = {"marker": "|", "markersize": 11, "markeredgewidth": 2.5, "linestyle": "none"}
        ax.plot(100.0 * self.euclidean[some], place, color="black", label="Euclidean", **mark)
        names = [shorten(literal(self.names[i]), _LETTERS) for i in some]
        ax.set_yticks(place, names, **LITERAL)
        ax.set_ylim(len(some) - 0.4, -0.6)
        what = (
            "% of squared distance, one deviation apart" if self.in_deviations else "% of trace M"
        )
        hidden = len(self.weights) - len(some)
        rest = 100.0 * (1.0 - float(self.weights[some].sum()))
        more = f"\n{hidden} more feature{'s' * (hidden > 1)}: {rest:.0f} %" if hidden else ""
        ax.set_xlabel(what + more, loc="right")  # long names make the axes narrower than this text
        legend_above(ax, [bars, *ax.get_lines()])
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _shares(rows: Floats) -> Floats:
    """The share of each column in the sum of all squares."""
    # Divided by the largest first: squares of extreme entries would over- or underflow.
    squares = np.sum((rows / np.abs(rows).max()) ** 2, axis=0)
    shares: Floats = squares / squares.sum()
    return shares
