"""The searches: against fits made one by one, without leaks, and never worse than the start."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sdpmetric import SDPMetric, SDPMetricCV, TripletSDPMetric, TripletSDPMetricCV
from sdpmetric.learning.fit.run import Fit
from tests.support.lanes import some
from tests.support.problems import Floats, Ints, consistent, random_triplets

SMALL: dict[str, Any] = {"n_neighbors": 3, "n_impostors": 3, "n_rounds": 1, "prior_weight": 0.0}


@pytest.fixture(scope="module")
def wine() -> tuple[Floats, Ints]:
    X, y = load_wine(return_X_y=True)
    return X, y


def planted(seed: int, n: int = 60, D: int = 6, m: int = 400) -> tuple[Floats, Ints]:
    """Answers of people who look at the first feature only."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    M = np.zeros((D, D))
    M[0, 0] = 1.0
    return X, consistent(random_triplets(rng, n, m), X, M)


def knn_score(metric: Any, X: Floats, y: Ints, held: Floats, expected: Ints) -> float:
    votes = KNeighborsClassifier(3).fit(metric.transform(X), y)
    return float(votes.score(metric.transform(held), expected))


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["huber", "squared_hinge", "hinge"])
@pytest.mark.parametrize("triplets", ["knn", "all"])
def test_scores_are_those_of_separate_fits(
    wine: tuple[Floats, Ints], triplets: str, loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every candidate, fitted cold by `SDPMetric` and scored by scikit-learn.

    Except those of two rounds that are not in the middle of a path: they share their comparisons.
    """
    # As exact as the last round, so that the neighbours are the same.
    for module in ("selection.splits", "estimators.sdp_metric"):
        monkeypatch.setattr(f"sdpmetric.learning.{module}.EARLY_TOL", 0.0)
    X, y = StandardScaler().fit_transform(wine[0]), wine[1]
    split = next(StratifiedShuffleSplit(1, test_size=0.4, random_state=0).split(X, y))
    # The hinge is flat at its optimum: the neighbours of a second round hang on the last digits.
    rounds, tol = ([1, 2], 1e-5) if loss != "hinge" else ([1], 1e-3)
    chosen = SDPMetricCV(
        [1.5, 3.0, 6.0],
        **SMALL | {"n_rounds": rounds, "prior_weight": [0.0, 0.3]},
        loss=loss,
        triplets=triplets,
        coordinates="raw",
        search="product",
        search_tol=tol,
        cv=[split],
    ).fit(X, y)
    results, (train, held) = chosen.cv_results_, split
    names = [name.removeprefix("param_") for name in results if name.startswith("param_")]
    assert len(results["param_C"]) == 1 + 3 * 2 * len(rounds)
    far_off = compared = 0
    for i, score in enumerate(results["mean_test_score"]):
        settings = {name: results[f"param_{name}"][i].item() for name in names}
        if settings["n_rounds"] > 1 and settings["C"] != 3.0:
            continue
        compared += 1
        metric = SDPMetric(**settings, loss=loss, prior="identity", tol=tol)
        expected = knn_score(metric.fit(X[train], y[train]), X[train], y[train], X[held], y[held])
        far_off += abs(score - expected) > 1e-12
        assert score == pytest.approx(expected, abs=1.5 / len(held))  # at most a vote apart
        if settings["prior_weight"] < 1.0:
            assert results["mean_rho"][i] == pytest.approx(metric.rho_, rel=0.1, abs=1e-3)
    assert far_off <= 2
    assert compared == 1 + 2 * (3 + (len(rounds) - 1))


def test_the_chosen_settings_are_fitted_to_all_rows(wine: tuple[Floats, Ints]) -> None:
    X, y = wine
    chosen = SDPMetricCV([2.0, 5.0], **SMALL, coordinates="standard", cv=3, doubt=0.0).fit(X, y)
    best = chosen.best_params_
    Z = X / X.std(axis=0)
    expected = SDPMetric(**best | {"coordinates": "raw"}).fit(Z, y)
    M = expected.get_mahalanobis_matrix() / np.outer(X.std(axis=0), X.std(axis=0))
    np.testing.assert_allclose(chosen.get_mahalanobis_matrix(), M / np.trace(M), atol=1e-10)
    mapped = chosen.best_estimator_.transform(X)
    ratio = chosen.pairwise_distances(X[:9])[0, 1:] / np.linalg.norm(
        mapped[0] - mapped[1:9], axis=1
    )
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
    assert best["prior_weight"] < 1.0
    assert chosen.best_score_ == chosen.cv_results_["mean_test_score"].max()
    assert chosen.cv_results_["rank_test_score"][chosen.best_index_] == 1


@pytest.mark.parametrize("coordinates", some(["raw", "standard", "within"], 1))
def test_nothing_to_learn(coordinates: str) -> None:
    """Labels at random: luck on the folds is enough for the default settings at most."""
    settings: dict[str, Any] = {"coordinates": coordinates, "cv": 4, **SMALL}
    settings |= {"prior_weight": [0.0, 0.3, 0.6]}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(80, 5)), rng.integers(0, 2, 80)
        chosen = SDPMetricCV([3.5, 7.0], **settings).fit(X, y).best_params_
        assert chosen["prior_weight"] == 1.0 or (chosen["prior_weight"], chosen["C"]) == (0.0, 7.0)
    lucky = SDPMetricCV([3.5, 7.0], **settings, doubt=0.0).fit(X, y)
    results = lucky.cv_results_
    alone = results["param_prior_weight"] == 1.0
    assert alone.sum() == 1
    assert lucky.best_score_ == results["mean_test_score"].max()
    assert lucky.best_score_ >= results["mean_test_score"][alone][0]


@pytest.mark.slow
def test_few_comparisons_in_many_dimensions_fall_back() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 300))
    T = random_triplets(rng, 100, 120)
    T = consistent(T, X, np.eye(300))  # Euclidean distance answered: nothing beats it
    chosen = TripletSDPMetricCV(3, coordinates="raw").fit(X, T)
    assert chosen.best_params_["prior_weight"] == 1.0
    assert chosen.score(X, T) == 1.0


def test_prior_alone_is_the_prior() -> None:
    """The classes lie apart along a direction that the prior knows: nothing can do better."""
    rng = np.random.default_rng(12)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 4)) * [0.5, 6.0, 6.0, 6.0]
    X[:, 0] += 10.0 * y
    M0 = np.diag([1.0, 1e-4, 2e-4, 3e-4])
    chosen = SDPMetricCV([1.3], **SMALL, prior=M0, coordinates="raw", cv=3).fit(X, y)
    results = chosen.cv_results_
    alone = results["param_prior_weight"] == 1.0
    assert results["mean_test_score"][alone] == [1.0]
    assert chosen.best_params_["prior_weight"] == 1.0
    np.testing.assert_allclose(chosen.get_mahalanobis_matrix(), M0 / np.trace(M0), atol=1e-12)
    d = X[0] - X[1]
    expected = np.sqrt(d @ M0 @ d / np.trace(M0))
    assert chosen.pairwise_distances(X[:2])[0, 1] == pytest.approx(expected)


def test_path_ends_where_the_margin_is_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noisy labels: rho = 0 from some C on, where the fits are not made again."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = (X[:, 0] + 2.0 * rng.normal(size=120) > 0).astype(int)
    solved: Counter[float] = Counter()
    run = Fit.run

    def counted(self: Fit, *args: Any, **options: Any) -> Any:
        solved[self.C] += 1
        return run(self, *args, **options)

    monkeypatch.setattr(Fit, "run", counted)
    Cs = [1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    split = [(np.arange(90), np.arange(90, 120))]
    chosen = SDPMetricCV(Cs, **SMALL, coordinates="raw", cv=split, search_tol=1e-5).fit(X, y)
    results = chosen.cv_results_
    zero = (results["mean_rho"] == 0.0) & (results["param_prior_weight"] == 0.0)
    assert zero.sum() >= 3
    assert len(set(results["mean_test_score"][zero])) == 1
    last = min(results["param_C"][zero])
    assert sum(count for C, count in solved.items() if last <= C) <= 3  # one or two, and the refit
    cold = [SDPMetric(C=C, tol=1e-6).fit(X[:90], y[:90]) for C in (last, 64.0)]
    M = [metric.get_mahalanobis_matrix() for metric in cold]
    np.testing.assert_allclose(M[0], M[1], atol=2e-2)


@pytest.mark.slow
def test_comparisons_are_prepared_once(
    wine: tuple[Floats, Ints], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = wine
    prepared = []
    prepare = Fit.prepare_comparisons

    def counted(self: Fit, *args: Any, **options: Any) -> Any:
        prepared.append(len(args[1]))
        return prepare(self, *args, **options)

    monkeypatch.setattr(Fit, "prepare_comparisons", counted)
    settings = SMALL | {"prior_weight": [0.0, 0.2, 0.6], "h": [0.02, 0.1]}
    SDPMetricCV(5, **settings, coordinates="standard", cv=3).fit(X, y)
    assert len(prepared) == 3 + 1  # a fold each, and the refit


def test_early_rounds_are_shared(
    wine: tuple[Floats, Ints], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four rounds begin with the early rounds of two, and three are the first of four."""
    X, y = wine
    tolerances: list[float] = []
    run = Fit.run

    def counted(self: Fit, *args: Any, **options: Any) -> Any:
        tolerances.append(self.limits.tol)
        return run(self, *args, **options)

    monkeypatch.setattr(Fit, "run", counted)
    split = [(np.arange(0, 178, 2), np.arange(1, 178, 2))]
    settings = SMALL | {"n_rounds": (2, 4, 3), "coordinates": "standard"}
    chosen = SDPMetricCV([5.0], **settings, cv=split, search_tol=0.01).fit(X, y)
    in_search = tolerances.index(0.0001) - (chosen.best_params_["n_rounds"] - 1)
    assert sorted(tolerances[:in_search]) == [0.01] * 3 + [0.1] * 3


def test_rows_held_out_have_no_say(wine: tuple[Floats, Ints]) -> None:
    """The scale of columns and the whitening are learned from the training rows."""
    X, y = wine
    split = next(StratifiedShuffleSplit(1, test_size=0.3, random_state=0).split(X, y))
    held = split[1]
    moved = X.copy()
    moved[held] = moved[held[:1]]  # whatever is there, but all the same
    rhos = []
    for rows in (X, moved):
        chosen = SDPMetricCV([3.0], **SMALL, cv=[split]).fit(rows, y)
        rhos.append(chosen.cv_results_["mean_rho"])
    np.testing.assert_array_equal(rhos[0], rhos[1])


@pytest.mark.slow
def test_groups_are_held_out_together(wine: tuple[Floats, Ints]) -> None:
    X, y = wine
    groups = np.arange(len(y)) // 4
    seen: list[set[int]] = []

    class Spy(GroupKFold):
        def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
            for train, held in super().split(X, y, groups):
                seen.append(set(groups[train]) & set(groups[held]))
                yield train, held

    SDPMetricCV([3.0], **SMALL, coordinates="raw", cv=Spy(3)).fit(X, y, groups=groups)
    assert seen == [set(), set(), set()]
    own = SDPMetricCV([3.0], **SMALL, coordinates="raw").fit(X, y, groups=groups)
    assert own.n_splits_ == 5


@pytest.mark.slow
@pytest.mark.parametrize("scoring", ["triplets", LogisticRegression(max_iter=500)])
def test_other_scores(wine: tuple[Floats, Ints], scoring: Any) -> None:
    X, y = StandardScaler().fit_transform(wine[0]), wine[1]
    split = next(StratifiedShuffleSplit(1, test_size=0.4, random_state=0).split(X, y))
    chosen = SDPMetricCV([3.0], **SMALL, coordinates="raw", cv=[split], scoring=scoring).fit(X, y)
    train, held = split
    fitted = chosen.cv_results_["param_prior_weight"] == 0.0
    metric = SDPMetric(C=3.0, tol=1e-3).fit(X[train], y[train])
    if scoring == "triplets":
        from sdpmetric import knn_triplets

        expected = metric.triplet_accuracy(X[held], knn_triplets(X[held], y[held]))
    else:
        judge = clone(scoring).fit(metric.transform(X[train]), y[train])
        expected = judge.score(metric.transform(X[held]), y[held])
    score = chosen.cv_results_["mean_test_score"][fitted][0]
    assert score == pytest.approx(expected, abs=0.02)


@pytest.mark.slow
def test_stages_and_product(wine: tuple[Floats, Ints]) -> None:
    X, y = wine
    grids: dict[str, Any] = {"n_neighbors": [1, 3], "n_impostors": [1, 3], "n_rounds": 1}
    # Close fits, so that a candidate has the same score wherever its fit started.
    grids |= {"prior_weight": [0.0, 0.4], "coordinates": ["raw", "standard"], "cv": 3}
    grids |= {"search_tol": 1e-5, "doubt": 0.0}
    told: list[tuple[int, int]] = []
    stages = SDPMetricCV([2.0, 4.0], **grids, progress=lambda *now: told.append(now)).fit(X, y)
    assert told == [(i, 5) for i in range(1, 6)]
    whole = SDPMetricCV([2.0, 4.0], **grids, search="product").fit(X, y)
    # Both coordinates with both C, neighbours and impostors with the best, and the other prior with
    # that one and the one below it, if there is one.
    assert len(stages.cv_results_["param_C"]) in (2 + 2 * 2 + 1 + 1 + 1, 2 + 2 * 2 + 1 + 1 + 2)
    assert len(whole.cv_results_["param_C"]) == 2 + 2 * 16
    assert whole.best_score_ >= stages.best_score_
    for results in (stages.cv_results_, whole.cv_results_):
        assert {len(column) for column in results.values()} == {len(results["param_C"])}
        assert np.all(results["max_gap"] <= 1e-5)


@pytest.mark.slow
def test_defaults_improve_on_euclidean() -> None:
    """Two columns that tell the classes apart among forty that do not."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 42))
    X[:, :2] += 2.0 * np.array([[0.0, 0.0], [1.0, 1.5], [-1.5, 1.0]])[y]
    chosen = SDPMetricCV(4, cv=2).fit(X[:150], y[:150])
    before = KNeighborsClassifier(3).fit(X[:150], y[:150]).score(X[150:], y[150:])
    after = knn_score(chosen, X[:150], y[:150], X[150:], y[150:])
    assert after > before + 0.05
    assert chosen.best_params_["prior_weight"] < 1.0


@pytest.mark.slow
def test_sparse_rows() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    chosen = [
        SDPMetricCV([3.0], **SMALL, coordinates=["raw", "standard"], cv=2).fit(rows, y)
        for rows in (X, sp.csr_array(X))
    ]
    scores = [one.cv_results_["mean_test_score"] for one in chosen]
    np.testing.assert_allclose(scores[0], scores[1], atol=0.011)  # a vote or two
    assert chosen[1].transform(sp.csr_array(X)).shape[0] == 200


@pytest.mark.slow
def test_in_a_pipeline_and_a_frame(wine: tuple[Floats, Ints]) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(wine[0], columns=[f"f{i}" for i in range(13)])
    model = make_pipeline(SDPMetricCV([3.0], **SMALL, cv=2), KNeighborsClassifier(3))
    assert model.fit(frame, wine[1]).score(frame, wine[1]) > 0.9
    assert list(model[0].feature_names_in_) == list(frame.columns)


@pytest.mark.parametrize("folds", some(["anchor", "comparison", "item", "group"], 1))
def test_comparisons_held_out(folds: str) -> None:
    """What was looked at is found, and the scores are those of separate fits."""
    X, T = planted(0)
    groups = T[:, 1] % 7
    chosen = TripletSDPMetricCV([2.0, 5.0], folds=folds, cv=3, coordinates="raw").fit(
        X, T, groups=groups if folds == "group" else None
    )
    results = chosen.cv_results_
    alone = results["mean_test_score"][results["param_prior_weight"] == 1.0][0]
    assert alone < 0.75
    assert chosen.best_score_ > 0.85
    assert chosen.score(X, T) > 0.93


def test_comparison_scores_by_hand() -> None:
    X, T = planted(3, m=300)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(T))
    cv = ShuffleSplit(2, test_size=0.3, random_state=0)
    chosen = TripletSDPMetricCV([3.0], cv=cv, coordinates="raw", prior_weight=0.2).fit(
        X, T, sample_weight=weights
    )
    expected = []
    for train, held in cv.split(T):
        metric = TripletSDPMetric(C=3.0, coordinates="raw", prior_weight=0.2, tol=1e-2)
        metric.fit(X, T[train], sample_weight=weights[train])
        expected.append(metric.score(X, T[held], sample_weight=weights[held]))
    results = chosen.cv_results_
    found = [results[f"split{i}_test_score"][1] for i in range(2)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_cannot_converge_warns_once(wine: tuple[Floats, Ints]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chosen = SDPMetricCV([20.0], **SMALL, coordinates="raw", cv=2, max_iter=20).fit(*wine)
    assert chosen.best_params_["prior_weight"] < 1.0
    names = [w.category.__name__ for w in caught]
    assert names.count("ConvergenceWarning") == 1  # of the last fit


BAD: list[tuple[dict[str, Any], str]] = [
    ({"Cs": []}, "Cs must have at least one value"),
    ({"Cs": 0}, "Cs must be an integer of at least 1"),
    ({"Cs": [0.0]}, "Cs must be"),
    ({"Cs": [0.5]}, "C must be greater than 1"),
    ({"coordinates": "polar"}, "coordinates must be one of"),
    ({"coordinates": []}, "coordinates must have at least one value"),
    ({"prior": None}, "prior must be 'identity' or an array"),
    ({"prior": np.eye(13), "coordinates": "standard"}, "coordinates must be 'raw' with a prior"),
    ({"prior_weight": [0.0, 1.5]}, "prior_weight must be"),
    ({"prior_weight": 1.0}, "prior_weight must have a value below 1"),
    ({"h": [0.1, -1.0]}, "h must be"),
    ({"search": "random"}, "search must be one of"),
    ({"search_tol": 2.0}, "search_tol must be"),
    ({"doubt": -1.0}, "doubt must be"),
    ({"progress": "yes"}, "progress must be True, False or a function"),
]
BAD_ROWS: list[tuple[dict[str, Any], str]] = [
    ({"n_neighbors": [3, 0]}, "n_neighbors must be an integer of at least 1"),
    ({"n_rounds": 0}, "n_rounds must be an integer of at least 1"),
    ({"triplets": ["knn", "some"]}, "triplets must be one of"),
    ({"scoring": "accuracy"}, "scoring must be one of"),
    ({"scoring": 3}, "scoring must be 'knn', 'triplets' or a classifier"),
    ({"triplets": "all", "loss": "logistic"}, "support"),
    ({"cv": [(np.arange(5), np.arange(5, 9))]}, "cv: split 0 has 5 training"),
    # The first 130 rows of wine have two of its classes.
    (
        {"class_weight": {0: 0, 1: 0, 2: 1}, "cv": [(np.arange(130), np.arange(130, 178))]},
        "class_weight: split 0 of cv has no training row",
    ),
]


@pytest.mark.parametrize(("settings", "match"), BAD + BAD_ROWS, ids=lambda v: str(v)[:40])
def test_bad_settings(wine: tuple[Floats, Ints], settings: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        SDPMetricCV(**{"Cs": 2, "cv": 2} | settings).fit(*wine)


@pytest.mark.parametrize(("settings", "match"), BAD, ids=lambda v: str(v)[:40])
def test_bad_settings_of_comparisons(settings: dict[str, Any], match: str) -> None:
    X, T = planted(0, D=13)
    with pytest.raises(ValueError, match=match):
        TripletSDPMetricCV(**{"Cs": 2, "cv": 2} | settings).fit(X, T)


@pytest.mark.parametrize(
    ("settings", "fit", "match"),
    [
        ({"folds": "person"}, {}, "folds must be one of"),
        ({"folds": "group"}, {}, "groups must be given"),
        ({"folds": "group"}, {"groups": [1, 2]}, "groups must have one entry per comparison"),
        ({"folds": "group"}, {"groups": np.zeros(400)}, "groups: found 1"),
        ({"coordinates": "within"}, {}, "needs a dense X"),
        ({}, {"sample_weight": 1e300 * (np.arange(400) == 0) + 1e-300}, "sample_weight: split"),
    ],
)
def test_bad_folds(settings: dict[str, Any], fit: dict[str, Any], match: str) -> None:
    X, T = planted(0)
    items: Any = sp.csr_array(X) if "coordinates" in settings else X
    with pytest.raises(ValueError, match=match):
        TripletSDPMetricCV(**settings).fit(items, T, **fit)
