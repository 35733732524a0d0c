"""Pictures and their nearest pictures, before and after."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from .._typing import Dense, Ints, Items
from ..inputs import as_items
from ..ranking import Ranking
from ..relevance import Relevance, by_labels
from ..validation import check_integer
from .drawing import RED, new_axes
from .fitted import fitted

__all__ = ["Nearest", "NeighborsDisplay"]

_GAP = 0.4  # between query, before and after, in widths of a picture
_PAD = 0.14  # between pictures
_HEAD = 0.9  # room for two lines of text


class Nearest(NamedTuple):
    """What is nearest to n queries.

    ``rows`` (n, k) of the gallery, nearest first; their ``pictures`` (n, k, h, w) or
    (n, k, h, w, 3); ``wrong`` (n, k) is True where the label is another, None without labels.
    """

    rows: Ints
    pictures: Dense
    wrong: Dense | None


class NeighborsDisplay:
    """A grid: a query in each line, its nearest by Euclidean distance, its nearest by the metric.

    Parameters
    ----------
    rows : (n,) rows of the queries
    queries : (n, h, w) or (n, h, w, 3) pictures of them
    before, after : `Nearest` by Euclidean distance and by the metric

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sdpmetric import SDPMetric
    >>> from sdpmetric.displays import NeighborsDisplay
    >>> X, y = load_digits(n_class=4, return_X_y=True)
    >>> metric = SDPMetric().fit(X[200:], y[200:])
    >>> parts = X[:200], y[:200], X[200:], y[200:]
    >>> display = NeighborsDisplay.from_estimator(metric, *parts, shape=(8, 8))
    >>> display.queries.shape, display.after.rows.shape
    ((6, 8, 8), (6, 5))
    """

    def __init__(self, rows: Ints, queries: Dense, before: Nearest, after: Nearest) -> None:
        self.rows, self.queries, self.before, self.after = rows, queries, before, after

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        Q: Any,
        y_q: Any = None,
        G: Any = None,
        y_g: Any = None,
        *,
        shape: tuple[int, ...],
        queries: Any = 6,
        n_neighbors: int = 5,
    ) -> Self:
        """The nearest rows of a gallery.

        Parameters
        ----------
        estimator : a fitted metric, a search, or a pipeline that holds one
        Q : (n, D) rows that are pictures, best ones that the fit has not seen
        y_q : (n,) labels; what has another is drawn in a frame
        G, y_g : gallery, and its labels. None: the rows of Q search each other
        shape : (h, w) or (h, w, 3) of a row as a picture
        queries : how many, evenly spread over Q, or a list of rows
        n_neighbors : pictures for each of the two distances
        """
        parts = fitted(estimator)
        asked, stored = as_items(Q, "Q"), None if G is None else as_items(G, "G")
        gallery = asked if stored is None else stored
        _check_shape(shape, asked.shape[1])
        k = check_integer("n_neighbors", n_neighbors, 1, gallery.shape[0] - (G is None))
        rows = _rows(queries, asked.shape[0])
        if y_g is not None and (y_q is None or G is None):
            raise ValueError("y_g is given, expected G, which it labels, and y_q as well.")
        if y_q is not None and G is not None and y_g is None:
            raise ValueError("y_q and G are given but y_g is None, expected labels of G.")
        right = None
        if y_q is not None:
            right = by_labels(y_q, y_g, asked.shape[0], gallery.shape[0])
        given = parts.given(Q), None if G is None else parts.given(G)
        mapped = [None if X is None else parts.mapped(X) for X in given]
        found = []
        for ranking in (Ranking(*given), Ranking(*mapped)):
            nearest, wrong = _search(ranking, rows, k, right)
            pictures = _pictures(gallery, nearest.ravel(), shape)
            found.append(Nearest(nearest, pictures.reshape(*nearest.shape, *shape), wrong))
        return cls(rows, _pictures(asked, rows, shape), *found)

    def plot(self, ax: Any = None, *, cmap: str = "gray") -> Self:
        """Draw on given axes, or new ones; `figure_` and `ax_` are kept."""
        n, k = self.before.rows.shape
        tall = self.queries.shape[1] / self.queries.shape[2]
        width = (2 * k + 1) * (1.0 + _PAD) + 2 * _GAP
        size = 0.62
        ax = new_axes(ax, (size * width, size * (n * (tall + _PAD) + _HEAD) + 0.1))
        shown = self.queries, self.before.pictures, self.after.pictures
        low, high = min(p.min() for p in shown), max(p.max() for p in shown)

        def draw(picture: Dense, left: float, line: int, wrong: bool) -> None:
            from matplotlib.patches import Rectangle

            top = -line * (tall + _PAD)
            place = (left, left + 1.0, top - tall, top)
            level = (picture - low) / max(high - low, np.finfo(float).tiny)
            ax.imshow(level, cmap=cmap, vmin=0.0, vmax=1.0, extent=place)
            if wrong:
                frame: dict[str, Any] = {"fill": False, "edgecolor": RED, "linewidth": 2.5}
                ax.add_patch(Rectangle((left, top - tall), 1.0, tall, **frame))

        for line in range(n):
            draw(self.queries[line], 0.0, line, False)
        ax.text(0.5, _PAD, "query", ha="center", va="bottom")
        left = 1.0 + _PAD + _GAP
        for name, side in {"Euclidean": self.before, "learned metric": self.after}.items():
            for line, rank in np.ndindex(n, k):
                wrong = side.wrong is not None and bool(side.wrong[line, rank])
                draw(side.pictures[line, rank], left + rank * (1.0 + _PAD), line, wrong)
            count = "" if side.wrong is None else f"\n{side.wrong.sum()} of {n * k} wrong"
            ax.text(left + 0.5 * k * (1.0 + _PAD), _PAD, name + count, ha="center", va="bottom")
            left += k * (1.0 + _PAD) + _GAP
        ax.set(xlim=(-_PAD, left - _GAP), ylim=(-n * (tall + _PAD), _HEAD), aspect="equal")
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _search(
    ranking: Ranking, rows: Ints, k: int, right: Relevance | None
) -> tuple[Ints, Dense | None]:
    """The k nearest of each row, and which of them are wrong."""
    nearest = np.empty((len(rows), k), dtype=np.int64)
    wrong = None if right is None else np.empty(nearest.shape, dtype=bool)
    for line, row in enumerate(rows):
        one = slice(int(row), int(row) + 1)
        nearest[line] = ranking.order(one)[0, :k]
        if right is not None and wrong is not None:
            wrong[line] = ~right(one)[0, nearest[line]]
    return nearest, wrong


def _pictures(X: Items, rows: Ints, shape: tuple[int, ...]) -> Dense:
    some = X[rows]
    dense: Dense = np.asarray(some.toarray() if sp.issparse(some) else some, dtype=np.float64)
    return dense.reshape(len(rows), *shape)


def _check_shape(shape: Any, n_features: int) -> None:
    known = isinstance(shape, tuple) and (len(shape) == 2 or (len(shape) == 3 and shape[2] == 3))
    if not known or int(np.prod(shape)) != n_features:
        raise ValueError(
            f"shape must be (h, w) or (h, w, 3) with {n_features} entries in all, got {shape!r}."
        )


def _rows(queries: Any, n: int) -> Ints:
    if np.ndim(queries) == 0:
        count = check_integer("queries", queries, 1, n)
        return np.linspace(0, n - 1, count).astype(np.int64)
    rows = np.asarray(queries)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(rows) == 0:
        raise ValueError(f"queries must be a number or a list of rows of Q, got {queries!r}.")
    if rows.min() < 0 or rows.max() >= n:
        raise ValueError(f"queries must be rows of Q, 0 to {n - 1}, got {queries!r}.")
    return rows.astype(np.int64)
