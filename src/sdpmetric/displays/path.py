"""What a search found along its path over C."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._typing import Floats
from .drawing import BLUE, GREY, ORANGE, legend_above, new_axes

__all__ = ["PathDisplay"]


class PathDisplay:
    """The path over C of a search: held-out score, margin and rank.

    Parameters
    ----------
    C, score, spread, rho, rank : (n,) arrays along the path, C ascending; ``spread`` is the
        standard error of ``score``
    prior_score : score of the prior alone, for comparison
    chosen : C that was chosen, None if the path does not hold it
    coordinates : in which the metrics of the path were learned

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sdpmetric import SDPMetricCV
    >>> from sdpmetric.displays import PathDisplay
    >>> search = SDPMetricCV(3, n_neighbors=3, n_impostors=3, n_rounds=1, prior_weight=0.0, cv=2)
    >>> display = PathDisplay.from_estimator(search.fit(*load_wine(return_X_y=True)))
    >>> len(display.C)
    3
    """

    def __init__(
        self,
        C: Floats,
        score: Floats,
        spread: Floats,
        rho: Floats,
        rank: Floats,
        prior_score: float,
        chosen: float | None,
        coordinates: str,
    ) -> None:
        self.C, self.score, self.spread = C, score, spread
        self.rho, self.rank = rho, rank
        self.prior_score, self.chosen = prior_score, chosen
        self.coordinates = coordinates

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """The longest path of a fitted search; of several, that whose settings are most chosen."""
        check_is_fitted(estimator, "cv_results_")
        results = estimator.cv_results_
        names = [n for n in results if n.startswith("param_") and n != "param_C"]
        fitted = np.flatnonzero(results["param_prior_weight"] < 1.0)
        lanes: dict[tuple[str, ...], list[int]] = {}
        for i in fitted:
            lanes.setdefault(tuple(str(results[n][i]) for n in names), []).append(int(i))
        chosen = tuple(str(results[n][estimator.best_index_]) for n in names)
        lane = max(lanes, key=lambda one: (len(lanes[one]), _alike(one, chosen), -lanes[one][0]))
        rows = np.array(lanes[lane])[np.argsort(results["param_C"][lanes[lane]])]
        where = dict(zip(names, lane, strict=True))["param_coordinates"]
        alone = (results["param_prior_weight"] == 1.0) & (results["param_coordinates"] == where)
        scores = np.stack([results[f"split{i}_test_score"] for i in range(estimator.n_splits_)], 1)
        # On the splits that all of the path have seen, or the points could not be compared.
        scores = scores[:, ~np.isnan(scores[rows]).any(axis=0)]
        return cls(
            results["param_C"][rows],
            scores[rows].mean(axis=1),
            scores[rows].std(axis=1) / np.sqrt(scores.shape[1]),
            results["mean_rho"][rows],
            results["mean_rank"][rows],
            float(scores[alone][0].mean()),
            estimator.best_params_["C"] if lane == chosen else None,
            where,
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw on given axes, or new ones; `figure_` and `ax_` are kept."""
        ax = new_axes(ax)
        from matplotlib.ticker import LogLocator, NullFormatter

        low, high = self.score - self.spread, self.score + self.spread
        ax.fill_between(self.C, low, high, color=BLUE, alpha=0.15, linewidth=0)
        ax.plot(self.C, self.score, "o-", color=BLUE, label="held-out score")
        ax.axhline(self.prior_score, color=GREY, linestyle="--", label="the prior alone")
        if self.chosen is not None:
            ax.axvline(self.chosen, color=GREY, linestyle=":", label="chosen")
        ax.set(xscale="log", xlabel=f"C (coordinates: {self.coordinates})")
        ax.set_ylabel("held-out score", color=BLUE)
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
    """In how many settings two paths agree."""
    return sum(one == other for one, other in zip(a, b, strict=True))
