"""Rows on a plane, by Euclidean distance and by the metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.decomposition import PCA

from .._support.text import shorten
from .._support.typing import Dense, Floats
from ..learning.fitted import fitted
from ..linalg.items import Items
from .drawing import BLUE, LITERAL, class_colours, literal, panels
from .point_names import write_names

_NAMED = 20  # classes up to which their names are written into the map
_LETTERS = 28  # of a name: a longer one would cover the map
_NAMES = ("Euclidean", "learned metric")


class MapDisplay:
    """The two principal components of rows, as they are and as the metric maps them.

    Parameters
    ----------
    before, after : (n, 2) places of the rows, by Euclidean distance and by the metric
    shares : shares of the variance along the two directions, before and after
    y : (n,) labels, or None
    names : (n,) names of the rows, or None; those that find room are written beside their points

    Attributes
    ----------
    ax_, figure_ : the two matplotlib axes and their figure; set by `plot`

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
        self,
        before: Floats,
        after: Floats,
        shares: tuple[Floats, Floats],
        y: Dense | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.before, self.after, self.shares, self.y = before, after, shares, y
        self.names = names

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, *, names: Any = None) -> Self:
        """Compute the principal components of rows before and after the metric maps them.

        Parameters
        ----------
        estimator : a fitted metric, a search, or a pipeline that holds one
        X : (n, D) rows, of the fit or others
        y : (n,) labels to colour the rows by
        names : (n,) names of the rows, for example of songs
        """
        parts = fitted(estimator)
        rows = parts.given(X)
        if rows.shape[0] < 2:
            raise ValueError("X has a single row, expected at least two rows.")
        labels = None if y is None else np.asarray(y)
        if labels is not None and labels.shape != (rows.shape[0],):
            raise ValueError(
                f"y must have one label per row of X, shape ({rows.shape[0]},), got shape "
                f"{labels.shape}."
            )
        called = None if names is None else [str(name) for name in names]
        if called is not None and len(called) != rows.shape[0]:
            raise ValueError(
                f"names must have one name per row of X, {rows.shape[0]}, got {len(called)}."
            )
        # The plane has no units: variances of extreme entries would over- or underflow.
        before, share = _plane(rows.rescaled()[0])
        after, share_after = _plane(parts.mapped(rows).rescaled()[0])
        return cls(before, after, (share, share_after), labels, called)

    def plot(self, ax: Any = None) -> Self:
        """Draw side by side: on two given axes, inside a single one, or on new ones.

        Returns the display itself.
        """
        axes = panels(ax, 2, (8.0, 4.2))
        for one, points, share, name in zip(
            axes, (self.before, self.after), self.shares, _NAMES, strict=True
        ):
            _scatter(one, points, self.y)
            if self.names is not None:
                write_names(one, points, self.names)
            one.set_title(name, fontsize=11)
            one.set(xticks=[], yticks=[])
            one.set_xlabel(f"{share[0]:.0%} of the variance", fontsize=9)
            one.set_ylabel(f"{share[1]:.0%} of the variance", fontsize=9)
        self.ax_, self.figure_ = axes, axes[0].figure
        return self


def _plane(rows: Items) -> tuple[Floats, Floats]:
    places, shares = np.zeros((rows.shape[0], 2)), np.zeros(2)
    if _all_equal(
        rows
    ):  # no variance but that of rounding, and ARPACK would refuse a matrix of zeros
        return places, shares
    k = min(2, *rows.shape)
    # ARPACK centres sparse rows without making them dense, but needs more rows than components.
    solver = "arpack" if rows.sparse and min(rows.shape) > k else "auto"
    given = rows.raw if solver == "arpack" else rows.rows(slice(None))
    pca = PCA(k, svd_solver=solver, random_state=0)
    places[:, :k] = pca.fit_transform(given)
    shares[:k] = pca.explained_variance_ratio_
    return places, shares


def _all_equal(rows: Items) -> bool:
    low, high = rows.raw.min(axis=0), rows.raw.max(axis=0)
    return not (abs(high - low).sum() if rows.sparse else np.any(high != low))


def _scatter(ax: Any, points: Floats, y: Dense | None) -> None:
    size = float(np.clip(4000.0 / len(points), 4.0, 25.0))  # the inked area stays about the same
    if y is None:
        ax.scatter(*points.T, s=size, color=BLUE, linewidths=0, alpha=0.8)
        return
    classes, codes = np.unique(y, return_inverse=True)
    colours = np.array(class_colours(len(classes)))
    # One call for all classes: drawn class by class, the last class would hide the others.
    ax.scatter(*points.T, s=size, c=colours[codes], linewidths=0, alpha=0.8)
    if len(classes) > _NAMED:
        return
    middles = np.stack([np.median(points[codes == code], axis=0) for code in range(len(classes))])
    # A letter is about 0.45 as wide as it is high: long names need more room sideways.
    names = [shorten(literal(label), _LETTERS) for label in classes]
    wide = max(1.0, 0.45 * max(map(len, names)))
    span = np.maximum(np.ptp(points, axis=0), np.finfo(float).tiny) * [wide, 1.0]
    for name, place, colour in zip(names, _apart(middles / span) * span, colours, strict=True):
        box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": colour}
        ax.text(*place, name, ha="center", va="center", fontsize=11, bbox=box, **LITERAL)


def _apart(places: Floats, least: float = 0.075) -> Floats:
    """Push names apart, little by little, until none is nearer than ``least`` to another."""
    places = places + np.arange(len(places))[:, None] * 1e-9  # a direction for those that coincide
    for _ in range(100):  # twenty names settle in far fewer rounds
        way = places[:, None] - places
        distance = np.linalg.norm(way, axis=2) + np.eye(len(places))
        push = np.maximum(least - distance, 0.0) / (2.0 * distance)
        if not push.any():
            break
        places = places + np.sum(push[:, :, None] * way, axis=1)
    return places
