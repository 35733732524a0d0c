"""Pictures beside the rows: of one size or of many, and hints for other arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdpmetric import SDPMetric
from sdpmetric.displays import NeighborsDisplay
from sdpmetric.displays.pictures import pictures_of
from sdpmetric.linalg.items import as_items

SIZES = [(4, 4), (2, 8), (8, 2, 3), (4, 4, 3), (5, 4)]


@pytest.fixture
def images() -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, size) for size in SIZES]


def test_pictures_of_many_sizes_are_drawn_as_they_are(images: list[Any]) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X = np.random.default_rng(1).normal(size=(5, 3))
    metric = SDPMetric(n_neighbors=2, n_impostors=2, tol=1e-2)
    metric.fit(np.vstack([X, X + 0.1]), [0, 1, 0, 1, 0] * 2)
    display = NeighborsDisplay.from_estimator(metric, X, images=images).plot()
    assert [picture.shape for picture in display.queries] == SIZES
    after = display.after
    for place in np.ndindex(after.rows.shape):
        np.testing.assert_array_equal(after.pictures[place], images[after.rows[place]])
    high = max(one.max() for one in images)
    low = min(one.min() for one in images)
    for size, one, image in zip(SIZES, images, display.ax_.images[:5], strict=True):
        np.testing.assert_allclose(low + (high - low) * image.get_array(), one)
        left, right, bottom, top = image.get_extent()
        assert (top - bottom) / (right - left) == pytest.approx(size[0] / size[1])
        assert 0.0 <= left < right <= 1.0  # within its cell
    matplotlib.pyplot.close("all")


def find(images: Any, n: int = 5) -> Any:
    return pictures_of(as_items(np.zeros((n, 3)), "X"), images, None, "images")


def test_a_list_of_one_size_is_an_array() -> None:
    assert find([np.zeros((2, 2))] * 5)(np.array([0, 3])).shape == (2, 2, 2)


def test_an_array_of_objects_is_a_list(images: list[Any]) -> None:
    given = np.empty(5, dtype=object)
    given[:] = images
    assert find(given)(np.array([[4], [2]]))[1, 0].shape == (8, 2, 3)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.zeros((5, 8, 8, 4)), r"got \(5, 8, 8, 4\): leave the opacity out by \[\.\.\., :3\]"),
        (np.zeros((5, 3, 8, 8)), r"got \(5, 3, 8, 8\): move the channels to the end by np.moveaxi"),
        (np.zeros((5, 8, 8, 1)), r"got \(5, 8, 8, 1\): leave the axis of one channel out"),
        (np.zeros((5, 8)), r"images must have shape \(5, h, w\) .* got \(5, 8\)\."),
        ([np.zeros((2, 2)), np.zeros((3, 3))], r"images has 2 pictures, expected one for each of"),
        ([np.zeros((2, 2))] * 4 + [np.zeros((3, 3, 4))], r"images\[4\] .* leave the opacity out"),
        ([np.zeros((2, 2))] * 4 + [np.zeros((3, 5, 6))], r"images\[4\] .* move the channels"),
        ([np.zeros((2, 2))] * 4 + [[[1, 2], [3]]], r"images\[4\] .* rows of different lengths"),
        ([np.zeros((2, 2))] * 4 + [np.full((3, 3), np.nan)], r"images\[4\] must hold finite"),
        ([None] * 5, r"images\[0\] must have shape \(h, w\) or \(h, w, 3\), got \(\)"),
    ],
)
def test_other_arrays_are_refused_with_a_hint(given: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        find(given)
