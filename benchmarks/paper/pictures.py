"""The three figures: the losses, time against dimension, retrieval."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.common import results_folder
from benchmarks.paper.judge import TOP
from benchmarks.paper.methods import METHODS
from benchmarks.paper.summary import BEST, Summary
from sdpmetric.problem.losses import Huber, SquaredHinge

# Okabe and Ito's colours, which all eyes can tell apart; a marker each as well.
LOOKS = {
    "euclidean": ("#000000", "o", "--"),
    BEST: ("#0072B2", "s", "-"),
    "s": ("#009E73", "^", "-"),
    "h": ("#D55E00", "v", "-"),
    "cv": ("#CC79A7", "*", "-"),
    "cv-all": ("#E69F00", "D", "-"),
    "cv-short": ("#CC79A7", "*", ":"),
}


def panel(width: float = 6.0, height: float = 3.8) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    ax = figure.subplots()
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    return figure, ax


def losses(path: Path) -> Path:
    figure, ax = panel()
    t = np.linspace(-1.5, 1.0, 501)
    ax.plot(t, np.maximum(0.0, -t), color="#000000", ls="--", label="hinge")
    ax.plot(t, SquaredHinge().value(t), color="#009E73", label="squared hinge (S)")
    ax.plot(t, Huber(0.5).value(t), color="#D55E00", label="Huber, h = 0.5 (H)")
    ax.set_xlabel("margin of a comparison less rho")
    ax.set_ylabel("loss")
    ax.legend(frameon=False)
    figure.savefig(path, dpi=130)
    return path


def dimension(path: Path) -> Path | None:
    """From the results of `make bench-sdp`; nothing is solved again."""
    source = results_folder() / "sdp.json"
    if not source.exists():
        return None
    runs = [r for r in json.loads(source.read_text())["runs"] if r["loss"] == "huber"]
    looks = {
        "ours": ("sdpmetric, gap 1e-6", "#D55E00", "v"),
        "CLARABEL": ("CVXPY with Clarabel", "#0072B2", "s"),
        "SCS": ("CVXPY with SCS", "#009E73", "D"),
    }
    figure, ax = panel()
    for solver, (label, colour, marker) in looks.items():
        line = sorted(
            (r["D"], r["seconds"])
            for r in runs
            if r["solver"] == solver and r["seconds"] and r["D"] <= 100 and r["tol"] in (None, 1e-6)
        )
        ax.plot(*zip(*line, strict=True), color=colour, marker=marker, label=label)
    ax.set_yscale("log")
    ax.set_xticks(range(20, 101, 20))
    ax.set_xlabel("dimension")
    ax.set_ylabel("seconds, one thread")
    ax.legend(frameon=False)
    figure.savefig(path, dpi=130)
    return path


def retrieval(summary: Summary, path: Path) -> Path | None:
    """Mean over the test subsets, with the standard error of that mean as a band."""
    if "faces" not in summary.rows:
        return None
    figure, ax = panel(height=4.2)
    top = np.arange(1, TOP + 1)
    for method, (colour, marker, style) in LOOKS.items():
        curves = np.array([c["retrieval"] for c in summary.scores["faces", method].ok])
        if not len(curves):
            continue
        middle = 100.0 * curves.mean(axis=0)
        look: dict[str, Any] = {"color": colour, "marker": marker, "ls": style, "markersize": 5}
        ax.plot(top, middle, label=label(summary, method), **look)
        if len(curves) > 1:
            band = 100.0 * curves.std(axis=0, ddof=1) / np.sqrt(len(curves))
            ax.fill_between(top, middle - band, middle + band, color=colour, alpha=0.12, lw=0)
    ax.set_xticks([1, 5, 10, 15, 20])
    ax.set_xlabel("images retrieved")
    ax.set_ylabel("share of faces among them, %")
    ax.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
    return path


def label(summary: Summary, method: str) -> str:
    if method == BEST:
        return f"LMNN ({METHODS[summary.scores['faces', BEST].ok[0]['method']].name})"
    return METHODS[method].name
