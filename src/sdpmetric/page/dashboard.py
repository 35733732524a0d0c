"""What the dashboard shows: answers, accuracy, the map of items, neighbours, the certificate."""

from __future__ import annotations

import json
import math
import threading
import time
from typing import Any

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.spatial.distance import cdist

from .._support.typing import Floats
from ..displays.features import FeaturesDisplay
from ..displays.map import MapDisplay
from ..learning.estimators.triplet_sdp_metric import TripletSDPMetric
from ..responses.intervals import AccuracyInterval
from .links import path_of
from .questions import key_of
from .study import Study

_MAPPED = 300  # items on the map: more pictures would hide each other
_FEATURES, _ITEMS, _NEAREST = 12, 5, 3  # features, items and neighbours that are listed
_RECENT = 300.0  # seconds over which the rate is measured
_BARS = 40  # bars of the picture of answers over time
_KEPT = 300  # points of the curve of accuracies

_PEOPLE = """SELECT participant, session, sum(source != 'practice'), sum(choice IS NULL AND source
!= 'practice'), max(time) FROM answers GROUP BY session ORDER BY max(time) DESC LIMIT 200"""
_CATCH = "SELECT session, a, b, c, choice FROM answers WHERE source = 'catch'"


class Dashboard:
    """The numbers of the dashboard; those of a metric are computed once for each fit.

    Parameters
    ----------
    study : Study
    """

    def __init__(self, study: Study) -> None:
        self.study = study
        self._lock = threading.Lock()
        self._version = -1
        self._metric: dict[str, Any] = {}

    def data(self, known: str = "") -> dict[str, Any]:
        """Everything that is shown; only ``number`` if the browser has it already."""
        learned = self.study.learner.learned
        [[events, gone]] = self.study.store.rows(
            "SELECT (SELECT coalesce(max(id), 0) FROM events), (SELECT count(*) FROM withdrawals)"
        )
        number = f"{learned.version}.{events}.{gone}"
        if number == known:
            return {"number": number}
        with self._lock:
            if self._version != learned.version:
                self._metric = self._of_metric()
                self._version = learned.version
            return {
                "number": number,
                "shown": self.study.stimuli.shown,
                "answers": self._answers(),
                "people": self._people(),
                "curve": self._curve(),
                "links": self._links(),
            } | self._metric

    def _answers(self) -> dict[str, Any]:
        times = np.array(
            [
                t
                for [t] in self.study.store.rows(
                    "SELECT time FROM answers WHERE source != 'practice' ORDER BY id"
                )
            ]
        )
        skipped = self.study.store.rows(
            "SELECT count(*) FROM answers WHERE choice IS NULL AND source != 'practice'"
        )
        now = time.time()
        recent = int(np.count_nonzero(times > now - _RECENT))
        began = float(times[0]) if len(times) else now
        # A study that began a minute ago has a rate per minute of that minute.
        minutes = max(min(_RECENT, now - began), 1.0) / 60.0
        bars = np.histogram(times, bins=_BARS, range=(began, max(now, began + 60.0)))[0]
        return {
            "count": len(times),
            "skipped": int(skipped[0][0]),
            "per_minute": round(recent / minutes, 1),
            "bars": bars.tolist(),
            "minutes": round((now - began) / 60.0, 1),
        }

    def _people(self) -> list[dict[str, Any]]:
        kind = self.study.settings.kind
        expected = {
            key_of(kind, q.rows): q.expected
            for q in self.study.settings.catch
            if q.expected is not None
        }
        row = self.study.stimuli.rows
        catch: dict[str, list[bool]] = {}
        for session, a, b, c, choice in self.study.store.rows(_CATCH):
            right = expected.get(key_of(kind, (row[a], row[b], row[c])))
            catch.setdefault(session, []).append(choice is not None and row[choice] == right)
        now = time.time()
        return [
            {
                "name": name,
                "answered": int(answered or 0),
                "target": self.study.settings.target,
                "skipped": int(skipped or 0),
                "catch": [sum(catch.get(session, [])), len(catch.get(session, []))],
                "seconds_ago": max(0, round(now - last)),
            }
            for name, session, answered, skipped, last in self.study.store.rows(_PEOPLE)
        ]

    def _curve(self) -> list[dict[str, float]]:
        """The accuracies of past fits; of many, some at equal steps and the last."""
        found = self.study.store.rows(
            "SELECT answers, accuracy FROM fits WHERE accuracy IS NOT NULL ORDER BY id"
        )
        # The last one for each number of answers: an undo or a withdrawal makes them fewer again.
        latest = sorted(dict(found).items(), reverse=True)
        step = max(1, -(-len(latest) // _KEPT))
        return [{"n": n, **json.loads(accuracy)} for n, accuracy in latest[::step][::-1]]

    def _links(self) -> list[dict[str, str]]:
        secret = self.study.store.secret
        return [
            {"name": name, "path": path_of(secret, name)}
            for name in self.study.settings.participants
        ]

    def _of_metric(self) -> dict[str, Any]:
        learned, stimuli = self.study.learner.learned, self.study.stimuli
        accuracy = learned.accuracy
        found: dict[str, Any] = {"learned_from": learned.n_answers, "accuracy": None}
        if accuracy is not None:
            found["accuracy"] = {
                "learned": _interval(accuracy.learned),
                "euclidean": _interval(accuracy.euclidean),
                "by": accuracy.by,
                "n": accuracy.n_answers,
                "ceiling": None
                if accuracy.ceiling is None
                else {
                    "lower": _number(accuracy.ceiling.lower),
                    "upper": _number(accuracy.ceiling.upper),
                    "agreement": _number(accuracy.ceiling.agreement),
                    "questions": accuracy.ceiling.n_questions,
                },
            }
        if learned.metric is not None:
            found |= {
                "certificate": _certificate(learned.metric, learned.seconds),
                "map": _map(learned.metric, stimuli.standard[:_MAPPED]),
                "neighbours": _neighbours(learned.metric, stimuli.standard[:_MAPPED]),
                "features": _features(learned.metric, stimuli.standard, list(stimuli.names)),
                "names": [_shown(stimuli, i) for i in range(min(_MAPPED, len(stimuli.ids)))],
            }
        return found


def _shown(stimuli: Any, row: int) -> str:
    return str(stimuli.contents[row] if stimuli.shown == "text" else stimuli.ids[row])[:40]


def _interval(found: AccuracyInterval) -> dict[str, float]:
    return {"accuracy": found.accuracy, "low": found.low, "high": found.high}


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None  # JSON has no NaN


def _certificate(metric: TripletSDPMetric, seconds: float) -> dict[str, Any]:
    return {
        "objective": float(metric.objective_),
        "upper_bound": float(metric.upper_bound_),
        "gap": float(metric.gap_),
        "tol": float(metric.tol),
        "converged": bool(metric.converged_),
        "prior_weight": float(metric.prior_weight),
        "seconds": round(seconds, 3),
    }


def _map(metric: TripletSDPMetric, X: Floats) -> dict[str, Any]:
    """Places of the items in two dimensions, before and after, each within [-1, 1]."""
    display = MapDisplay.from_estimator(metric, X)
    # Turned as far as it goes towards the map before: directions of a plane have no meaning, and
    # a map that jumps with every fit cannot be followed by eye.
    after = display.after @ orthogonal_procrustes(display.after, display.before)[0]
    return {"before": _within(display.before), "after": _within(after)}


def _within(places: Floats) -> list[list[float]]:
    largest = float(np.abs(places).max())
    scaled = places / largest if largest > 0.0 else places
    return [[round(float(x), 4), round(float(y), 4)] for x, y in scaled]


def _neighbours(metric: TripletSDPMetric, X: Floats) -> list[dict[str, Any]]:
    """The items whose nearest items have changed most, with these before and after."""
    before, after = (_nearest(Z) for Z in (X, metric.transform_array(X)))
    kept = np.array([len(set(b) & set(a)) for b, a in zip(before, after, strict=True)])
    some = np.argsort(kept, kind="stable")[:_ITEMS].tolist()
    return [{"item": i, "before": before[i], "after": after[i]} for i in some]


def _nearest(Z: Floats) -> list[list[int]]:
    distances = cdist(Z, Z)
    np.fill_diagonal(distances, np.inf)
    found: list[list[int]] = np.argsort(distances, axis=1, kind="stable")[:, :_NEAREST].tolist()
    return found


def _features(metric: TripletSDPMetric, X: Floats, names: list[str]) -> list[dict[str, Any]]:
    display = FeaturesDisplay.from_estimator(metric, X, feature_names=names)
    order = np.argsort(-display.weights, kind="stable")[:_FEATURES]
    return [
        {
            "name": names[i],
            "weight": float(display.weights[i]),
            "euclidean": float(display.euclidean[i]),
        }
        for i in order.tolist()
    ]
