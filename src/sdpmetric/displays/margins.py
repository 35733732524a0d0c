"""By how much comparisons are right, before and after."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._typing import Floats, Ints, Items
from ..comparisons import Comparisons
from ..inputs import as_triplets
from ..mining import knn_triplets
from ..products import edge_distances, squared_differences
from .drawing import BLUE, GREY, legend_above, new_axes
from .fitted import Fitted, fitted

__all__ = ["MarginsDisplay"]

_TAIL = 0.5  # per cent of the margins at either end that share the outermost bar
_BINS = 60


class MarginsDisplay:
    """Histograms of margins: the squared distance of the far pair less that of the near one.

    Parameters
    ----------
    before, after : (m,) margins of the same comparisons by Euclidean distance and by the metric;
        a comparison is wrong if its margin is not positive
    rho : the margin that the fit asks for, in the units of ``after``

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.displays import MarginsDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> display = MarginsDisplay.from_estimator(SDPMetric().fit(X, y), X, y)
    >>> len(display.after) == len(display.before) == 178 * 3 * 3
    True
    """

    def __init__(self, before: Floats, after: Floats, rho: float) -> None:
        self.before, self.after, self.rho = before, after, rho

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Margins of comparisons of the rows of X.

        By the metric in units of the fit, where ``rho_`` is the margin; by Euclidean distance in
        units that make the mean far distance the same.

        Parameters
        ----------
        estimator : a fitted metric, a search, or a pipeline that holds one
        X : (n, D) rows, of the fit or others
        y : (n,) labels, which stand for their k-nearest triplets in the coordinates of the fit,
            or (m, 3) or (m, 4) comparisons
        """
        parts = fitted(estimator)
        rows = parts.given(X)
        inside = parts.learned_in(rows)
        comparisons = Comparisons.from_indices(_comparisons(parts, inside, y))
        euclidean = squared_differences(rows, *comparisons.edges.T)
        far, total = comparisons.far_sums(comparisons.weights, euclidean)
        if not far > 0.0:
            raise ValueError(
                "X: the two rows of every far pair coincide, expected some that do not."
            )
        mapped = np.asarray(inside @ parts.learner.components_.T, dtype=np.float64)
        learned = parts.learner.scale_ * edge_distances(mapped, comparisons.edges)
        # Of its own, Euclidean distance has no unit: a metric that turns from wide columns to
        # narrow ones would shrink to a single bar beside it.
        aim = comparisons.far_sums(comparisons.weights, learned)[0] or total
        return cls(
            comparisons.margins(euclidean * (aim / far)),
            comparisons.margins(learned),
            float(parts.learner.rho_),
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw on given axes, or new ones; `figure_` and `ax_` are kept."""
        ax = new_axes(ax)
        both = np.concatenate([self.before, self.after])
        low, high = np.percentile(both, [_TAIL, 100.0 - _TAIL])
        bins = np.linspace(min(low, 0.0), max(high, self.rho), _BINS + 1)
        styles = {
            "Euclidean": (self.before, {"color": GREY, "alpha": 0.45}),
            "learned metric": (self.after, {"color": BLUE, "histtype": "step", "linewidth": 1.8}),
        }
        handles = []
        for name, (z, style) in styles.items():
            label = f"{name}: {np.mean(z <= 0.0):.1%} wrong"
            weights = np.full(len(z), 100.0 / len(z))
            inside = np.clip(z, bins[0], bins[-1])
            handles.append(ax.hist(inside, bins, weights=weights, label=label, **style)[2][0])
        ax.axvline(0.0, color="black", linewidth=0.8)
        if self.rho > 0.0:
            label = f"margin rho = {self.rho:.2g}"
            handles.append(ax.axvline(self.rho, color=BLUE, linestyle=":", label=label))
        ax.set(
            xlabel="far less near squared distance (outermost bars: all beyond)",
            ylabel="% of comparisons",
        )
        legend_above(ax, handles)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _comparisons(parts: Fitted, rows: Items, y: Any) -> Ints:
    if np.ndim(y) == 2:
        return as_triplets(y, rows.shape[0], "y")
    learner = parts.learner
    near, far = getattr(learner, "n_neighbors", 3), getattr(learner, "n_impostors", 3)
    return knn_triplets(rows, y, near, far)
