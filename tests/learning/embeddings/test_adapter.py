"""Adapters for embeddings: a gain where there is one, the base where there is none, and no leak."""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold

from sdpmetric import (
    AdapterReport,
    EmbeddingAdapter,
    TripletSDPMetric,
    export,
    load,
    retrieval_scores,
)
from sdpmetric.learning.embeddings.corpus import Vectors
from sdpmetric.learning.embeddings.folds import kept_apart, query_folds
from sdpmetric.learning.embeddings.negatives import Hardness, comparisons
from sdpmetric.learning.embeddings.pairs import read_pairs
from sdpmetric.linalg.items import Items, items_of
from tests.support.lanes import some

SMALL: dict[str, Any] = {"Cs": [3.0], "prior_weight": 0.5, "skip": 0, "n_rounds": 1, "cv": 2}
SMALL |= {"n_negatives": 5, "n_resamples": 200, "tol": 1e-3}
# The adapter's own defaults where they are not those of the metric; rows stay as they are.
LIKE_THE_ADAPTER: dict[str, Any] = {
    **{"h": 0.02, "coordinates": "raw", "prior": "identity", "prior_weight": 0.5}
}


def planted(n: int = 240, seed: int = 0) -> tuple[Any, Any]:
    """Eight rows of each topic; half of the columns tell of it, the others of style."""
    rng = np.random.default_rng(seed)
    topic = np.arange(n) % (n // 8)
    told = 2.0 * rng.normal(size=(n // 8, 6))[topic] + 0.4 * rng.normal(size=(n, 6))
    X = np.hstack([told, 4.0 * rng.normal(size=(n, 6))]).astype(np.float32)
    return X, np.stack([np.arange(n // 2), np.arange(n // 2, n)], axis=1)


def random_pairs(n: int, m: int, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(n)[:m], rng.permutation(n)[:m]], axis=1)


@pytest.fixture(scope="module")
def fitted() -> tuple[Any, Any, EmbeddingAdapter]:
    X, pairs = planted()
    return X, pairs, EmbeddingAdapter(Cs=[3.0], cv=3, n_resamples=1000).fit(X, pairs)


def test_style_is_unlearned(fitted: Any) -> None:
    _, _, adapter = fitted
    for name in ("recall@10", "mrr", "ndcg@10"):
        change = adapter.report_[name]
        assert change.difference.low > 0.1
        expected = change.after.mean - change.before.mean
        assert change.difference.mean == pytest.approx(expected)
    weight = np.diag(adapter.get_mahalanobis_matrix())
    assert weight[:6].sum() > 0.9
    assert adapter.converged_
    assert adapter.best_params_["prior_weight"] < 1.0
    assert adapter.report_.n_queries == 24  # a fifth of 120


@pytest.mark.parametrize("seed", some(range(3), 1))
def test_random_pairs_leave_the_base_alone(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(200, 12)).astype(np.float32)
    pairs = random_pairs(200, 80, seed)
    adapter = EmbeddingAdapter(**SMALL | {"cv": 5, "doubt": 3.0}).fit(X, pairs)
    assert adapter.best_params_["prior_weight"] == 1.0
    np.testing.assert_allclose(adapter.get_mahalanobis_matrix(), np.eye(12) / 12, atol=1e-12)
    assert adapter.report_ is not None
    for change in adapter.report_.scores.values():
        assert change.before == change.after
        assert change.difference.mean == change.difference.low == change.difference.high == 0.0


def test_doubt_keeps_the_base() -> None:
    X, pairs = planted()
    sure = EmbeddingAdapter(**SMALL).fit(X, pairs)
    doubtful = EmbeddingAdapter(**SMALL | {"doubt": 1e6}).fit(X, pairs)
    assert sure.best_params_["prior_weight"] == 0.5
    assert doubtful.best_params_["prior_weight"] == 1.0


@pytest.mark.slow
def test_report_queries_are_seen_by_nothing() -> None:
    X, pairs = planted()
    vectors = Vectors(items_of(X))
    learned, kept = kept_apart(read_pairs(pairs, vectors), vectors, 0.2, 0)
    assert kept is not None
    assert not set(learned.queries) & set(kept.queries)
    assert len(learned) + len(kept) == len(pairs)
    poisoned = pairs.copy()
    out = np.isin(pairs[:, 0], kept.queries)
    far = np.abs(X[:120][out, None] - X[None, 120:]).sum(axis=2).argmax(axis=1)
    poisoned[out, 1] = 120 + far  # the most distant row
    params = SMALL | {"Cs": [2.0, 5.0], "prior_weight": [0.5, 0.0]}
    clean, other = (EmbeddingAdapter(**params).fit(X, p) for p in (pairs, poisoned))
    assert clean.components_.tobytes() == other.components_.tobytes()
    assert clean.best_params_ == other.best_params_
    assert clean.report_ is not None
    assert other.report_ is not None
    assert other.report_["mrr"].after.mean < 0.5 * clean.report_["mrr"].after.mean
    assert clean.evaluate(X, pairs[out]) == clean.report_


def test_folds_hold_out_queries_with_their_kin() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    both = np.array([[i, i + 30] for i in range(30)] + [[i + 30, i] for i in range(30)])
    vectors = Vectors(items_of(X))
    pairs = read_pairs(both, vectors)
    seen: list[int] = []
    for train, held in query_folds(3, pairs, vectors, 0):
        assert not set(train.queries % 30) & set(held.queries % 30)
        assert len(train) + len(held) == 60
        seen += held.queries.tolist()
        for part in (train, held):  # and their positives go with them
            assert (part.positive == (part.queries[part.of_positive] + 30) % 60).all()
    assert sorted(seen) == list(range(60))
    learned, kept = kept_apart(pairs, vectors, 0.3, 1)
    assert kept is not None
    assert not set(learned.queries % 30) & set(kept.queries % 30)
    assert len(kept) == 18


def fit_mined(metric: TripletSDPMetric, items: Items, triplets: Any, weights: Any) -> None:
    metric.fit(items.raw, triplets, weights)


@pytest.mark.slow
def test_rounds_mine_under_the_metric_of_the_last() -> None:
    X, pairs = planted()
    params = SMALL | {"n_rounds": 2, "skip": 2, "guard": 0.5, "test_size": 0.0, "tol": 1e-7}
    adapter = EmbeddingAdapter(**params).fit(X, pairs)
    assert adapter.report_ is None
    vectors = Vectors(items_of(X))
    known, how = read_pairs(pairs, vectors), Hardness(5, 2, 0.5)
    metric = TripletSDPMetric(C=3.0, **LIKE_THE_ADAPTER, tol=1e-7)
    fit_mined(metric, *comparisons(vectors, known, how))
    first = metric.get_mahalanobis_matrix()
    fit_mined(metric, *comparisons(vectors, known, how, metric.components_))
    expected = metric.get_mahalanobis_matrix()
    np.testing.assert_allclose(adapter.get_mahalanobis_matrix(), expected, atol=1e-4)
    assert np.abs(expected - first).max() > 1e-3
    assert adapter.gap_ <= 1e-7


@pytest.mark.slow
def test_a_trial_fits_training_queries_and_scores_the_others() -> None:
    X, pairs = planted()
    train, held = np.arange(0, 120, 2), np.arange(1, 120, 2)
    params = SMALL | {"n_rounds": 2, "test_size": 0.0, "search_tol": 1e-7, "scoring": "mrr"}
    adapter = EmbeddingAdapter(**params | {"cv": [(train, held)]}).fit(X, pairs)
    vectors, how = Vectors(items_of(X)), Hardness(5, 0, 1.0)
    known = read_pairs(pairs[train], vectors)
    metric = TripletSDPMetric(C=3.0, **LIKE_THE_ADAPTER, tol=1e-7)
    relevant: list[Any] = [[] for _ in X]
    for query, positive in pairs[held]:
        relevant[query] = [positive]
    expected, last = [], None
    for _ in range(2):
        fit_mined(metric, *comparisons(vectors, known, how, last))
        last = metric.components_
        with pytest.warns(UserWarning, match="left out"):
            expected.append(retrieval_scores(X, relevant=relevant, k=1, metric=metric)["mrr"])
    assert abs(expected[0] - expected[1]) > 1e-3
    results = adapter.cv_results_
    [row] = np.flatnonzero(results["param_prior_weight"] == 0.5)
    assert results["split0_test_score"][row] == pytest.approx(expected[1], abs=3e-4)


@pytest.mark.slow
def test_given_negatives_alone() -> None:
    X, pairs = planted()
    rng = np.random.default_rng(0)
    negative = (pairs[:, 0] + 1 + rng.integers(28, size=len(pairs))) % 240
    table = np.column_stack([pairs, negative])
    params = SMALL | {"test_size": 0, "guard": 0.0}
    adapter = EmbeddingAdapter(**params | {"n_negatives": 0}).fit(X, table)
    metric = TripletSDPMetric(C=3.0, **LIKE_THE_ADAPTER, tol=1e-3).fit(X, table)
    np.testing.assert_allclose(adapter.components_, metric.components_, atol=1e-9)
    assert adapter.n_triplets_ == len(table)
    more = EmbeddingAdapter(**params).fit(X, table)
    assert more.n_triplets_ == 6 * len(table)


@pytest.mark.slow
def test_the_order_and_form_of_pairs_do_not_matter() -> None:
    X, pairs = planted()
    pairs = np.concatenate([pairs, np.column_stack([pairs[:, 0], (pairs[:, 0] + 30) % 240])])
    assert (pairs[:, 0] != pairs[:, 1]).all()
    ids = np.array([f"text {i}" for i in range(240)])
    frame = pd.DataFrame({"anchor": ids[pairs[:, 0]], "positive": ids[pairs[:, 1]], "note": "-"})
    mixed = np.random.default_rng(0).permutation(np.concatenate([pairs, pairs[:50]]))
    expected = EmbeddingAdapter(**SMALL).fit(X, pairs)
    forms: list[tuple[Any, dict[str, Any]]] = [
        (mixed, {}),
        ([tuple(row) for row in pairs.tolist()], {}),
        ([{"positive": b, "query": a} for a, b in pairs.tolist()], {}),
        ({"query": ids[pairs[:, 0]], "positive": ids[pairs[:, 1]]}, {"ids": ids}),
        (frame, {"ids": ids.tolist()}),
    ]
    for form, options in forms:
        found = EmbeddingAdapter(**SMALL).fit(X, form, **options)
        assert found.components_.tobytes() == expected.components_.tobytes()
        assert found.report_ == expected.report_
    assert expected.report_ is not None
    assert expected.report_.n_positives == 2 * expected.report_.n_queries == 48


@pytest.mark.slow
def test_queries_of_their_own_are_as_rows_of_the_corpus() -> None:
    """A copy of the query in the corpus is never mined; in scores it stands before all others."""
    X, pairs = planted()
    order = np.random.default_rng(0).permutation(120)
    Q, names = X[:120][order], [f"q{i}" for i in order]
    table = {"query": [f"q{i}" for i in pairs[:, 0]], "positive": pairs[:, 1]}
    params = SMALL | {"test_size": 0.0, "tol": 1e-7}
    expected = EmbeddingAdapter(**params).fit(X, pairs)
    found = EmbeddingAdapter(**params).fit(X, table, queries=Q, query_ids=names)
    assert found.best_params_ == expected.best_params_
    np.testing.assert_allclose(
        found.get_mahalanobis_matrix(), expected.get_mahalanobis_matrix(), atol=1e-4
    )
    report = found.evaluate(X, table, Q, query_ids=names)
    assert report["hit@1"].after.mean == 0.0
    alone = expected.evaluate(X[120:], {"query": pairs[:, 0], "positive": pairs[:, 1] - 120}, X)
    scores = retrieval_scores(
        X[pairs[:, 0]], G=X[120:], relevant=(pairs[:, 1:] - 120).tolist(), metric=expected
    )
    listed = ["ndcg", "hit@1", "hit@5", "hit@10", "mrr", "ndcg@10"]  # by what it chose first
    assert list(alone.scores) == listed
    assert alone["recall@5"] == alone["hit@5"]  # one positive each
    assert alone["map"] == alone["mrr"]
    whole = len(X) - 120
    scores.means["ndcg"] = retrieval_scores(
        X[pairs[:, 0]], G=X[120:], relevant=(pairs[:, 1:] - 120).tolist(), k=whole, metric=expected
    )[f"ndcg@{whole}"]
    for name, change in alone.scores.items():
        assert change.after.mean == pytest.approx(scores[name], abs=1e-12)
        assert change.after.low <= change.after.mean <= change.after.high


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_corpus_on_disk_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdpmetric.learning.embeddings.scan.ROWS", 512)
    n, D = 60_000, 64
    X = np.memmap(tmp_path / "x.f32", dtype=np.float32, mode="w+", shape=(n, D))
    X[:] = np.random.default_rng(0).standard_normal((n, D), dtype=np.float32)
    X.flush()
    stored = np.memmap(tmp_path / "x.f32", dtype=np.float32, mode="r", shape=(n, D))
    pairs = np.column_stack([np.arange(20), np.arange(100, 120)])
    params = SMALL | {"max_iter": 5, "n_negatives": 2, "n_jobs": 1}
    EmbeddingAdapter(**params).fit(X[:3000], pairs)  # compiles, and imports
    tracemalloc.start()
    try:
        EmbeddingAdapter(**params).fit(stored, pairs)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.25 * stored.nbytes


@pytest.mark.slow
def test_same_seed_same_metric_whatever_the_threads() -> None:
    X, pairs = planted()
    one, two = (EmbeddingAdapter(**SMALL, n_jobs=jobs).fit(X, pairs) for jobs in (1, 2))
    assert one.components_.tobytes() == two.components_.tobytes()
    assert one.report_ == two.report_
    other = EmbeddingAdapter(**SMALL, random_state=5).fit(X, pairs)
    assert other.report_ != one.report_


def test_report_reads_and_writes(fitted: Any) -> None:
    report = fitted[2].report_
    again = AdapterReport.from_dict(json.loads(json.dumps(report.to_dict())))
    assert again == report
    lines = str(report).splitlines()
    assert lines[0] == "24 queries, 24 known positives, 240 rows; intervals of 95 %"
    assert [line.endswith("<- chosen by") for line in lines[3:]] == [True] + 5 * [False]
    [mrr] = [line for line in lines if line.startswith("mrr")]
    change = report["mrr"]
    assert f"{change.before.mean:.3f} [{change.before.low:.3f}" in mrr
    assert f"+{change.difference.mean:.3f} [+{change.difference.low:.3f}" in mrr
    with pytest.raises(KeyError, match="'mrr@3' was not computed"):
        report["mrr@3"]


@pytest.mark.slow
def test_intervals_narrow_with_confidence(fitted: Any) -> None:
    X, pairs, adapter = fitted
    less = clone(adapter).set_params(confidence=0.5).fit(X, pairs)
    assert less.components_.tobytes() == adapter.components_.tobytes()
    wide, narrow = (a.report_["mrr"].difference for a in (adapter, less))
    assert wide.low < narrow.low < narrow.high < wide.high
    per_query = {}
    kept = kept_apart(read_pairs(pairs, Vectors(items_of(X))), Vectors(items_of(X)), 0.2, 0)[1]
    for name, metric in {"before": None, "after": adapter}.items():
        everyone = [[j] if i in kept.queries else [] for i, j in pairs] + [[]] * 120  # type: ignore[union-attr]
        with pytest.warns(UserWarning, match="left out"):
            per_query[name] = retrieval_scores(X, relevant=everyone, metric=metric).per_query["mrr"]
    gain = per_query["after"] - per_query["before"]
    spread = 1.96 * gain.std() / np.sqrt(len(gain))
    assert wide.high - wide.low == pytest.approx(2 * spread, rel=0.25)


def test_it_is_a_metric_like_the_others(fitted: Any, tmp_path: Path) -> None:
    X, _, adapter = fitted
    again = clone(adapter)
    assert again.get_params() == adapter.get_params()
    assert adapter.transform(X).dtype == np.float32
    expected = np.linalg.norm(adapter.components_ @ (X[0] - X[1]).astype(float))
    assert adapter.pairwise_distances(X[:1], X[1:2])[0, 0] == pytest.approx(expected)
    for kind in ("safetensors", "json"):
        adapter.save(tmp_path / f"a.{kind}")
        back = load(tmp_path / f"a.{kind}")
        assert back.report_ == adapter.report_
        assert back.transform(X).tobytes() == adapter.transform(X).tobytes()
        assert back.gap_ == back.best_estimator_.gap_ == adapter.gap_
    map_ = np.load(export(adapter, tmp_path / "a.npy"))
    np.testing.assert_allclose(map_, adapter.components_, rtol=1e-6)


def test_progress_and_grids() -> None:
    X, pairs = planted()
    told: list[Any] = []
    adapter = EmbeddingAdapter(
        **SMALL | {"skip": [0, 2], "guard": [0.0, 1.0], "n_rounds": (1, 2)},
        progress=lambda done, total: told.append((done, total)),
    ).fit(X, pairs)
    assert told == [(i, 4) for i in range(1, 5)]
    results = adapter.cv_results_
    tried = set(zip(*(results[f"param_{n}"] for n in ("skip", "guard", "n_rounds")), strict=True))
    assert len(tried) == 4
    assert adapter.n_splits_ == 2
    assert adapter.best_score_ == results["mean_test_score"][adapter.best_index_]
    default = EmbeddingAdapter()._grids(items_of(np.empty((240, 2))))
    assert default["skip"] == [0]
    assert EmbeddingAdapter()._grids(items_of(np.empty((3000, 2))))["skip"] == [0, 30, 100]


@pytest.mark.parametrize("scoring", ["mrr", "map", "recall@5", "ndcg"])
def test_chosen_by_a_score_of_held_out_queries(scoring: str) -> None:
    X, pairs = planted()
    params = SMALL | {"scoring": scoring, "test_size": 0.0, "doubt": 1e6}
    adapter = EmbeddingAdapter(**params, random_state=None).fit(X, pairs)
    vectors = Vectors(items_of(X))
    folds = query_folds(2, read_pairs(pairs, vectors), vectors, 0)
    name = "ndcg@239" if scoring == "ndcg" else scoring  # no other row is left
    k = int(name.partition("@")[2] or 1)
    expected = []
    for _, held in folds:
        relevant: list[Any] = [[] for _ in X]
        for query, positive in zip(held.queries, held.positive, strict=True):
            relevant[query] = [positive]
        with pytest.warns(UserWarning, match="left out"):
            expected.append(retrieval_scores(X, relevant=relevant, k=k)[name])
    assert adapter.best_score_ == pytest.approx(np.mean(expected))


@pytest.mark.slow
def test_a_splitter_of_queries_and_an_unbounded_loss() -> None:
    X, pairs = planted()
    params = SMALL | {"cv": KFold(3), "loss": "squared_hinge", "Cs": 2}
    adapter = EmbeddingAdapter(**params).fit(X, pairs)
    assert adapter.n_splits_ == 3
    assert adapter.best_params_["C"] in (0.3, 300.0)
    default = EmbeddingAdapter(**SMALL | {"Cs": 2, "max_iter": 9, "tol": 0.5}).fit(X, pairs)
    assert sorted(set(default.cv_results_["param_C"])) == pytest.approx([2.0, 5.0])


X, PAIRS = planted()
HOLE = X.copy()
HOLE[7, 3] = np.nan
BAD: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "unknown id": (
        {},
        {"pairs": {"query": ["a"], "positive": ["z"]}, "ids": [f"{i}" for i in range(240)]},
        "query: 1 of 1 ids are unknown: 'a'; expected some of the 240 in ids",
    ),
    "ids": ({}, {"ids": [1, 2]}, "ids has 2 entries, expected one per row of X, 240"),
    "query_ids": ({}, {"query_ids": [1]}, "query_ids is given but queries is None"),
    "query_ids short": (
        {},
        {"queries": X[:9], "query_ids": [1]},
        "query_ids has 1 entries, expected one per row of queries, 9",
    ),
    "column": ({}, {"pairs": {"query": [0]}}, "pairs has the columns 'query'; expected 'query'"),
    "ragged": ({}, {"pairs": [(0, 1), (2,)]}, "pairs: row 1 has 1 entries, expected 2"),
    "no table": ({}, {"pairs": 3}, "pairs is 3, expected named columns"),
    "narrow": ({}, {"pairs": np.zeros((3, 1), int)}, "pairs has rows of one entry"),
    "row": ({}, {"pairs": [(0, 240)]}, "positive: row 0 is 240, expected a row of X, 0 to 239"),
    "query row": (
        {},
        {"pairs": [(9, 1)], "queries": X[:9]},
        "query: row 0 is 9, expected a row of queries, 0 to 8",
    ),
    "itself": ({}, {"pairs": [(0, 1), (2, 2)]}, "pairs: row 1 is 2, 2; expected a positive other"),
    "negative itself": (
        {},
        {"pairs": [(0, 1, 0)]},
        "pairs: row 0 is 0, 1, 0; expected a negative other than the query",
    ),
    "negative positive": (
        {},
        {"pairs": [(0, 1, 2), (0, 3, 1)]},
        "pairs: row 1 is 0, 3, 1; expected a negative that is no positive of it",
    ),
    "empty": ({}, {"pairs": np.empty((0, 2), int)}, "pairs holds no answer, expected at least one"),
    "folds": ({}, {"pairs": PAIRS[:4]}, "cv is 5 and 2 different queries are there to learn from"),
    "one query": ({}, {"pairs": PAIRS[:1]}, "pairs has 1 queries, expected more: with test_size"),
    "splits": (
        {"cv": [([], [0, 1])]},
        {},
        "cv: split 0 has 0 training and 2 held-out queries; expected some of both",
    ),
    "splits beyond": ({"cv": [([0], [999])]}, {}, "cv: split 0 must be two arrays of row numbers"),
    "D": ({}, {"queries": X[:, :5]}, "queries has 5 columns, expected those of X, 12"),
    "NaN": ({}, {"X": HOLE}, "X contains NaN, first at row 7, column 3"),
    "NaN query": ({}, {"queries": HOLE}, "queries contains NaN, first at row 7, column 3"),
    "sparse": ({}, {"X": sp.csr_array(X)}, "X is sparse, expected a dense array"),
    "sparse queries": ({}, {"queries": sp.csr_array(X)}, "queries is sparse, expected a dense"),
    "same rows": ({}, {"X": np.ones((240, 12))}, "X: all 240 rows are identical"),
    "n_negatives": ({"n_negatives": 0}, {}, "n_negatives has 0 but pairs has no column of neg"),
    "negative number": ({"n_negatives": -1}, {}, "n_negatives must be an integer of at least 0"),
    "skip": ({"skip": [0, 1.5]}, {}, "skip must be an integer of at least 0, got 1.5"),
    "skip all": ({"skip": 250}, {}, "skip is 250 and guard is 1: no row of X is left"),
    "guard": ({"guard": -0.1}, {}, "guard must be a number at least 0 and at most"),
    "guard squared": ({"guard": 1e200}, {}, "guard must be a number at least 0 and at most"),
    "rank": ({"scoring": "hit@241"}, {}, "scoring must look at a rank of at most 240"),
    "n_rounds": ({"n_rounds": 0}, {}, "n_rounds must be an integer of at least 1"),
    "test_size": ({"test_size": 1.0}, {}, "test_size must be a number at least 0 and at most"),
    "scoring": ({"scoring": "auc"}, {}, "scoring must be 'ndcg', 'map', 'mrr', or 'precision@k'"),
    "confidence": ({"confidence": 1.0}, {}, "confidence must be less than 1"),
    "prior_weight": ({"prior_weight": 1.0}, {}, "prior_weight must have a value below 1"),
}


@pytest.mark.parametrize(("params", "data", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(
    params: dict[str, Any], data: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if message[:4] != "skip":  # before any work
        monkeypatch.setattr(EmbeddingAdapter, "_choose", None)
    given = {"X": X, "pairs": PAIRS} | data
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        EmbeddingAdapter(**params).fit(**given)
    assert "\n" not in str(caught.value)


def test_evaluate_needs_two_queries(fitted: Any) -> None:
    with pytest.raises(ValueError, match="pairs has 1 query, expected at least two"):
        fitted[2].evaluate(X, [(0, 1)])


@pytest.mark.slow
def test_report_lists_recall_where_queries_have_several_positives() -> None:
    X, pairs = planted()
    more = np.vstack([pairs, np.column_stack([pairs[:, 0], np.roll(pairs[:, 1], 1)])])
    report = EmbeddingAdapter(**SMALL | {"scoring": "hit@5"}).fit(X, more).report_
    assert report is not None
    assert next(iter(report.scores)) == report.scoring == "hit@5"
    assert report["recall@5"].after.mean < report["hit@5"].after.mean
