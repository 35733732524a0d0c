"""The path over C of a search: score, margin and rank."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._support.typing import Floats
from ..learning.fitted import fitted
from ..learning.selection.score_name import score_name
from .drawing import BLUE, GREY, LITERAL, ORANGE, legend_above, literal, new_axes


class PathDisplay:
    """Held-out score and margin along the path over C of a search.

    Parameters
    ----------
    C, score, spread, rho, rank : (n,) arrays along the path, C ascending; ``spread`` is the
        standard error of ``score``
    prior_score : score of the prior alone, for comparison; None if it was not tried
    chosen : the chosen C, None if it is not on the path
    coordinates : name of the coordinates in which the metrics of the path were learned
    score_name : what the score is a score of

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure; set by `plot`

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sdpmetric import SDPMetricCV
    >>> from sdpmetric.displays import PathDisplay
    >>> search = SDPMetricCV(3, n_neighbors=3, n_impostors=3, n_rounds=1, prior_weight=0.0, cv=2)
    >>> display = PathDisplay.from_estimator(search.fit(*load_wine(return_X_y=True)))
    >>> len(display.C)  # three from 3.5 to 28, and 1.75 beside them for a single round
    4
    """

    def __init__(
        self,
        C: Floats,
        score: Floats,
        spread: Floats,
        rho: Floats,
        rank: Floats,
        prior_score: float | None,
        chosen: float | None,
        coordinates: str,
        score_name: str = "held-out score",
    ) -> None:
        self.C, self.score, self.spread = C, score, spread
        self.rho, self.rank = rho, rank
        self.prior_score, self.chosen = prior_score, chosen
        self.coordinates, self.score_name = coordinates, score_name

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Show the longest path of a fitted search.

        Of several paths of that length, show the one whose other settings agree most with the
        chosen ones.

        Parameters
        ----------
        estimator : a fitted search, such as SDPMetricCV, or a pipeline that holds one
        """
        search = fitted(estimator).metric
        search = getattr(search, "metric_", search)  # a classifier keeps its search there
        if not hasattr(search, "cv_results_"):
            raise ValueError(
                "estimator must be a search such as SDPMetricCV, or a pipeline that holds one: "
                f"{type(search).__name__} has tried no path over C."
            )
        results = search.cv_results_
        names = [n for n in results if n.startswith("param_") and n != "param_C"]
        # A weight of one leaves the prior alone: nothing was fitted, and C has no meaning there.
        alone = results["param_prior_weight"] == 1.0
        paths: dict[tuple[str, ...], list[int]] = {}
        for i in np.flatnonzero(~alone):
            paths.setdefault(tuple(str(results[n][i]) for n in names), []).append(int(i))
        if not paths:
            raise ValueError("estimator has tried nothing but the prior, expected a path over C.")
        chosen = tuple(str(results[n][search.best_index_]) for n in names)
        path = max(paths, key=lambda one: (len(paths[one]), _alike(one, chosen), -paths[one][0]))
        rows = np.array(paths[path])[np.argsort(results["param_C"][paths[path]])]
        where = dict(zip(names, path, strict=True))["param_coordinates"]
        alone &= results["param_coordinates"] == where
        scores = np.stack([results[f"split{i}_test_score"] for i in range(search.n_splits_)], 1)
        # Only the splits on which the whole path was tried: otherwise points were not comparable.
        scores = scores[:, ~np.isnan(scores[rows]).any(axis=0)]
        return cls(
            results["param_C"][rows],
            scores[rows].mean(axis=1),
            scores[rows].std(axis=1) / np.sqrt(scores.shape[1]),
            results["mean_rho"][rows],
            results["mean_rank"][rows],
            float(scores[alone][0].mean()) if alone.any() else None,
            search.best_params_["C"] if path == chosen else None,
            where,
            score_name(search),
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given matplotlib axes, or on new ones. Returns the display itself."""
        ax = new_axes(ax)
        from matplotlib.ticker import LogLocator, NullFormatter

        low, high = self.score - self.spread, self.score + self.spread
        ax.fill_between(self.C, low, high, color=BLUE, alpha=0.15, linewidth=0)
        ax.plot(self.C, self.score, "o-", color=BLUE, label="held-out score")
        if self.prior_score is not None:
            ax.axhline(self.prior_score, color=GREY, linestyle="--", label="the prior alone")
        if self.chosen is not None:
            ax.axvline(self.chosen, color=GREY, linestyle=":", label="chosen")
        ax.set(xscale="log")
        ax.set_xlabel(f"C (coordinates: {literal(self.coordinates)})", **LITERAL)
        ax.set_ylabel(self.score_name, color=BLUE)
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter(NullFormatter())
        margin = ax.twinx()
        margin.plot(self.C, self.rho, "s-", color=ORANGE, markersize=4, label="margin rho")
        margin.set_ylabel("margin rho", color=ORANGE)
        margin.set_ylim(bottom=0.0)
        legend_above(ax, [*ax.get_lines(), *margin.get_lines()])
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _alike(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """The number of settings in which two paths agree."""
    return sum(one == other for one, other in zip(a, b, strict=True))
