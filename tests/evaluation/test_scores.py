"""Retrieval scores: by hand, against scikit-learn, and whatever the blocks."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, ndcg_score, top_k_accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sdpmetric import RetrievalScores, SDPMetric, retrieval_scorer, retrieval_scores
from sdpmetric.evaluation import ranking
from sdpmetric.linalg import distances as distances_to_all
from sdpmetric.linalg.blocks import slices
from sdpmetric.linalg.items import as_items
from tests.support.problems import Floats, Ints

LINE = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])  # what a query at 0 finds, in order
RANKS = [1, 3, 5]


def split() -> tuple[Floats, Ints, Floats, Ints]:
    rng = np.random.default_rng(3)
    y_q, y_g = rng.integers(0, 4, 25), rng.integers(0, 4, 60)
    Q, G = rng.normal(size=(25, 6)), rng.normal(size=(60, 6))
    Q[:, :2] += y_q[:, None]
    G[:, :2] += y_g[:, None]
    return Q, y_q, G, y_g


def same(a: RetrievalScores, b: RetrievalScores) -> None:
    assert a.means.keys() == b.means.keys()
    for name, values in a.per_query.items():
        np.testing.assert_array_equal(values, b.per_query[name])


def test_by_hand() -> None:
    """Relevant at ranks 2, 3 and 5 of 5."""
    scores = retrieval_scores([[0.0]], ["a"], LINE, ["b", "a", "a", "b", "a"], k=[1, 2, 3, 5])
    gains = 1.0 / np.log2([2.0, 3.0, 4.0, 5.0, 6.0])
    expected = {
        "precision@1": 0.0,
        "precision@2": 1 / 2,
        "precision@3": 2 / 3,
        "precision@5": 3 / 5,
        "recall@1": 0.0,
        "recall@2": 1 / 3,
        "recall@3": 2 / 3,
        "recall@5": 1.0,
        "hit@1": 0.0,
        "hit@2": 1.0,
        "hit@3": 1.0,
        "hit@5": 1.0,
        "ndcg@1": 0.0,
        "ndcg@2": gains[1] / gains[:2].sum(),
        "ndcg@3": gains[[1, 2]].sum() / gains[:3].sum(),
        "ndcg@5": gains[[1, 2, 4]].sum() / gains[:3].sum(),
        "map": (1 / 2 + 2 / 3 + 3 / 5) / 3,
        "mrr": 1 / 2,
    }
    assert scores.means == pytest.approx(expected, abs=1e-15)
    assert scores["map"] == scores.means["map"]


def test_a_query_is_not_its_own_neighbour() -> None:
    """Rows at 0, 1, 3, 7 with labels a, b, a, b."""
    scores = retrieval_scores([[0.0], [1.0], [3.0], [7.0]], list("abab"), k=1)
    np.testing.assert_array_equal(scores.per_query["hit@1"], [0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(scores.per_query["mrr"], [1 / 2, 1 / 3, 1 / 2, 1 / 2])


def test_given_ids_are_what_labels_say() -> None:
    Q, y_q, G, y_g = split()
    expected = retrieval_scores(Q, y_q, G, y_g)
    lists = [np.flatnonzero(y_g == label) for label in y_q]
    same(retrieval_scores(Q, G=G, relevant=lists), expected)
    doubled = [[*ids, ids[0]] for ids in lists]
    same(retrieval_scores(Q, G=G, relevant=doubled), expected)
    alone = [[i for i in np.flatnonzero(y_q == y_q[q]) if i != q] for q in range(len(Q))]
    same(retrieval_scores(Q, relevant=alone), retrieval_scores(Q, y_q))


@pytest.mark.parametrize("alone", [False, True])
def test_against_scikit_learn(alone: bool) -> None:
    Q, y_q, G, y_g = split()
    if alone:
        scores = retrieval_scores(Q, y_q, k=RANKS)
        D, relevant = cdist(Q, Q), y_q[:, None] == y_q
        kept = ~np.eye(len(Q), dtype=bool)
        D, relevant = D[kept].reshape(25, 24), relevant[kept].reshape(25, 24)
    else:
        scores = retrieval_scores(Q, y_q, G, y_g, k=RANKS)
        D, relevant = cdist(Q, G), y_q[:, None] == y_g
    for k in RANKS:
        expected = ndcg_score(relevant.astype(float), -D, k=k)
        assert scores[f"ndcg@{k}"] == pytest.approx(expected, rel=1e-12)
    expected = [average_precision_score(r, -d) for r, d in zip(relevant, D, strict=True)]
    np.testing.assert_allclose(scores.per_query["map"], expected, rtol=1e-12)
    for q in range(len(Q)):  # the first relevant item as the true class of one sample
        first = np.flatnonzero(relevant[q])[np.argmin(D[q][relevant[q]])]
        for k in RANKS:
            labels = np.arange(D.shape[1])
            expected = top_k_accuracy_score([first], -D[[q]], k=k, labels=labels)
            assert scores.per_query[f"hit@{k}"][q] == expected


def test_precision_and_recall_are_those_of_nearest_neighbours() -> None:
    Q, y_q, G, y_g = split()
    scores = retrieval_scores(Q, y_q, G, y_g, k=RANKS)
    for k in RANKS:
        found = NearestNeighbors(n_neighbors=k).fit(G).kneighbors(Q, return_distance=False)
        expected = np.sum(y_g[found] == y_q[:, None], axis=1)
        np.testing.assert_allclose(scores.per_query[f"precision@{k}"], expected / k)
        np.testing.assert_allclose(
            scores.per_query[f"recall@{k}"], expected / np.bincount(y_g)[y_q]
        )


def test_ties_go_to_the_lower_row() -> None:
    G = np.array([[1.0], [-1.0], [1.0], [0.5]])
    for labels, expected in ((list("abbb"), 1 / 2), (list("babb"), 1 / 3), (list("bbab"), 1 / 4)):
        scores = retrieval_scores([[0.0]], ["a"], G, labels, k=1)
        assert scores["mrr"] == expected


@pytest.mark.parametrize("make", [np.asarray, np.float32, sp.csr_array])
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_ties_are_exact_on_a_grid(make: Callable[[Any], Any], shift: float) -> None:
    """Distances of integers tie everywhere, and a stable sort of the exact ones is the answer."""
    rng = np.random.default_rng(0)
    Q = rng.integers(-2, 3, (20, 7)) + shift
    G = rng.integers(-2, 3, (200, 7)) + shift
    y_q, y_g = rng.integers(0, 3, 20), rng.integers(0, 3, 200)
    squares = ((Q[:, None] - G) ** 2).sum(axis=2)
    order = np.argsort(squares, axis=1, kind="stable")
    found = y_g[order] == y_q[:, None]
    expected = 1.0 / (1 + np.argmax(found, axis=1))
    scores = retrieval_scores(make(Q), y_q, make(G), y_g, k=RANKS)
    np.testing.assert_array_equal(scores.per_query["mrr"], expected)
    np.testing.assert_allclose(scores.per_query["precision@5"], found[:, :5].mean(axis=1))


@pytest.mark.parametrize("make", [np.asarray, np.float32, sp.csr_array])
@pytest.mark.parametrize("alone", [False, True])
def test_blocks_and_threads_change_nothing(
    make: Callable[[Any], Any], alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    Q, y_q, G, y_g = split()
    G[30:] = G[:30]
    gallery = () if alone else (make(G), y_g)
    expected = retrieval_scores(make(Q), y_q, *gallery, n_jobs=1)
    for size in (1, 8 * 60 * 4, 8 * 60 * 7):
        monkeypatch.setattr(ranking, "RESULT_BYTES", size)
        for jobs in (1, 2):
            same(retrieval_scores(make(Q), y_q, *gallery, n_jobs=jobs), expected)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_units_change_nothing(unit: float) -> None:
    Q, y_q, G, y_g = split()
    same(retrieval_scores(unit * Q, y_q, unit * G, y_g), retrieval_scores(Q, y_q, G, y_g))


def test_memory_maps_and_mixed_precision(tmp_path: Any) -> None:
    Q, y_q, G, y_g = split()
    G32 = G.astype(np.float32)
    np.save(tmp_path / "G.npy", G32)
    mapped = np.load(tmp_path / "G.npy", mmap_mode="r")
    expected = retrieval_scores(Q, y_q, G32.astype(float), y_g)
    same(retrieval_scores(Q, y_q, mapped, y_g), expected)


def test_metric_maps_both_sides() -> None:
    Q, y_q, G, y_g = split()
    metric = SDPMetric().fit(G, y_g)
    expected = retrieval_scores(metric.transform(Q), y_q, metric.transform(G), y_g)
    same(retrieval_scores(Q, y_q, G, y_g, metric=metric), expected)
    same(retrieval_scores(sp.csr_array(Q), y_q, sp.csr_array(G), y_g, metric=metric), expected)


def test_queries_with_nothing_to_find_are_left_out() -> None:
    with pytest.warns(UserWarning, match=r"2 of 4 queries"):
        scores = retrieval_scores(
            [[0.0], [0.0], [9.0], [0.0]], list("xaby"), LINE, list("aabbb"), k=1
        )
    assert scores.n_left_out == 2
    np.testing.assert_array_equal(scores.queries, [1, 2])
    assert scores["hit@1"] == 1.0


@pytest.mark.parametrize("score", ["map", "mrr", "recall@5", "hit@1", "ndcg@10", "precision@2"])
def test_scorer_is_leave_one_out_within_the_fold(score: str, wine: tuple[Floats, Ints]) -> None:
    X, y = wine
    model = SDPMetric(tol=1e-2).fit(X[::2], y[::2])
    scorer = pickle.loads(pickle.dumps(retrieval_scorer(score)))
    expected = retrieval_scores(model.transform(X), y, k=[1, 2, 5, 10])[score]
    assert scorer(model, X, y) == expected


@pytest.mark.slow
def test_scorer_in_cross_validation(wine: tuple[Floats, Ints]) -> None:
    X, y = wine
    pipeline = make_pipeline(StandardScaler(), SDPMetric(tol=1e-2))
    search = GridSearchCV(
        pipeline,
        {"sdpmetric__C": [2.0, 10.0]},
        scoring={"hit": retrieval_scorer("hit@1"), "map": retrieval_scorer("map")},
        refit="map",
    ).fit(X, y)
    assert search.best_score_ > 0.8
    assert search.cv_results_["mean_test_hit"].min() > 0.9
    scored = cross_val_score(PCA(2), X, y, scoring=retrieval_scorer("map"))
    assert len(scored) == 5


@pytest.mark.parametrize("rank", ["\u0663", "\u00b3", "\uff13", "03", "0", "", "9" * 5000])
def test_hit_at_other_digits_was_a_key_error(rank: str) -> None:
    """Arabic-Indic, superscript and wide digits, a leading zero: scores have one name each."""
    with pytest.raises(ValueError, match=r"score must be .* with a number, got 'hit@"):
        retrieval_scorer(f"hit@{rank}")


def test_scorer_with_a_gallery(wine: tuple[Floats, Ints]) -> None:
    X, y = wine
    metric = SDPMetric(tol=1e-2).fit(X[::2], y[::2])
    scorer = retrieval_scorer("recall@5", G=X[::2], y_g=y[::2])
    expected = retrieval_scores(X[1::2], y[1::2], X[::2], y[::2], metric=metric)["recall@5"]
    assert scorer(metric, X[1::2], y[1::2]) == expected


BASE: dict[str, Any] = {
    "Q": [[0.0], [1.0]],
    "y_q": [0, 1],
    "G": LINE,
    "y_g": [0, 1, 0, 1, 0],
    "k": 1,
}
BY_IDS: dict[str, Any] = {"y_q": None, "y_g": None}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"Q": [[0.0], [np.nan]]}, r"Q contains NaN, first at row 1, column 0"),
        ({"G": [[np.inf]] * 5}, r"G contains infinity"),
        ({"Q": [0.0, 1.0]}, r"Q must be a table"),
        ({"G": np.zeros((5, 2))}, r"Q and G must have the same columns, got 1 and 2"),
        ({"G": sp.csr_array(LINE)}, r"both dense or both sparse"),
        ({"y_q": [0]}, r"y_q must have one label per row, shape \(2,\), got \(1,\)"),
        ({"y_g": [0, 1]}, r"y_g must have one label per row, shape \(5,\)"),
        ({"y_q": [0.0, np.nan]}, r"y_q: row 1 is nan, expected a label"),
        ({"y_q": ["0", "1"]}, r"labels of one kind"),
        ({"y_q": np.array(["0", 1], dtype=object), "y_g": np.array(list("01010"))}, "of one kind"),
        ({"y_q": [7, 8]}, r"none of the 2 queries"),
        ({"y_q": None}, r"y_q and relevant are None"),
        ({"y_g": None}, r"G is given but y_g is None"),
        ({"G": None}, r"y_g is given but G is None"),
        ({"relevant": [[0], [1]]}, r"relevant stands instead of y_q and y_g"),
        ({"Q": [[0.0]], "y_q": [0], "G": None, "y_g": None}, r"Q has a single row"),
        ({"k": 0}, r"k must be an integer of at least 1 and at most 5, got 0"),
        ({"k": [1, 6]}, r"k must be .* at most 5, got 6"),
        ({"k": 1.5}, r"k must be an integer"),
        ({"k": "all"}, r"k must be an integer"),
        ({"k": []}, r"k is empty"),
        ({"metric": LogisticRegression()}, r"metric must be None or have a transform method"),
        ({"n_jobs": 0}, r"n_jobs"),
        ({**BY_IDS, "relevant": [[0]]}, r"relevant must hold .* each of 2 queries, got 1"),
        ({**BY_IDS, "relevant": 3}, r"relevant must hold .* got 3"),
        (
            {**BY_IDS, "relevant": [[0], [5]]},
            r"query 1 has 5, expected rows of the gallery, 0 to 4",
        ),
        ({**BY_IDS, "relevant": [[-1], [0]]}, r"query 0 has -1"),
        ({**BY_IDS, "relevant": [[0.5], [0]]}, r"query 0 has \[0.5\], expected a list of integer"),
        ({**BY_IDS, "relevant": [[True], [0]]}, r"expected a list of integer"),
        ({**BY_IDS, "relevant": [0, 1]}, r"query 0 has 0, expected a list"),
        ({**BY_IDS, "relevant": [[], []]}, r"none of the 2 queries"),
        ({**BY_IDS, "G": None, "relevant": [[1], [1]]}, r"query 1 has itself"),
    ],
)
def test_bad_input(change: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        retrieval_scores(**(BASE | change))


@pytest.mark.parametrize(
    "score", ["recall", "recall@", "recall@0", "recall@x", "map@3", "cmc@1", 5, None, ""]
)
def test_unknown_score(score: Any) -> None:
    with pytest.raises(ValueError, match=r"score must be 'map', 'mrr', or 'precision@k'"):
        retrieval_scorer(score)


def test_a_score_that_was_not_asked_for() -> None:
    scores = retrieval_scores(**BASE)
    with pytest.raises(KeyError, match=r"'hit@5' was not computed; there are precision@1"):
        scores["hit@5"]


def tied(n: int, rng: np.random.Generator) -> Floats:
    """Rows on a coarse grid, so that many distances are equal."""
    return rng.integers(0, 3, size=(n, 3)).astype(float)


@pytest.mark.parametrize("make", [tied, lambda n, rng: rng.normal(size=(n, 4))])
@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("k", [1, 7])
@pytest.mark.parametrize("tile", [None, 9, 33])
def test_nearest_are_the_first_of_all(
    make: Any, alone: bool, k: int, tile: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tile is not None:
        monkeypatch.setattr(distances_to_all, "blocks", lambda n, width: slices(0, n, tile))
    rng = np.random.default_rng(4)
    Q, G = make(90, rng), make(100, rng)
    distances = cdist(Q, Q if alone else G, "sqeuclidean")
    if alone:
        np.fill_diagonal(distances, np.inf)
    expected = np.argsort(distances.round(9), axis=1, kind="stable")[:, :k]
    ranks = ranking.Ranking(as_items(Q), None if alone else as_items(G))
    found = np.vstack([ranks.nearest(block, k) for block in (slice(0, 40), slice(40, 90))])
    np.testing.assert_array_equal(found, expected)


def test_a_gallery_is_centred_once_for_many_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was centred again for every few queries, which took half of the time."""
    rng = np.random.default_rng(5)
    Q, G = rng.normal(size=(300, 2)), rng.normal(size=(50_000, 2))
    rows: list[int] = []
    centred = distances_to_all.DistancesToAll._centred

    def counted(self: Any, items: Any, part: slice) -> Floats:
        rows.append((part.stop - part.start) * (len(items) == len(G)))
        return centred(self, items, part)

    monkeypatch.setattr(distances_to_all.DistancesToAll, "_centred", counted)
    y_q, y_g = np.zeros(300), np.zeros(50_000)
    retrieval_scores(Q, y_q, G, y_g, scores="hit", k=3, n_jobs=1)
    assert sum(rows) == 2 * len(G)  # for the norms, and for all queries at once


