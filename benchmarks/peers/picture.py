"""Fit time against test error, one panel for each data set, from results/peers.json alone."""

from __future__ import annotations

from math import ceil
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmarks.common import save_picture
from benchmarks.peers.rivals import OURS, RIVALS
from benchmarks.peers.summary import Cell, cells, euclidean

COLUMNS = 4
GREY = "0.45"


def draw(content: dict[str, Any]) -> None:
    table = cells(content)
    if not table:
        return
    rows = ceil(len(table) / COLUMNS)
    figure, axes = plt.subplots(
        rows, COLUMNS, figsize=(13, 2.9 * rows + 1.2), squeeze=False, layout="constrained"
    )
    for ax in axes.flat[len(table) :]:
        ax.set_visible(False)
    for ax, name in zip(axes.flat, table, strict=False):
        panel(ax, table[name], euclidean(content, name).mean)
        size = content["data"][name]
        ax.set_title(f"{name}  ({size['rows']:,} x {size['columns']})", fontsize=10)
    figure.supxlabel("CPU seconds a fit", fontsize=10)
    figure.supylabel("3-NN test error, %", fontsize=10)
    figure.legend(handles=handles(), loc="outside upper center", ncols=5, frameon=False)
    save_picture(figure, "peers")
    plt.close(figure)


def handles() -> list[Line2D]:
    look: dict[str, Any] = {"linestyle": "", "markersize": 8}
    entries = [
        Line2D([], [], color=r.colour, marker=r.marker, label=name, **look)
        for name, r in RIVALS.items()
    ]
    entries.append(Line2D([], [], color=GREY, linestyle="--", label="Euclidean"))
    hollow: dict[str, Any] = {"markerfacecolor": "none", "color": GREY}
    entries.append(Line2D([], [], marker="o", label="stopped at its time limit", **hollow, **look))
    return entries


def panel(ax: Axes, rivals: dict[str, Cell], plain: float) -> None:
    ax.axhline(plain, color=GREY, linestyle="--", linewidth=1)
    stopped = 0
    for name, cell in rivals.items():
        rival = RIVALS[name]
        style: dict[str, Any] = {"color": rival.colour, "marker": rival.marker, "linestyle": ""}
        size = 14 if name == OURS else 8
        if cell.seconds is None:
            continue
        if cell.error is not None:
            ax.plot(cell.seconds, cell.error, markersize=size, zorder=3, **style)
        else:
            # No map, so no error: a row of hollow marks along the top, clear of each other.
            height = 0.94 - 0.09 * stopped
            stopped += 1
            where = ax.get_xaxis_transform()
            hollow: dict[str, Any] = {"markerfacecolor": "none", "transform": where}
            ax.plot(cell.seconds, height, markersize=size, **hollow, **style)
    failed = [name for name, cell in rivals.items() if cell.seconds is None]
    if failed:
        text = "failed: " + ", ".join(failed)
        ax.text(0.02, 0.02, text, transform=ax.transAxes, fontsize=7, color=GREY)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(numticks=6))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    # Of less than two decades matplotlib labels the minor ticks, too, one over the other.
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.margins(x=0.1, y=0.15)
    ax.grid(alpha=0.25)
    ax.tick_params(labelsize=8)
