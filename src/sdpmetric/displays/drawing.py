"""What the pictures share: colours, and axes to draw on."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

__all__ = ["BLUE", "GREY", "ORANGE", "RED", "class_colours", "legend_above", "new_axes", "panels"]

# Okabe and Ito's: told apart by colour-blind readers, and in print.
BLUE, ORANGE, RED, GREY = "#0072B2", "#E69F00", "#D55E00", "0.45"
_CLASSES = (BLUE, ORANGE, "#009E73", "#CC79A7", "#56B4E9", RED, "#8C6D31", "0.25", "#D6C800", "0.6")


def new_axes(ax: Any = None, size: tuple[float, float] = (6.0, 4.0)) -> Any:
    """The axes that were given, or new ones."""
    if find_spec("matplotlib") is None:
        raise ImportError("plots need matplotlib: pip install 'sdpmetric[plot]'.")
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def panels(ax: Any, n: int, size: tuple[float, float]) -> list[Any]:
    """``n`` axes side by side: new ones, those of a sequence, or made inside a single one."""
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
    width = 1.0 / n
    return [whole.inset_axes((i * width + 0.05, 0.0, width - 0.07, 1.0)) for i in range(n)]


def legend_above(ax: Any, lines: list[Any]) -> None:
    """A legend over the axes, where it hides nothing."""
    labels = [line.get_label() for line in lines]
    above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncol": 2}
    ax.legend(lines, labels, frameon=False, fontsize=9, **above)


def class_colours(n: int) -> list[str]:
    """A colour for each of n classes; beyond ten they come again."""
    return [_CLASSES[i % len(_CLASSES)] for i in range(n)]
