"""Damaged sparse matrices are refused before compiled code reads them, whatever the way in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sdpmetric
from sdpmetric import (
    Responses,
    SDPMetric,
    SDPMetricCV,
    TripletSDPMetric,
    knn_triplets,
    retrieval_scores,
    solve,
    suggest_triplets,
)
from sdpmetric.deployment import augment_rows
from sdpmetric.displays import FeaturesDisplay, MapDisplay, MarginsDisplay, NeighborsDisplay
from sdpmetric.linalg.items import as_csr, as_items
from sdpmetric.linalg.sparse_format import check_sparse

DENSE = np.where(np.arange(48).reshape(12, 4) % 3 == 0, 0.0, np.arange(48.0).reshape(12, 4))
LABELS = np.arange(12) % 2
TRIPLETS = np.array([[0, 2, 1], [1, 3, 2], [4, 6, 5]])
FORMATS = ("csr", "csc", "bsr", "coo", "dia", "lil", "dok")
HUGE = 2**40

Damage = Callable[[Any], None]


def setting(**arrays: Callable[[Any], Any]) -> Damage:
    """Replace arrays of a matrix behind its back, as a file or another library can."""

    def damage(X: Any) -> None:
        for name, change in arrays.items():
            setattr(X, name, change(getattr(X, name)))

    return damage


def put(place: int, value: int) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        changed = array.astype(np.int64)
        changed[place] = value
        return changed

    return change


def longer_list(X: Any) -> None:
    X.data[3] = [*X.data[3], 1.0, 2.0]


def wrong_column(X: Any) -> None:
    X.rows[3] = [0, HUGE, 2][: len(X.rows[3])]


def wrong_key(X: Any) -> None:
    X._dict[0, 99] = 1.0


COMPRESSED: dict[str, Damage] = {
    "beyond": setting(indices=put(5, 99)),
    "far beyond": setting(indices=put(5, HUGE)),
    "negative": setting(indices=put(5, -1)),
    "descends": setting(indptr=put(2, 0)),
    "does not start at zero": setting(indptr=put(0, 1)),
    "ends beyond": setting(indptr=put(-1, HUGE)),
    "few bounds": setting(indptr=lambda a: a[:-1]),
    "many bounds": setting(indptr=lambda a: np.append(a, a[-1])),
    "few indices": setting(indices=lambda a: a[:-1]),
    "few data": setting(data=lambda a: a[:-1]),
    "texts": setting(data=lambda a: a.astype(str)),
    "objects": setting(data=lambda a: a.astype(object)),
    "complex": setting(data=lambda a: a.astype(complex)),
    "other byte order": setting(data=lambda a: a.astype(a.dtype.newbyteorder())),
    "indices of floats": setting(indices=lambda a: a.astype(float)),
    "indices of two dimensions": setting(indices=lambda a: a[None]),
    "a list for indices": setting(indices=lambda a: a.tolist()),
    "None for indptr": setting(indptr=lambda a: None),
}
DAMAGED: dict[str, dict[str, Damage]] = {
    "csr": COMPRESSED,
    "csc": COMPRESSED,
    "bsr": COMPRESSED | {"flat blocks": setting(data=lambda a: a[:, 0])},
    "coo": {
        "row beyond": setting(row=put(3, 99)),
        "column beyond": setting(col=put(3, 2**31 - 1)),
        "negative": setting(row=put(3, -1)),
        "few rows": setting(coords=lambda a: (a[0][:-1], a[1])),
        "three coordinates": setting(coords=lambda a: (*a, a[0])),
        "few data": setting(data=lambda a: a[:-1]),
        "complex": setting(data=lambda a: a.astype(complex)),
    },
    "dia": {
        "far beyond": setting(offsets=put(0, HUGE)),
        "least integer": setting(offsets=put(0, -(2**63))),
        "twice": setting(offsets=lambda a: np.full_like(a, a[0])),
        "few offsets": setting(offsets=lambda a: a[:-1]),
        "flat": setting(data=lambda a: a[0]),
    },
    "lil": {
        "more entries than columns": longer_list,
        "wrong column": wrong_column,
        "few rows": setting(rows=lambda a: a[:-1]),
        "numbers for lists": setting(rows=lambda a: np.arange(len(a))),
    },
    "dok": {"wrong key": wrong_key},
}


def cases() -> Iterator[Any]:
    for format_, damages in DAMAGED.items():
        for name, damage in damages.items():
            yield pytest.param(format_, damage, id=f"{format_} {name}")


@pytest.mark.parametrize(("format_", "damage"), list(cases()))
def test_damaged_matrices_are_refused(format_: str, damage: Damage) -> None:
    X = sp.csr_array(DENSE).asformat(format_)
    damage(X)
    with pytest.raises(ValueError, match=r"^X (is a damaged sparse|cannot be converted|must hold)"):
        as_csr(X)


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_whole_matrices_pass_and_stay_as_they_are(format_: str, kind: str) -> None:
    X = getattr(sp, f"{format_}_{kind}")(DENSE)
    np.testing.assert_array_equal(as_items(X).rows(slice(None)), DENSE)
    np.testing.assert_array_equal(X.toarray(), DENSE)
    assert X.format == format_


def test_empty_matrices_pass() -> None:
    for format_ in FORMATS:
        check_sparse(sp.csr_array((5, 3)).asformat(format_))


def test_room_for_more_entries_counts_for_nothing() -> None:
    """SciPy keeps room behind the last bound; what lies there is no entry."""
    X = sp.csr_array(DENSE)
    X.indices = np.append(X.indices, [99, -5]).astype(np.int32)
    X.data = np.append(X.data, [np.nan, 1e300])
    items = as_items(X, scan=True)
    np.testing.assert_array_equal(items.extremes[1], DENSE.max(axis=0))
    np.testing.assert_allclose(items.mean(), DENSE.mean(axis=0))


def test_shapes_other_than_tables() -> None:
    for shape in ((48,), (4, 4, 3)):
        with pytest.raises(ValueError, match=r"X must be a table of rows and columns"):
            as_items(sp.coo_array(DENSE.reshape(shape)))


def test_every_public_function_refuses_a_damaged_matrix() -> None:
    """`transform` wrote memory of others to its output; `fit` ended in a segmentation fault."""
    metric = SDPMetric(tol=1e-2).fit(DENSE, LABELS)
    search = SDPMetricCV(Cs=[2.0], cv=2, coordinates="raw", n_rounds=1).fit(DENSE, LABELS)
    whole = sp.csr_array(DENSE)
    X = whole.copy()
    X.indices[5] = 1_000_000
    answers = Responses(TRIPLETS)
    ways: list[Callable[[], Any]] = [
        lambda: SDPMetric().fit(X, LABELS),
        lambda: TripletSDPMetric().fit(X, TRIPLETS),
        lambda: SDPMetricCV().fit(X, LABELS),
        lambda: sdpmetric.TripletSDPMetricCV().fit(X, TRIPLETS),
        lambda: sdpmetric.EmbeddingAdapter().fit(X, [(0, 1)]),
        lambda: solve(X, TRIPLETS),
        lambda: knn_triplets(X, LABELS),
        lambda: metric.transform(X),
        lambda: search.transform(X),
        lambda: metric.pairwise_distances(X),
        lambda: metric.pairwise_distances(whole, X),
        lambda: metric.triplet_accuracy(X, TRIPLETS),
        lambda: retrieval_scores(X, LABELS),
        lambda: retrieval_scores(whole, LABELS, X, LABELS),
        lambda: retrieval_scores(X, LABELS, metric=metric),
        lambda: suggest_triplets(X, None, 2),
        lambda: suggest_triplets(X, metric, 2),
        lambda: sdpmetric.accuracy_interval(X, answers, metric),
        lambda: sdpmetric.sign_flip_test(X, answers, metric),
        lambda: augment_rows(metric, X),
        lambda: MapDisplay.from_estimator(metric, X),
        lambda: MarginsDisplay.from_estimator(metric, X, LABELS),
        lambda: FeaturesDisplay.from_estimator(metric, X),
        lambda: NeighborsDisplay.from_estimator(metric, X, shape=(2, 2)),
    ]
    for way in ways:
        with pytest.raises(ValueError, match=r"damaged sparse matrix|is sparse, expected a dense"):
            way()
    assert not hasattr(SDPMetric(), "components_")


def test_vectors_and_pairs_are_dense() -> None:
    metric = SDPMetric(tol=1e-2).fit(DENSE, LABELS)
    with pytest.raises(ValueError, match=r"pairs must be a dense array of numbers, got csr_array"):
        metric.pair_distance(sp.csr_array(DENSE))
    with pytest.raises(ValueError, match=r"u must be a dense array of numbers, got csr_array"):
        metric.get_metric()(sp.csr_array(DENSE[:1]), DENSE[0])
