"""Names beside points, as many as find room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._support.text import shorten
from .._support.typing import Floats
from .drawing import LITERAL, literal

_LETTERS = 18  # of a name: a longer one would take the room of several
_SIZE = 7.0  # points
# Of a letter and of a line, as a share of the font's size.
_WIDE, _HIGH = 0.62, 1.25
_INCHES = 3.2  # a panel of the map, without the room that matplotlib leaves around points
_EDGE, _DOT = 0.012, 0.006  # from a point to its name, and half a point, as shares of the panel


def write_names(ax: Any, points: Floats, names: Sequence[str]) -> list[int]:
    """Write the names that cover no point and no other name; returns the rows that have one.

    Points far from the middle come first: there is room beside them, and they are what a reader
    asks about.
    """
    low, span = points.min(axis=0), np.maximum(np.ptp(points, axis=0), np.finfo(float).tiny)
    places = (points - low) / span
    unit = _SIZE / 72.0 / _INCHES
    taken = [(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in places.tolist()]
    written = []
    for row in np.argsort(-np.linalg.norm(places - 0.5, axis=1), kind="stable"):
        name = shorten(literal(names[row]), _LETTERS)
        (x, y), wide, high = places[row].tolist(), _WIDE * unit * len(name), _HIGH * unit
        # To the right of the point, unless the name would leave the panel.
        side = 1.0 if x + _EDGE + wide < 1.05 else -1.0
        left = x + _EDGE if side > 0.0 else x - _EDGE - wide
        box = left, y - 0.5 * high, left + wide, y + 0.5 * high
        if any(_overlap(box, other) for other in taken):
            continue
        taken.append(box)
        written.append(int(row))
        at = points[row] + [side * _EDGE * span[0], 0.0]
        align = {"va": "center", "ha": "left" if side > 0.0 else "right"}
        ax.text(*at, name, fontsize=_SIZE, color="0.2", **align, **LITERAL)
    return written


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
