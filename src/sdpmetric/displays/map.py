"""Items on a plane, before and after."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA

from .._typing import Dense, Floats, Items
from .drawing import BLUE, class_colours, panels
from .fitted import fitted

__all__ = ["MapDisplay"]

_NAMED = 20  # classes that are written into the map
_NAMES = ("Euclidean", "learned metric")


class MapDisplay:
    """The two directions of largest variance, by Euclidean distance and by the metric.

    Parameters
    ----------
    before, after : (n, 2) places of the rows
    shares : pairs of shares of the variance, before and after, that the directions hold
    y : (n,) labels, or None

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.displays import MapDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> MapDisplay.from_estimator(SDPMetric().fit(X, y), X, y).after.shape
    (178, 2)
    """

    def __init__(
        self, before: Floats, after: Floats, shares: tuple[Floats, Floats], y: Dense | None = None
    ) -> None:
        self.before, self.after, self.shares, self.y = before, after, shares, y

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None) -> Self:
        """Principal components of rows as the metric is given them, and as it maps them.

        Parameters
        ----------
        estimator : a fitted metric, a search, or a pipeline that holds one
        X : (n, D) rows, of the fit or others
        y : (n,) labels to colour them by
        """
        parts = fitted(estimator)
        rows = parts.given(X)
        if rows.shape[0] < 2:
            raise ValueError("X has a single row, expected at least two to be told apart.")
        labels = None if y is None else np.asarray(y)
        if labels is not None and labels.shape != (rows.shape[0],):
            raise ValueError(
                f"y must have one label per row of X, shape ({rows.shape[0]},), got shape "
                f"{labels.shape}."
            )
        before, share = _plane(rows)
        after, share_after = _plane(parts.mapped(rows))
        return cls(before, after, (share, share_after), labels)

    def plot(self, ax: Any = None) -> Self:
        """Draw side by side: on two given axes, inside a single one, or on new ones.

        `ax_` holds the two axes.
        """
        axes = panels(ax, 2, (8.0, 4.2))
        for one, points, share, name in zip(
            axes, (self.before, self.after), self.shares, _NAMES, strict=True
        ):
            _scatter(one, points, self.y)
            one.set_title(name, fontsize=11)
            one.set(xticks=[], yticks=[])
            one.set_xlabel(f"{share[0]:.0%} of the variance", fontsize=9)
            one.set_ylabel(f"{share[1]:.0%} of the variance", fontsize=9)
        self.ax_, self.figure_ = axes, axes[0].figure
        return self


def _plane(rows: Items) -> tuple[Floats, Floats]:
    k = min(2, *rows.shape)
    solver = "arpack" if sp.issparse(rows) and min(rows.shape) > k else "auto"
    if solver == "auto" and sp.issparse(rows):
        rows = rows.toarray()
    pca = PCA(k, svd_solver=solver, random_state=0)
    places, shares = np.zeros((rows.shape[0], 2)), np.zeros(2)
    with np.errstate(invalid="ignore"):  # rows that are all alike share no variance
        places[:, :k] = pca.fit_transform(rows)
        shares[:k] = np.nan_to_num(pca.explained_variance_ratio_)
    return places, shares


def _scatter(ax: Any, points: Floats, y: Dense | None) -> None:
    size = float(np.clip(4000.0 / len(points), 4.0, 25.0))
    if y is None:
        ax.scatter(*points.T, s=size, color=BLUE, linewidths=0, alpha=0.8)
        return
    classes, codes = np.unique(y, return_inverse=True)
    colours = np.array(class_colours(len(classes)))
    # One call for all classes: drawn one by one, the last would hide the others.
    ax.scatter(*points.T, s=size, c=colours[codes], linewidths=0, alpha=0.8)
    if len(classes) > _NAMED:
        return
    middles = np.stack([np.median(points[codes == code], axis=0) for code in range(len(classes))])
    wide = max(1.0, 0.45 * max(len(str(label)) for label in classes))
    span = np.maximum(np.ptp(points, axis=0), np.finfo(float).tiny) * [wide, 1.0]
    for label, place, colour in zip(classes, _apart(middles / span) * span, colours, strict=True):
        box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": colour}
        ax.text(*place, str(label), ha="center", va="center", fontsize=11, bbox=box)


def _apart(places: Floats, least: float = 0.075) -> Floats:
    """Places of names moved, little by little, until none covers another."""
    places = places + np.arange(len(places))[:, None] * 1e-9  # equal ones part as well
    for _ in range(100):
        way = places[:, None] - places
        distance = np.linalg.norm(way, axis=2) + np.eye(len(places))
        push = np.maximum(least - distance, 0.0) / (2.0 * distance)
        if not push.any():
            break
        places = places + np.sum(push[:, :, None] * way, axis=1)
    return places
