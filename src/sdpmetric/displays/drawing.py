"""Colours, axes and legends that all displays share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._support.optional import check_installed
from .._support.text import visible

# Okabe and Ito's colours: colour-blind readers can distinguish them, and so can readers in print.
BLUE, ORANGE, RED, GREY = "#0072B2", "#E69F00", "#D55E00", "0.45"
_CLASSES = (BLUE, ORANGE, "#009E73", "#CC79A7", "#56B4E9", RED, "#8C6D31", "0.25", "#D6C800", "0.6")

# For text that comes from data: a name such as "$\\frac{$" is no formula, nor TeX's.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}


def literal(text: object) -> str:
    """A name from the data as it can be drawn; goes with `LITERAL`."""
    return visible(str(text))  # no font has a picture of a control character


def new_axes(ax: Any = None, size: tuple[float, float] = (6.0, 4.0)) -> Any:
    """Return the given axes, or new ones of this size in inches."""
    check_installed("matplotlib", "A plot")
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def panels(ax: Any, n: int, size: tuple[float, float]) -> list[Any]:
    """Return ``n`` axes side by side: new ones, those of a sequence, or insets of a single one."""
    if isinstance(ax, (list, tuple, np.ndarray)):
        given = list(np.ravel(ax))
        if len(given) != n:
            raise ValueError(f"ax must be one axes or a sequence of {n}, got {len(given)} axes.")
        return given
    whole = new_axes(ax, size)
    if ax is None:
        figure = whole.figure
        whole.remove()
        return list(figure.subplots(1, n))
    whole.set_axis_off()
    width = 1.0 / n  # of which 0.07 are left free for the labels of the next axes
    return [whole.inset_axes((i * width + 0.05, 0.0, width - 0.07, 1.0)) for i in range(n)]


def legend_above(ax: Any, lines: list[Any]) -> None:
    """Draw the legend above the axes, where it covers no data."""
    labels = [line.get_label() for line in lines]
    above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncol": 2}
    ax.legend(lines, labels, frameon=False, fontsize=9, **above)


def class_colours(n: int) -> list[str]:
    """A colour for each of n classes; there are ten, which repeat."""
    return [_CLASSES[i % len(_CLASSES)] for i in range(n)]
