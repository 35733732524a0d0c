"""Pictures and their nearest pictures, by Euclidean distance and by the metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from .._support.checks import check_integer
from .._support.typing import Dense, Ints
from ..evaluation.ranking import Ranking
from ..evaluation.relevance import Relevance, by_labels
from ..learning.fitted import fitted
from ..linalg.items import as_items
from ..linalg.scaling import power_of_two
from .drawing import RED, new_axes
from .pictures import Pictures, pictures_of

_GAP = 0.4  # between query, before and after, in widths of a picture
_PAD = 0.14  # between pictures
_HEAD = 0.9  # room for two lines of text
_INCHES = 0.62  # width of a picture
_QUERIES, _NEIGHBORS = 6, 5  # more make the pictures small


class Nearest(NamedTuple):
    """The k nearest gallery rows of n queries.

    Attributes
    ----------
    rows : (n, k) rows of the gallery, nearest first
    pictures : (n, k, h, w) or (n, k, h, w, 3); (n, k) objects if sizes differ
    wrong : (n, k) whether the label differs from the query's; None without labels
    """

    rows: Ints
    pictures: Pictures
    wrong: Dense | None


class NeighborsDisplay:
    """A grid with a query per line: its nearest by Euclidean distance and by the metric.

    Parameters
    ----------
    rows : (n,) rows of the queries
    queries : (n, h, w) or (n, h, w, 3) pictures of the queries; (n,) objects if sizes differ
    before, after : `Nearest` by Euclidean distance and by the metric

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure; set by `plot`

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

    def __init__(self, rows: Ints, queries: Pictures, before: Nearest, after: Nearest) -> None:
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
        shape: tuple[int, ...] | None = None,
        images: Any = None,
        gallery_images: Any = None,
        queries: Any = None,
        n_neighbors: int | None = None,
    ) -> Self:
        """Find the nearest gallery rows of some queries.

        Parameters
        ----------
        estimator : a fitted metric, a search, or a pipeline that holds one
        Q : (n, D) rows, pictures or vectors of them; best rows that the fit has not seen
        y_q : (n,) labels; neighbours of another label are drawn in a frame
        G, y_g : gallery, and its labels. None: the rows of Q search each other
        shape : (h, w) or (h, w, 3), the shape of a row as a picture
        images : instead of ``shape``, the pictures of the rows of Q: (n, h, w) or (n, h, w, 3),
            or a list of n pictures of any sizes. For rows that are no pictures, such as embeddings
        gallery_images : the pictures of the rows of G, if there is a G
        queries : number of queries, evenly spread over Q, or a list of rows of Q. None: six, or
            as many as Q has
        n_neighbors : number of neighbours for each of the two distances. None: five, or as many
            as there are
        """
        parts = fitted(estimator)
        query_items = as_items(Q, "Q")
        gallery = query_items if G is None else as_items(G, "G")
        shown = pictures_of(query_items, images, shape, "images")
        found_shown = shown
        if G is not None:
            found_shown = pictures_of(gallery, gallery_images, shape, "gallery_images")
        elif gallery_images is not None:
            raise ValueError("gallery_images is given but G is None, expected the rows it shows.")
        k = _count(n_neighbors, gallery.shape[0] - (G is None))
        rows = _rows(queries, query_items.shape[0])
        if y_g is not None and (y_q is None or G is None):
            raise ValueError("y_g is given, expected G, which it labels, and y_q as well.")
        if y_q is not None and G is not None and y_g is None:
            raise ValueError("y_q and G are given but y_g is None, expected labels of G.")
        right = None
        if y_q is not None:
            right = by_labels(y_q, y_g, query_items.shape[0], gallery.shape[0])
        given = [parts.given(X) for X in (Q, G) if X is not None]
        mapped = [parts.mapped(X) for X in given]
        found = []
        for ranking in (Ranking(*given), Ranking(*mapped)):
            nearest, wrong = _search(ranking, rows, k, right)
            found.append(Nearest(nearest, found_shown(nearest), wrong))
        return cls(rows, shown(rows), *found)

    def plot(self, ax: Any = None, *, cmap: str = "gray") -> Self:
        """Draw on the given matplotlib axes, or on new ones; ``cmap`` for pictures without colour.

        Returns the display itself.
        """
        n, k = self.before.rows.shape
        sizes = [picture.shape[:2] for picture in self._shown()]
        tall = float(np.median([height / width for height, width in sizes]))
        width = (2 * k + 1) * (1.0 + _PAD) + 2 * _GAP
        height = n * (tall + _PAD) + _HEAD
        ax = new_axes(ax, (_INCHES * width, _INCHES * height + 0.1))
        # One grey scale for all pictures, or equal pictures would look different.
        low, high = min(p.min() for p in self._shown()), max(p.max() for p in self._shown())
        unit = power_of_two(max(abs(low), abs(high)))  # high - low may overflow
        low, high = unit * low, unit * high

        def column(pictures: Pictures, left: float, wrong: Any) -> None:
            for line in range(n):
                level = (unit * pictures[line] - low) / max(high - low, np.finfo(float).tiny)
                corner = (left, -line * (tall + _PAD) - tall)
                _draw(ax, level, corner, tall, cmap, framed=wrong is not None and wrong[line])

        column(self.queries, 0.0, None)
        ax.text(0.5, _PAD, "query", ha="center", va="bottom")
        left = 1.0 + _PAD + _GAP
        for name, side in {"Euclidean": self.before, "learned metric": self.after}.items():
            for rank in range(k):
                wrong = None if side.wrong is None else side.wrong[:, rank]
                column(side.pictures[:, rank], left + rank * (1.0 + _PAD), wrong)
            count = "" if side.wrong is None else f"\n{side.wrong.sum()} of {n * k} wrong"
            ax.text(left + 0.5 * k * (1.0 + _PAD), _PAD, name + count, ha="center", va="bottom")
            left += k * (1.0 + _PAD) + _GAP
        ax.set(xlim=(-_PAD, left - _GAP), ylim=(_HEAD - height, _HEAD), aspect="equal")
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _shown(self) -> Iterator[Dense]:
        """All pictures of the grid, one by one."""
        yield from self.queries
        for side in (self.before, self.after):
            for line in side.pictures:
                yield from line


