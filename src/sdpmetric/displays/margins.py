"""The margins of comparisons, by Euclidean distance and by the metric."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._support.typing import Floats, Ints
from ..learning.fitted import Fitted, fitted
from ..linalg.items import Items
from ..problem.checks import as_triplets
from ..problem.comparisons import Comparisons
from ..triplets.knn import knn_triplets
from .drawing import BLUE, GREY, legend_above, new_axes

_TAIL = 0.5  # per cent of the margins at either end that share the outermost bar
_BINS = 60  # enough to see a margin of a tenth of the range


class MarginsDisplay:
    """Histograms of margins: the squared distance of the far pair minus that of the near pair.

    Parameters
    ----------
    before, after : (m,) margins of the same comparisons by Euclidean distance and by the metric;
        a comparison is wrong if its margin is not positive
    rho : the margin that the fit asks for, in the units of ``after``

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure; set by `plot`

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.displays import MarginsDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> metric = SDPMetric(n_neighbors=5, n_impostors=10).fit(X, y)
    >>> display = MarginsDisplay.from_estimator(metric, X, y)
    >>> len(display.after) == len(display.before) == 178 * 5 * 10
    True
    """

    def __init__(self, before: Floats, after: Floats, rho: float) -> None:
        self.before, self.after, self.rho = before, after, rho

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Compute the margins of comparisons between rows of X.

        Margins by the metric are in units of the fit, in which ``rho_`` is the margin asked for.
        Margins by Euclidean distance are scaled so that both have the same mean far distance.

        Parameters
        ----------
        estimator : a fitted metric, a search, or a pipeline that holds one
        X : (n, D) rows, of the fit or others
        y : (n,) labels, from which k-nearest triplets are made in the coordinates of the fit, or
            (m, 3) or (m, 4) comparisons
        """
        parts = fitted(estimator)
        rows = parts.given(X)
        inside, components = parts.learned_in(rows)
        comparisons = Comparisons.from_indices(_comparisons(parts, inside, y))
        # Only ratios of Euclidean distances count: in units in which squares stay in range.
        euclidean = rows.rescaled()[0].squared_differences(*comparisons.edges.T)
        far, total = comparisons.far_sums(comparisons.weights, euclidean)
        if not far > 0.0:
            raise ValueError(
                "X: the two rows of every far pair coincide, expected some that do not."
            )
        mapped, unit = inside.mapped(components, exact=True).rescaled()
        scale = _checked_scale(parts.learner) / unit / unit
        learned = scale * mapped.squared_differences(*comparisons.edges.T)
        # Euclidean distance has no unit in common with the metric: without a common mean, a metric
        # that turns from wide columns to narrow ones would be a single bar beside it.
        aim = comparisons.far_sums(comparisons.weights, learned)[0] or total
        return cls(
            comparisons.margins(euclidean * (aim / far)),
            comparisons.margins(learned),
            float(parts.learner.rho_),
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given matplotlib axes, or on new ones. Returns the display itself."""
        ax = new_axes(ax)
        both = np.concatenate([self.before, self.after])
        # A few huge margins would squeeze all others into one bar.
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
            xlabel="far minus near squared distance (outermost bars: all beyond)",
            ylabel="% of comparisons",
        )
        legend_above(ax, handles)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _checked_scale(learner: Any) -> float:
    """The factor from squared distances to the units of margins; raises if it is out of range."""
    scale, range_ = float(learner.scale_), np.finfo(np.float64)
    if not range_.tiny < scale < range_.max:
        raise ValueError(
            f"estimator: scale_ is {scale:.1e}, the end of its range, since the rows of the fit "
            "are so small or large; expected a fit to rows of ordinary size, such as X times a "
            "constant."
        )
    return scale


def _comparisons(parts: Fitted, rows: Items, y: Any) -> Ints:
    if np.ndim(y) == 2:
        return as_triplets(y, rows.shape[0], "y")
    learner = parts.learner
    # A TripletSDPMetric has no such parameters: the defaults of SDPMetric stand for them.
    near, far = getattr(learner, "n_neighbors", 3), getattr(learner, "n_impostors", 3)
    return knn_triplets(rows.raw, y, near, far)
