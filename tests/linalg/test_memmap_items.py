"""Memory maps: what is made from them may be in a file, too, and is the same as in memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdpmetric import SDPMetric, TripletSDPMetric
from sdpmetric.linalg import scratch_rows as scratch
from sdpmetric.linalg.dense_items import DenseItems
from sdpmetric.linalg.items import Items, items_of
from sdpmetric.linalg.memmap_items import MemmapItems, is_mapped
from tests.support.problems import labelled, random_triplets

MADE: dict[str, Callable[[Items], Items]] = {
    "take": lambda items: items.take(np.array([7, 0, 0, 3])),
    "columns": lambda items: items.columns(np.array([True, False, True])),
    "multiplied": lambda items: items.multiplied(np.array([1.0, 2.0, 0.5])),
    "centred": lambda items: items.centred(np.array([1.0, 0.0, 3.0])),
    "twice": lambda items: items.take(np.arange(9)).centred(np.ones(3)),
}


def mapped(folder: Path, X: Any) -> Any:
    np.save(folder / "rows.npy", X)
    return np.load(folder / "rows.npy", mmap_mode="r")


@pytest.mark.parametrize("in_memory", [0, 1 << 30])
@pytest.mark.parametrize("how", MADE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_made_in_a_file_or_in_memory(
    how: str, dtype: type, in_memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MemmapItems, "in_memory", in_memory)
    monkeypatch.setattr("sdpmetric.linalg.blocks.CONVERTED_BYTES", 48)
    X: Any = np.random.default_rng(0).normal(size=(20, 3)).astype(dtype)
    expected = MADE[how](DenseItems(X))
    found = MADE[how](items_of(mapped(tmp_path, X)))
    assert is_mapped(found.raw) == (in_memory == 0)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(found.raw, expected.raw)
    assert os.listdir(tmp_path) == ["rows.npy"]  # the file has no name, so nothing is left


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_edges", [3, 400])
def test_distances_are_measured_range_by_range(
    order: Any, n_edges: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MemmapItems, "near_bytes", 7 * 3 * 8)
    monkeypatch.setattr("sdpmetric.linalg.memmap_items._RANDOM_READ", 100)
    reads: list[slice] = []
    read = MemmapItems._read

    def counted(items: MemmapItems, rows: slice) -> None:
        reads.append(rows)
        read(items, rows)

    monkeypatch.setattr(MemmapItems, "_read", counted)
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(30, 3)), order=order)
    a, b = rng.integers(0, 30, (2, n_edges))
    expected = DenseItems(X).squared_differences(a, b)
    items = items_of(mapped(tmp_path, X))
    np.testing.assert_array_equal(items.squared_differences(a, b), expected)
    twice = items.squared_differences(a, b, expected.copy())
    np.testing.assert_array_equal(twice, 2.0 * expected)
    # Five ranges have 15 pairs of ranges, five of them of a range with itself; three edges alone
    # are not worth reading all rows for.
    assert len(reads) == (2 * (2 * 10 + 5) if n_edges == 400 else 0)


def test_the_file_is_beside_the_map_if_we_may_write_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = mapped(tmp_path, np.ones((3, 2)))
    assert scratch.folder_of(X[1:]) == str(tmp_path)
    assert scratch.folder_of(np.ones(3)) is None
    made = scratch.scratch_rows((3, 2), X.dtype, [X], None)
    assert scratch.folder_of(made) is None
    monkeypatch.setattr(os, "access", lambda folder, mode: False)
    assert scratch.folder_of(X) is None


def test_a_full_disk_is_an_error_and_no_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full:
        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def write(self, data: object) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Full())
    monkeypatch.setattr(MemmapItems, "in_memory", 0)
    with pytest.raises(OSError, match="No space left on device"):
        items_of(mapped(tmp_path, np.ones((3, 2)))).take(np.array([1]))


@pytest.mark.parametrize("coordinates", ["raw", "standard", "within"])
def test_a_fit_to_a_map_is_that_to_rows_in_memory(
    coordinates: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a constant column and one far from zero, for which the rows are changed."""
    monkeypatch.setattr(MemmapItems, "in_memory", 0)
    X, y = labelled(np.random.default_rng(1), 60, 4)
    X = np.hstack([X, np.full((60, 1), 7.0), 1000.0 + X[:, :1]])
    expected = SDPMetric(coordinates=coordinates).fit(X, y)
    found = SDPMetric(coordinates=coordinates).fit(mapped(tmp_path, X), y)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-6)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)


def test_only_the_rows_that_comparisons_name_are_read_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MemmapItems, "in_memory", 0)
    X = np.random.default_rng(2).normal(size=(4000, 3)).astype(np.float32)
    T = random_triplets(np.random.default_rng(3), 900, 300) * 4
    sizes: set[int] = set()
    times = MemmapItems.times

    def noting(self: MemmapItems, *given: Any, **how: Any) -> Any:
        sizes.add(len(self))
        return times(self, *given, **how)

    monkeypatch.setattr(MemmapItems, "times", noting)
    monkeypatch.setattr("sdpmetric.problem.units.LIGHT", 0)
    expected = TripletSDPMetric(coordinates="raw").fit(X, T)
    found = TripletSDPMetric(coordinates="raw").fit(mapped(tmp_path, X), T)
    assert sizes == {len(np.unique(T))}
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-4)


def test_whitening_says_how_much_memory_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sdpmetric._support.memory._LITTLE", 0)
    monkeypatch.setattr("sdpmetric._support.memory.available_memory", lambda: (1e3, "a test"))
    X, y = labelled(np.random.default_rng(1), 60, 4)
    with pytest.raises(MemoryError, match="coordinates='within': the differences of near rows"):
        SDPMetric(coordinates="within").fit(X, y)
