"""Errors of Dask arrays: each names the argument, and the chunk if one chunk is the reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdpmetric import SDPMetric, TripletSDPMetric
from sdpmetric.engines.dask_arrays import FailedChunkError
from tests.support.clusters import local_cluster
from tests.support.problems import random_triplets

da: Any = pytest.importorskip("dask.array")

N = 90
X = np.random.default_rng(0).normal(size=(N, 4))
Y = np.arange(N) % 3
T = random_triplets(np.random.default_rng(1), N, 300)
W = np.ones(300)


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's cores do not matter: two threads are two parts."""
    monkeypatch.setattr("sdpmetric.engines.threads.allowed_threads", lambda: 2)


def chunked(array: Any, rows: Any) -> Any:
    return da.from_array(array, chunks=(rows, *array.shape[1:]))


def broken_block(block: Any, block_info: Any = None) -> Any:
    if block_info[0]["chunk-location"][0] == 1:
        raise OSError("the disk is gone")
    return block


def broken(array: Any, rows: Any) -> Any:
    """A Dask array whose chunk 1 cannot be computed."""
    whole = chunked(array, rows)
    return whole.map_blocks(broken_block, dtype=array.dtype, meta=np.empty((0,) * array.ndim))


def of_unknown_sizes(array: Any) -> Any:
    """The same array, which no longer knows the lengths of its chunks."""
    unknown = array.copy()
    unknown._chunks = ((np.nan,) * len(array.chunks[0]), *array.chunks[1:])
    return unknown


def fit_labels(rows: Any, y: Any) -> None:
    SDPMetric().fit(rows, y)


def fit_comparisons(triplets: Any, weights: Any = None) -> None:
    TripletSDPMetric(coordinates="raw").fit(chunked(X, 25), triplets, weights)


FAILED: dict[str, tuple[Any, str]] = {
    "X": (lambda: fit_labels(broken(X, 25), Y), r"X: chunk 1 \(rows 25 to 49\)"),
    "X of unknown sizes": (
        lambda: fit_labels(of_unknown_sizes(broken(X, 25)), Y),
        r"X: chunk 1",
    ),
    "y": (
        lambda: fit_labels(chunked(X, 25), broken(Y, 25)),
        r"y: chunk 1 \(rows 25 to 49\)",
    ),
    "y in other chunks": (
        lambda: fit_labels(chunked(X, 30), broken(Y, 25)),
        r"y \(rechunked like X\): chunk 0 \(rows 0 to 29\)",
    ),
    "y of unknown sizes": (
        lambda: fit_labels(chunked(X, 25), of_unknown_sizes(broken(Y, 25))),
        r"y: chunk 1",
    ),
    "triplets": (
        lambda: fit_comparisons(broken(T, 100)),
        r"triplets: chunk 1 \(rows 100 to 199\)",
    ),
    "sample_weight": (
        lambda: fit_comparisons(chunked(T, 100), broken(W, 100)),
        r"sample_weight: chunk 1 \(rows 100 to 199\)",
    ),
}


@pytest.mark.parametrize("name", FAILED)
def test_a_chunk_that_cannot_be_computed_is_named(name: str) -> None:
    fit, message = FAILED[name]
    with pytest.raises(FailedChunkError, match=f"^{message} cannot be computed. OSError: the disk"):
        fit()


def with_nan_in_chunk_three(block: Any, block_info: Any = None) -> Any:
    return block * np.nan if block_info[0]["chunk-location"][0] == 3 else block


def test_a_chunk_keeps_its_number_if_others_are_empty() -> None:
    rows = da.from_array(X, chunks=((0, 25, 0, 65), 4))
    bad = rows.map_blocks(with_nan_in_chunk_three, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match=r"^X, chunk 3 \(rows 25 to 89\), contains NaN"):
        fit_labels(bad, Y)


def with_label(label: Any, kind: Any = object) -> Any:
    y = Y.astype(kind)
    y[57] = label
    return y


LABELS: dict[str, tuple[Any, str]] = {
    "NaN": (with_label(np.nan, float), "holds nan in row 57, expected a label"),
    "NaN in objects": (with_label(np.nan), "holds nan in row 57, expected a label"),
    "None": (with_label(None), "holds None in row 57, expected a label"),
    "a word": (with_label("a"), "holds 2 and 'a', expected labels all of a kind"),
}


