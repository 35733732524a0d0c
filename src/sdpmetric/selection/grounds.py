"""The splits on which settings are tried: paths of fits on one part, scores on the other."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._typing import Floats, Ints, Items
from ..comparisons import Comparisons
from ..labelled import Kind, Labelled
from ..mining import listed
from ..problem import Problem
from ..products import squared_differences
from ..result import Result
from ..settings import Ready, Settings
from .coordinates import Coordinates
from .search import Lane, Trial
from .vote import accuracy

__all__ = ["LabelGround", "Split", "TripletGround", "View"]

_VIEWS = 2  # coordinates that are kept at a time: each is a copy of the rows


class View(ABC):
    """A split in some coordinates; what does not depend on the other settings is made once."""

    mined_by: tuple[str, ...] = ("triplets", "n_neighbors", "n_impostors")

    def __init__(self) -> None:
        self.prepared: dict[Any, Ready] = {}
        self.fits: dict[Any, Result] = {}

    @abstractmethod
    def prepare(self, given: dict[str, Any], settings: Settings) -> Ready:
        """The comparisons of these settings."""

    @abstractmethod
    def score(self, components: Floats | None) -> float:
        """How the held-out part fares under a metric, None for the coordinates as they are."""

    def further(self, given: dict[str, Any], settings: Settings, result: Result) -> Result:
        """What follows the first fit."""
        return result

    def ready(self, given: dict[str, Any], settings: Settings) -> Ready:
        key = tuple(given.get(name) for name in self.mined_by)
        if key not in self.prepared:
            # With some weight for the prior, so that its distances are there for all weights.
            self.prepared = {key: self.prepare(given, replace(settings, prior_weight=0.5))}
        # A pool of all triplets remembers those that have mattered.
        self.prepared[key] = settings.vary(self.prepared[key])
        return self.prepared[key]

    def fit(self, given: dict[str, Any], settings: Settings, start: Floats | None) -> Result:
        key = *(value for name, value in given.items() if name != "n_rounds"), settings.C
        if key not in self.fits:
            ready = self.ready(given, settings)
            self.fits[key] = settings.solve(ready, start, one_of_many=True)
        return self.fits[key]

    def steady(self, given: dict[str, Any], settings: Settings, result: Result) -> float:
        """The C from which on all fits of a path are the same."""
        if result.rho > 0.0:
            return np.inf
        ready = self.ready(given, settings)
        if not isinstance(ready, Problem):
            return np.inf  # further triplets may come inside the margin
        factor = ready.lower(result.factor)
        return np.inf if factor is None else ready.steady(factor)


@dataclass(eq=False)
class Split(ABC):
    """A `Ground`: a path over C in each lane, each fit from the one before."""

    settings: Settings
    views: dict[str, View] = field(default_factory=dict, init=False)

    @abstractmethod
    def look(self, coordinates: str) -> View:
        """The split in these coordinates, which are learned from the training part alone."""

    def trials(self, lane: Lane, Cs: Sequence[float], /) -> list[Trial]:
        given = dict(lane)
        view = self._view(given["coordinates"])
        settings = replace(self.settings, h=given["h"], prior_weight=given["prior_weight"])
        start, end, found = None, np.inf, []
        # Downwards: directions are dropped on the way, which is cheaper than to find them.
        for C in sorted(Cs, reverse=True):
            began = time.perf_counter()
            if end > C:
                settings = replace(settings, C=C)
            with _quiet():
                first = view.fit(given, settings, start)
                end = min(end, view.steady(given, settings, first))
                result = view.further(given, settings, first)
            seconds = time.perf_counter() - began
            start = first.factor
            score = view.score(result.components)
            found.append(Trial(score, result.gap, result.rank, result.rho, seconds))
        return found[::-1]

    def untouched(self, lane: Lane, /) -> Trial:
        given = dict(lane)
        view = self._view(given["coordinates"])
        components, s = None, replace(self.settings, h=given["h"], prior_weight=1.0)
        if not isinstance(s.prior, str) or s.n_components is not None:
            with _quiet():
                components = view.fit(given, s, None).components
        return Trial(view.score(components), 0.0, s.n_components or 0, 0.0, 0.0)

    def _view(self, coordinates: str) -> View:
        if coordinates not in self.views:
            while len(self.views) >= _VIEWS:
                self.views.pop(next(iter(self.views)))
            self.views[coordinates] = self.look(coordinates)
        return self.views[coordinates]


@dataclass(eq=False)
class LabelGround(Split):
    """Labelled rows, scored by a vote of the training rows, by a classifier that is fitted to them,
    or by the share of triplets among the held-out rows that are right.
    """

    train: Labelled
    train_codes: Ints
    held: Items
    held_codes: Ints
    widest: Kind
    scoring: Any

    def look(self, coordinates: str) -> View:
        return _LabelView(self, Coordinates(coordinates))


class _LabelView(View):
    def __init__(self, ground: LabelGround, coordinates: Coordinates) -> None:
        super().__init__()
        self.ground = ground
        train = ground.train
        coordinates.fit(train.X, train.codes)
        self.rows = replace(train, X=coordinates.forward(train.X))
        self.held = coordinates.forward(ground.held)
        with _quiet():
            self.near, self.far = self.rows.search(ground.widest)
            if ground.scoring == "triplets":
                held = Labelled(self.held, ground.held_codes)
                self.asked = Comparisons.from_indices(listed(*held.search(Kind("knn", 3, 3))))

    def prepare(self, given: dict[str, Any], settings: Settings) -> Ready:
        return self.rows.prepare(settings, _kind(given), self.near, self.far)[0]

    def further(self, given: dict[str, Any], settings: Settings, result: Result) -> Result:
        for _ in range(1, given["n_rounds"]):
            result, _ = self.rows.again(settings, _kind(given), result, one_of_many=True)
        return result

    def score(self, components: Floats | None) -> float:
        g, held = self.ground, _mapped(self.held, components)
        if g.scoring == "triplets":
            return _right(held, self.asked)
        rows = _mapped(self.rows.X, components)
        if g.scoring == "knn":
            return accuracy(rows, g.train_codes, held, g.held_codes)
        return float(clone(g.scoring).fit(rows, g.train_codes).score(held, g.held_codes))


@dataclass(eq=False)
class TripletGround(Split):
    """Comparisons: the score is the share of held-out ones that are right."""

    X: Items
    train: Ints
    train_weights: Floats | None
    held: Ints
    held_weights: Floats | None

    def look(self, coordinates: str) -> View:
        return _TripletView(self, Coordinates(coordinates))


class _TripletView(View):
    def __init__(self, ground: TripletGround, coordinates: Coordinates) -> None:
        super().__init__()
        self.ground = ground
        # Items that no training comparison mentions may be new ones.
        items, codes = np.unique(ground.train, return_inverse=True)
        coordinates.fit(ground.X[items], codes.reshape(ground.train.shape))
        self.X = coordinates.forward(ground.X)
        self.asked = Comparisons.from_indices(ground.held, ground.held_weights)

    def prepare(self, given: dict[str, Any], settings: Settings) -> Ready:
        return settings.prepare(self.X, self.ground.train, self.ground.train_weights)

    def score(self, components: Floats | None) -> float:
        return _right(_mapped(self.X, components), self.asked)


def _kind(given: dict[str, Any]) -> Kind:
    return Kind(given["triplets"], given["n_neighbors"], given["n_impostors"])


def _mapped(X: Items, components: Floats | None) -> Items:
    return X if components is None else np.asarray(X @ components.T.astype(X.dtype))


def _right(mapped: Items, asked: Comparisons) -> float:
    """The share of comparisons whose near pair is strictly the nearer one."""
    distances = squared_differences(mapped, *asked.edges.T)
    return float(np.average(asked.margins(distances) > 0.0, weights=asked.weights))


@contextmanager
def _quiet() -> Iterator[None]:
    """Fits on the way need not converge and folds may have small classes: the last fit warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", ".*class\\(es\\)|.*row\\(s\\) have fewer", UserWarning)
        yield