def test_scores_at_ranks_without_sorting_the_gallery(monkeypatch: pytest.MonkeyPatch) -> None:
    Q, y_q, G, y_g = split()
    expected = retrieval_scores(Q, y_q, G, y_g, k=RANKS)
    monkeypatch.delattr(ranking.Ranking, "order")
    found = retrieval_scores(Q, y_q, G, y_g, k=RANKS, scores=["recall", "ndcg"])
    assert list(found.means) == [f"{kind}@{k}" for kind in ("recall", "ndcg") for k in RANKS]
    for name, values in found.per_query.items():
        np.testing.assert_array_equal(values, expected.per_query[name])
    with pytest.raises(KeyError, match="'map' was not computed"):
        found["map"]


def test_scores_with_ranks_of_their_own() -> None:
    Q, y_q, G, y_g = split()
    expected = retrieval_scores(Q, y_q, G, y_g, k=(1, 3, 5)).means
    own = retrieval_scores(Q, y_q, G, y_g, scores=("ndcg@5", "hit@1")).means
    assert list(own) == ["hit@1", "ndcg@5"]  # in the order of the table
    some = retrieval_scores(Q, y_q, G, y_g, k=3, scores=("hit@1", "hit", "map", "hit@3")).means
    assert list(some) == ["hit@3", "hit@1", "map"]
    for name, value in (own | some).items():
        assert value == expected[name]
    one = np.zeros(len(Q)), G[:4], np.zeros(4)
    few = retrieval_scores(Q, *one, scores="hit@4")  # the default k is too large
    assert list(few.means) == ["hit@4"]
    with pytest.raises(ValueError, match=r"rank of 'hit@5' in scores must be .* at most 4, got 5"):
        retrieval_scores(Q, *one, scores="hit@5")


@pytest.mark.parametrize("bad", ["hits", ["hit@0"], ["map@5"], ["hit@x"], ["hit@"], [5], []])
def test_names_of_scores(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"scores must be some of precision, .* got "):
        retrieval_scores(*split(), scores=bad)