def _draw(
    ax: Any, level: Dense, corner: tuple[float, float], tall: float, cmap: str, *, framed: bool
) -> None:
    """Draw a picture into the middle of a cell of width one, its lower left corner at a place."""
    from matplotlib.patches import Rectangle

    left, bottom = corner
    own = level.shape[0] / level.shape[1]
    # Half of the room that a picture of another shape leaves free, at its sides or above and below.
    side, above = 0.5 * max(0.0, 1.0 - tall / own), 0.5 * max(0.0, tall - own)
    place = (left + side, left + 1.0 - side, bottom + above, bottom + tall - above)
    ax.imshow(level, cmap=cmap, vmin=0.0, vmax=1.0, extent=place)
    if framed:
        ax.add_patch(Rectangle(corner, 1.0, tall, fill=False, edgecolor=RED, linewidth=2.5))


def _search(
    ranking: Ranking, rows: Ints, k: int, right: Relevance | None
) -> tuple[Ints, Dense | None]:
    """The k nearest of each row, and which of them have another label."""
    nearest = np.empty((len(rows), k), dtype=np.int64)
    wrong = None if right is None else np.empty(nearest.shape, dtype=bool)
    for line, row in enumerate(rows):
        # One query at a time: they are few, and the ranking wants consecutive rows.
        one = slice(int(row), int(row) + 1)
        nearest[line] = ranking.nearest(one, k)[0]
        if right is not None and wrong is not None:
            wrong[line] = ~right(one)[0, nearest[line]]
    return nearest, wrong


def _count(n_neighbors: Any, most: int) -> int:
    if most < 1:
        raise ValueError("Q has a single row and G is None, expected another row to find.")
    given = min(_NEIGHBORS, most) if n_neighbors is None else n_neighbors
    return check_integer("n_neighbors", given, 1, most)


def _rows(queries: Any, n: int) -> Ints:
    if queries is None:
        queries = min(_QUERIES, n)
    if np.ndim(queries) == 0:
        count = check_integer("queries", queries, 1, n)
        return np.linspace(0, n - 1, count).astype(np.int64)
    rows = np.asarray(queries)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(rows) == 0:
        raise ValueError(f"queries must be a number or a list of rows of Q, got {queries!r}.")
    if rows.min() < 0 or rows.max() >= n:
        raise ValueError(f"queries must be rows of Q, 0 to {n - 1}, got {queries!r}.")
    return rows.astype(np.int64)
