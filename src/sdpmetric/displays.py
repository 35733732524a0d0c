"""Pictures of fitted estimators; matplotlib is imported only here, and only to draw."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

__all__ = ["PathDisplay"]

_BLUE, _ORANGE, _GREY = "#0072B2", "#E69F00", "0.45"


class PathDisplay:
    """The path over C of a search: held-out score, margin and rank.

    Parameters
    ----------
    C, score, spread, rho, rank : (n,) arrays along the path, C ascending; ``spread`` is the
        standard error of ``score``
    prior_score : score of the prior alone, for comparison
    chosen : C that was chosen, None if the path does not hold it

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
        C: npt.NDArray[np.float64],
        score: npt.NDArray[np.float64],
        spread: npt.NDArray[np.float64],
        rho: npt.NDArray[np.float64],
        rank: npt.NDArray[np.float64],
        prior_score: float,
        chosen: float | None,
    ) -> None:
        self.C, self.score, self.spread = C, score, spread
        self.rho, self.rank = rho, rank
        self.prior_score, self.chosen = prior_score, chosen

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """The longest path of a fitted search: that of the chosen settings, where it is whole."""
        check_is_fitted(estimator, "cv_results_")
        results = estimator.cv_results_
        names = [n for n in results if n.startswith("param_") and n != "param_C"]
        fitted = np.flatnonzero(results["param_prior_weight"] < 1.0)
        lanes: dict[tuple[str, ...], list[int]] = {}
        for i in fitted:
            lanes.setdefault(tuple(str(results[n][i]) for n in names), []).append(int(i))
        chosen = tuple(str(results[n][estimator.best_index_]) for n in names)
        lane = max(lanes, key=lambda one: (len(lanes[one]), one == chosen, -lanes[one][0]))
        rows = np.array(lanes[lane])[np.argsort(results["param_C"][lanes[lane]])]
        where = dict(zip(names, lane, strict=True))["param_coordinates"]
        alone = (results["param_prior_weight"] == 1.0) & (results["param_coordinates"] == where)
        return cls(
            results["param_C"][rows],
            results["mean_test_score"][rows],
            results["std_test_score"][rows] / np.sqrt(estimator.n_splits_),
            results["mean_rho"][rows],
            results["mean_rank"][rows],
            float(results["mean_test_score"][alone][0]),
            estimator.best_params_["C"] if lane == chosen else None,
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw on given axes, or new ones; `figure_` and `ax_` are kept."""
        if find_spec("matplotlib") is None:
            raise ImportError("plots need matplotlib: pip install 'sdpmetric[plot]'.")
        import matplotlib.pyplot as plt
        from matplotlib.ticker import LogLocator, NullFormatter

        if ax is None:
            ax = plt.subplots(figsize=(6.0, 4.0), layout="constrained")[1]
        low, high = self.score - self.spread, self.score + self.spread
        ax.fill_between(self.C, low, high, color=_BLUE, alpha=0.15, linewidth=0)
        ax.plot(self.C, self.score, "o-", color=_BLUE, label="held-out score")
        ax.axhline(self.prior_score, color=_GREY, linestyle="--", label="the prior alone")
        if self.chosen is not None:
            ax.axvline(self.chosen, color=_GREY, linestyle=":", label="chosen")
        ax.set(xscale="log", xlabel="C", ylabel="held-out score")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter(NullFormatter())
        margin = ax.twinx()
        margin.plot(self.C, self.rho, "s-", color=_ORANGE, markersize=4, label="margin rho")
        margin.set_ylabel("margin rho")
        margin.set_ylim(bottom=0.0)
        lines = [*ax.get_lines(), *margin.get_lines()]
        labels = [line.get_label() for line in lines]
        above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncol": 2}
        ax.legend(lines, labels, frameon=False, fontsize=9, **above)
        self.ax_, self.figure_ = ax, ax.figure
        return self