@pytest.mark.parametrize("name", LABELS)
def test_bad_labels_are_named_with_their_chunk(name: str) -> None:
    y, message = LABELS[name]
    with pytest.raises(ValueError, match=rf"^y: chunk 2 \(rows 50 to 74\) {message}"):
        fit_labels(chunked(X, 25), chunked(y, 25))
    with pytest.raises(ValueError, match=rf"^y \(rows 50 to 74\) {message}"):
        fit_labels(chunked(X, 25), y)


@pytest.mark.slow
def test_errors_on_a_cluster_name_the_chunk_too() -> None:
    with local_cluster():
        for name in FAILED:
            test_a_chunk_that_cannot_be_computed_is_named(name)
        for name in LABELS:
            test_bad_labels_are_named_with_their_chunk(name)
        test_weights_that_are_zero_everywhere()


def words_in_chunk_one(block: Any, block_info: Any = None) -> Any:
    return block.astype(str) if block_info[0]["chunk-location"] == (1,) else block


def test_chunks_of_words_and_of_numbers_are_no_classes() -> None:
    """NumPy would join both as words."""
    y = chunked(Y, 45).map_blocks(words_in_chunk_one, dtype=object, meta=np.empty(0, dtype=object))
    with pytest.raises(ValueError, match=r"chunk 0 \(.*\) holds 0 and y: chunk 1 \(.*\) holds '0'"):
        fit_labels(chunked(X, 45), y)


def shorter(block: Any) -> Any:
    return block[1:]


def test_chunks_that_are_shorter_than_they_say() -> None:
    y = chunked(Y, 45).map_blocks(shorter, dtype=int, chunks=(45,))
    with pytest.raises(ValueError, match=r"y: chunk 0 \(.*\) has shape \(44,\), expected \(45,\)"):
        fit_labels(chunked(X, 45), y)
    triplets = chunked(T, 100).map_blocks(shorter, dtype=int, chunks=(100, 3))
    with pytest.raises(ValueError, match=r"triplets, chunk 0, has 99 rows, expected 100"):
        fit_comparisons(triplets)


def test_weights_that_are_zero_everywhere() -> None:
    message = "sample_weight is zero everywhere, expected at least one positive weight"
    for weights in (chunked(0.0 * W, 100), 0.0 * W):
        with pytest.raises(ValueError, match=message):
            fit_comparisons(chunked(T, 100), weights)


def test_weights_of_another_length_or_in_other_chunks() -> None:
    triplets, short = chunked(T, 100), chunked(W[:-1], 100)
    message = "sample_weight must have one weight per comparison, 300, got 299"
    for given in (triplets, of_unknown_sizes(triplets)):
        for weights in (short, of_unknown_sizes(short)):
            with pytest.raises(ValueError, match=message):
                fit_comparisons(given, weights)
    with pytest.raises(ValueError, match="lengths 150, 150, expected those of triplets, 100, 100"):
        fit_comparisons(triplets, of_unknown_sizes(chunked(W, 150)))
    with pytest.raises(ValueError, match=r"sample_weight must have 1 dimension\(s\), got shape"):
        fit_comparisons(triplets, chunked(T, 100))


def test_weights_of_known_sizes_are_rechunked() -> None:
    weights = np.random.default_rng(2).random(300)
    expected = TripletSDPMetric(coordinates="raw").fit(X, T, weights)
    found = TripletSDPMetric(coordinates="raw").fit(
        chunked(X, 25), of_unknown_sizes(chunked(T, 100)), chunked(weights, 70)
    )
    assert max(found.objective_, expected.objective_) <= min(
        found.upper_bound_, expected.upper_bound_
    )


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0])
def test_a_bad_weight_is_named(weight: float) -> None:
    weights = W.copy()
    weights[107] = weight
    message = rf"sample_weight, chunk 1, holds {weight} at entry 7, expected a finite number"
    with pytest.raises(ValueError, match=message):
        fit_comparisons(chunked(T, 100), chunked(weights, 100))
