"""Names from data are drawn as they are: neither formulas, nor TeX, nor control characters."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import pytest

from sdpmetric.displays import FeaturesDisplay, MapDisplay, PathDisplay

matplotlib: Any = pytest.importorskip("matplotlib")
plt: Any = pytest.importorskip("matplotlib.pyplot")

NAMES = ["$\\frac{$", "$x$", "\\alpha_{", "100 %", "_hidden", "\x1b[2J", "two\nlines", "\ud800"]
SHOWN = [*NAMES[:5], "\\x1b[2J", "two\\nlines", "\\ud800"]
ONES = np.ones(len(NAMES)) / len(NAMES)


def drawn(display: Any) -> Any:
    """The display, after all of it was drawn; any warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display.plot()
        display.figure_.savefig(io.BytesIO(), format="png")
    plt.close(display.figure_)
    return display


def test_names_of_features() -> None:
    ax = drawn(FeaturesDisplay(NAMES, ONES, ONES, in_deviations=False)).ax_
    assert [label.get_text() for label in ax.get_yticklabels()] == SHOWN


def test_names_are_no_tex() -> None:
    """Not drawn here: the texts of our own would need TeX, which may not be installed."""
    with matplotlib.rc_context({"text.usetex": True}):
        display = FeaturesDisplay(NAMES, ONES, ONES, in_deviations=False).plot()
        assert not any(label.get_usetex() for label in display.ax_.get_yticklabels())
        plt.close(display.figure_)


def test_names_of_classes() -> None:
    places = np.random.default_rng(0).normal(size=(len(NAMES), 2))
    shares = np.array([0.6, 0.4])
    display = drawn(MapDisplay(places, places, (shares, shares), np.array(NAMES, dtype=object)))
    found = {text.get_text() for ax in display.ax_ for text in ax.texts}
    assert found == set(SHOWN)


def test_coordinates_of_a_path() -> None:
    """Of a search that was interrupted before the prior was tried: no line is drawn for it."""
    C = np.array([1.0, 10.0])
    display = drawn(PathDisplay(C, C, C, C, C, None, None, "$\\frac{$"))
    assert display.ax_.get_xlabel() == "C (coordinates: $\\frac{$)"
    assert "the prior alone" not in {line.get_label() for line in display.ax_.get_lines()}
