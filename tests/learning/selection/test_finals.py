"""The best candidates meet again on further splits: by hand, on splits that play a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

from sdpmetric import SDPMetricCV
from sdpmetric.displays import PathDisplay
from sdpmetric.evaluation import folds
from sdpmetric.learning.selection import sdp_metric_cv as estimators
from sdpmetric.learning.selection import search
from sdpmetric.learning.selection.rule import choose
from sdpmetric.learning.selection.table import Trial
from sdpmetric.learning.selection.triplet_split import TripletCandidate
from sdpmetric.problem.result import Status

Cs = [1.0, 2.0, 3.0, 4.0]
FIRST = TripletCandidate("raw", prior_weight=0.0, h=0.1)
GRIDS: dict[str, list[Any]] = {"coordinates": ["raw"], "prior_weight": [0.0], "h": [0.1]}
SPACE = search.Space(FIRST, GRIDS, lambda candidate: Cs, finalists=2)


class Scripted:
    """Scores by C; the prior alone has C = 0."""

    def __init__(self, scores: dict[float, float]) -> None:
        self.scores = scores
        self.asked: list[float] = []

    def trials(
        self, candidate: TripletCandidate, Cs: Sequence[float], early_C: float | None = None, /
    ) -> list[Trial]:
        self.asked += Cs
        return [Trial(self.scores[C], 0.0, 1, 0.0, 1.0) for C in Cs]

    def prior_score(self, candidate: TripletCandidate, /) -> Trial:
        self.asked.append(0.0)
        return Trial(self.scores[0.0], 0.0, 0, 0.0, 0.0)


def run(
    first: list[float], *others: list[float], space: search.Space = SPACE, **options: Any
) -> tuple[Any, list[Scripted]]:
    """Each list: the score of the prior alone, then those of the four values of C."""
    grounds = [Scripted(dict(zip([0.0, *Cs], scores, strict=True))) for scores in (first, *others)]
    finals = [lambda g=g: g for g in grounds[1:]]
    table = search.search(space, grounds[:1], confirmation_splits=finals, **options)
    return table, grounds


def chosen(table: Any) -> float:
    at = choose(table, doubt=0.0, one_standard_error=False)
    return float(list(table.rows)[at][1])


def test_only_the_best_meet_again() -> None:
    table, grounds = run([0.5, 0.6, 0.9, 0.8, 0.7], [0.5, 1.0, 0.6, 0.8, 1.0])
    assert grounds[1].asked == [2.0, 3.0, 0.0]
    assert chosen(table) == 3.0  # 0.8 in the mean; 2.0, which was lucky at first, has 0.75
    results = table.results()
    np.testing.assert_array_equal(results["param_C"], [1.0, *Cs])  # the prior alone first
    np.testing.assert_array_equal(results["split1_test_score"], [0.5, np.nan, 0.6, 0.8, np.nan])
    np.testing.assert_allclose(results["mean_test_score"], [0.5, 0.6, 0.75, 0.8, 0.7])
    np.testing.assert_array_equal(results["rank_test_score"], [3, 5, 2, 1, 4])
    np.testing.assert_allclose(results["seconds"], [0.0, 1.0, 2.0, 2.0, 1.0])


def test_the_default_settings_meet_again_too() -> None:
    space = replace(SPACE, default_C=1.2, finalists=3)
    _, grounds = run([0.5, 0.6, 0.9, 0.8, 0.7], [0.5, 0.9, 0.6, 0.8, 1.0], space=space)
    assert grounds[1].asked == [2.0, 3.0, 1.0, 0.0]
    assert space.references() == [(FIRST, 1.0)]
    _, grounds = run(
        [0.5, 0.6, 0.9, 0.8, 0.7],
        [0.5, 0.9, 0.6, 0.8, 1.0],
        space=replace(space, finalists=2),
    )
    assert grounds[1].asked == [2.0, 1.0, 0.0]


def test_the_default_settings_are_in_the_default_coordinates() -> None:
    kinds = {"coordinates": ["raw", "standard"]}
    space = replace(SPACE, grids=GRIDS | kinds, default_C=1.2)
    standard = replace(FIRST, coordinates="standard"), 1.0
    assert space.references() == [(FIRST, 1.0), standard]
    assert replace(space, default_coordinates="standard").references() == [standard]
    assert replace(space, default_coordinates="within").references() == [(FIRST, 1.0), standard]


@pytest.mark.parametrize(("votes", "dropped"), [(0, False), (40, False), (4_000, True)])
def test_coordinates_clearly_behind_go_no_further(votes: int, dropped: bool) -> None:
    """One fit with the default settings decides, and the number of votes is what clear means."""

    class ByCoordinates(Scripted):
        def trials(
            self, candidate: TripletCandidate, Cs: Sequence[float], early_C: float | None = None, /
        ) -> list[Trial]:
            asked.extend((candidate.coordinates, C) for C in Cs)
            # The early rounds of the race serve the whole path.
            assert early_C == (None if len(Cs) == 1 or votes == 0 else 3.0)
            better = candidate.coordinates == "standard"
            return [Trial(0.9 if better else 0.8, 0.0, 1, 0.0, 1.0) for _ in Cs]

    asked: list[tuple[str, float]] = []
    grids = GRIDS | {"coordinates": ["raw", "standard"]}
    space = replace(SPACE, grids=grids, default_C=3.0, votes=votes)
    told: list[tuple[int, int]] = []
    search.search(space, [ByCoordinates({0.0: 0.5})], report=lambda *now: told.append(now))
    first = [("raw", 3.0), ("standard", 3.0)]
    others = [(kind, C) for kind in ("raw", "standard") for C in Cs if C != 3.0]
    if votes == 0:
        assert sorted(asked) == sorted(first + others)
    else:
        assert asked == first + [each for each in others if not dropped or each[0] == "standard"]
    assert told[-1] == (space.n_paths, space.n_paths)


def test_the_last_of_three_coordinates_goes_no_further() -> None:
    class Asked(Scripted):
        def trials(
            self, candidate: TripletCandidate, Cs: Sequence[float], early_C: float | None = None, /
        ) -> list[Trial]:
            asked.update({candidate.coordinates: len(Cs) + asked.get(candidate.coordinates, 0)})
            score = {"raw": 0.61, "standard": 0.60, "within": 0.62}[candidate.coordinates]
            return [Trial(score, 0.0, 1, 0.0, 1.0) for _ in Cs]

    asked: dict[str, int] = {}
    grids = GRIDS | {"coordinates": ["raw", "standard", "within"]}
    search.search(replace(SPACE, grids=grids, default_C=3.0, votes=5), [Asked({0.0: 0.5})])
    assert asked == {"raw": 4, "standard": 1, "within": 4}


def test_the_least_C_needs_one_round_or_a_prior() -> None:
    """Two rounds without a prior: neighbours under a metric of few directions are accidents."""
    X, y = load_wine(return_X_y=True)
    options: Any = {"coordinates": "standard", "cv": 2, "n_neighbors": 3, "n_impostors": 3}
    found = SDPMetricCV(2, **options, n_rounds=(2, 1), prior_weight=(0.0, 0.3)).fit(X, y)
    results = found.cv_results_
    least = (results["param_C"] == 1.75) & (results["param_prior_weight"] < 1.0)
    safe = (results["param_prior_weight"] > 0.0) | (results["param_n_rounds"] == 1)
    assert np.all(safe[least])
    path = SDPMetricCV(2, **options, n_rounds=1, prior_weight=0.0).fit(X, y).cv_results_
    assert set(path["param_C"]) == {1.75, 3.5, 28.0}
    given = SDPMetricCV([3.5, 28.0], **options, n_rounds=1, prior_weight=0.0).fit(X, y).cv_results_
    assert set(given["param_C"]) == {3.5, 28.0}  # the user's own values, and no others


def test_doubt_needs_the_further_splits() -> None:
    once = run([0.5, 0.6, 0.9, 0.8, 0.7])[0]
    rule: Any = {"doubt": 2.0, "one_standard_error": False}
    assert choose(once, **rule) == 2
    more = run([0.5, 0.6, 0.9, 0.8, 0.7], [0.9, 0, 0.6, 0.5, 0], [0.7, 0, 0.9, 0.6, 0])[0]
    assert choose(more, **rule) == 0  # 0.80 for 0.70, give or take 0.2


def test_stopped_between_further_splits() -> None:
    scores = [0.5, 0.6, 0.9, 0.8, 0.7], [0.5, 0, 0.7, 0.9, 0], [0.5, 0, 0, 1.0, 0]
    table, grounds = run(*scores, report=lambda done, total: done == 2)
    assert (table.n_tried, table.ended) == (2, Status.STOPPED)
    assert grounds[2].asked == []
    assert chosen(table) == 3.0


def test_interrupted_within_a_further_split(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Scripted, candidate: TripletCandidate, /) -> Trial:
        if self.asked:  # the last call of a further split
            raise KeyboardInterrupt
        return Trial(0.5, 0.0, 0, 0.0, 0.0)

    monkeypatch.setattr(Scripted, "prior_score", interrupted)
    table, _ = run([0.5, 0.6, 0.9, 0.8, 0.7], [0.5, 0, 0.0, 1.0, 0])
    assert table.ended is Status.INTERRUPTED
    assert table.scores().shape == (5, 1)  # half of a split counts for nothing
    assert chosen(table) == 2.0


def test_rule_for_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.arange(60) % 3
    monkeypatch.setattr(folds, "_MANY", 50)
    splits, scouts = folds.row_splits(None, np.zeros((60, 1)), codes, None, 0)
    assert (len(splits), scouts) == (5, 2)
    assert sorted(np.concatenate([held for _, held in splits])) == list(range(60))
    monkeypatch.setattr(folds, "_PLENTY", 60)
    splits, scouts = folds.row_splits(None, np.zeros((60, 1)), codes, None, 0)
    assert (len(splits), scouts) == (1, 1)
    splits, scouts = folds.row_splits(3, np.zeros((60, 1)), codes, None, 0)
    assert (len(splits), scouts) == (3, 3)


@pytest.mark.slow
def test_estimator_with_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folds, "_MANY", 100)
    monkeypatch.setattr(estimators, "_MANY", 100)
    grounds: list[Any] = []
    make = vars(estimators)["LabelSplit"]

    def made(**given: Any) -> Any:
        grounds.append(make(**given))
        return grounds[-1]

    monkeypatch.setattr(estimators, "LabelSplit", made)
    X, y = load_wine(return_X_y=True)
    options: Any = {"Cs": [1.5, 3.0, 9.0], "n_neighbors": 3, "n_impostors": 3, "n_rounds": 1}
    search_ = SDPMetricCV(**options, coordinates=["standard"], prior_weight=0.0).fit(X, y)
    assert len(grounds) == search_.n_splits_ == 5
    tried = ~np.isnan(search_.cv_results_["split4_test_score"])
    assert tried.sum() == 3  # two finalists and the prior alone
    assert tried[search_.best_index_]
    full = SDPMetricCV(
        **options,
        coordinates=["standard"],
        prior_weight=0.0,
        cv=[
            (np.setdiff1d(np.arange(178), held), held)
            for held in (split[1] for split in folds.row_splits(None, X, y, None, 0)[0])
        ],
    ).fit(X, y)
    for name in ("mean_test_score", "split4_test_score"):  # as if all had been tried everywhere
        np.testing.assert_allclose(
            search_.cv_results_[name][tried], full.cv_results_[name][tried], atol=0.012
        )
    first_two = np.array([search_.cv_results_[f"split{i}_test_score"] for i in (0, 1)])
    shown = PathDisplay.from_estimator(search_)
    np.testing.assert_allclose(
        shown.score,
        first_two.mean(axis=0)[search_.cv_results_["param_prior_weight"] < 1],
    )
