"""What the searches share: grids in, the chosen settings out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from .._typing import Items
from .._warnings import warn
from ..callbacks import CallbackSupportMixin, SearchTask
from ..learner import MetricEstimator
from ..progress import shown
from ..result import Status
from ..settings import Settings
from ..threads import working
from ..validation import check_choice, check_integer, check_real
from .coordinates import COORDINATES, Coordinates, check_within
from .search import Ground, Lane, choose, n_settings, search

__all__ = ["Chooser"]

_BOUNDED = 1.25, 40.0  # 1/C is the least share of comparisons inside the margin
_UNBOUNDED = 0.3, 300.0
_WITHIN_BY_DEFAULT = 1024
_STEPS = 150  # evaluations of a fit on the way: one that needs more is judged as it is then


class Chooser(CallbackSupportMixin, MetricEstimator):
    """What the two searches share."""

    @abstractmethod
    def _grids(self, X: Items) -> dict[str, list[Any]]: ...

    def _settings(self) -> Settings:
        """Of the fits on the way: the grids fill in what they search over."""
        fields: dict[str, Any] = dict.fromkeys(("C", "h", "prior_weight"), None)
        names = [name for name in Settings.__dataclass_fields__ if name not in fields]
        return Settings(**fields, **{name: getattr(self, name) for name in names})

    def _checked_grids(self, X: Items) -> tuple[dict[str, list[Any]], Settings]:
        """Every grid a list, every value of it checked before any work."""
        grids = {name: _listed(name, values) for name, values in self._grids(X).items()}
        for value in grids["coordinates"]:
            check_choice("coordinates", value, COORDINATES)
            if value == "within":
                check_within(X)
        if not isinstance(self.prior, str) and grids["coordinates"] != ["raw"]:
            raise ValueError(
                "coordinates must be 'raw' with a prior that is given as an array, since it is "
                f"one of raw rows; got {grids['coordinates']!r}."
            )
        if self.prior is None:
            raise ValueError("prior must be 'identity' or an array: it is always a candidate.")
        grids["prior_weight"] = [t for t in grids["prior_weight"] if t != 1.0]  # tried anyway
        if not grids["prior_weight"]:
            raise ValueError("prior_weight must have a value below 1, or nothing is learned.")
        check_choice("search", self.search, ("stages", "product"))
        check_real("doubt", self.doubt, 0.0, closed=True)
        check_real("search_tol", self.search_tol, 0.0, 1.0)
        settings = replace(self._settings(), C=2.0)
        kinds = {kind == "all" for kind in grids.get("triplets", ["knn"])}
        for h, t, all_of_them in product(grids["h"], [*grids["prior_weight"], 1.0], kinds):
            chosen = replace(settings, h=h, prior_weight=t)
            for C in self._path(chosen):
                replace(chosen, C=C).check(X.shape[1], every_triplet=all_of_them)
        steps = min(self.max_iter, _STEPS)
        return grids, replace(settings, h=grids["h"][0], tol=self.search_tol, max_iter=steps)

    def _path(self, settings: Settings) -> list[float]:
        """The values of C that suit the loss, or those that were given."""
        return self._between(*(_BOUNDED if settings.bounded() else _UNBOUNDED))

    def _between(self, low: float, high: float) -> list[float]:
        if isinstance(self.Cs, (int, np.integer)) and not isinstance(self.Cs, bool):
            n = check_integer("Cs", self.Cs, 1)
            return [float(C) for C in np.geomspace(low, high, n)] if n > 1 else [low * 8.0]
        given = _listed("Cs", self.Cs)
        return sorted({check_real("Cs", C, 0.0) for C in given})

    def _choose(
        self,
        grids: dict[str, list[Any]],
        Cs_of: Callable[[Lane], Sequence[float]],
        grounds: Sequence[Ground],
        task: SearchTask,
        finals: Sequence[Callable[[], Ground]] = (),
    ) -> None:
        """Search, and set the attributes that tell of it."""
        whole = self.search == "product"
        total = n_settings(grids, whole) + len(finals)
        task.begin(total)
        with working(self.n_jobs), shown(self.progress, "settings tried") as bar:

            def report(done: int, total: int) -> bool:
                if bar is not None:
                    bar(done, total)
                return task.tried(done, total)

            table = search(grids, Cs_of, grounds, every=whole, finals=finals, report=report)
        if table.ended is not None:
            why = "Interrupted" if table.ended is Status.INTERRUPTED else "Stopped by a callback"
            warn(f"{why}: chosen among {table.n_tried} of {total} settings.", ConvergenceWarning)
        self.search_ended_ = table.ended
        rule = {"doubt": self.doubt, "one_standard_error": self.one_standard_error}
        self.best_index_ = choose(table, _simplicity, **rule)
        self.cv_results_ = table.results()
        self.n_splits_ = table.scores().shape[1]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        lane, C = list(table.rows)[self.best_index_]
        self.best_params_ = {"C": C, **dict(lane)}

    def _refit(self, metric: Any, task: SearchTask, X: Items, y: Any, **fit: Any) -> Self:
        kind = self.best_params_["coordinates"]
        coordinates = Coordinates(kind).fit(X, y)
        with task.last_fit(metric):
            metric.fit(coordinates.forward(X), y, **fit)
        self.best_estimator_ = metric if kind == "raw" else make_pipeline(coordinates, metric)
        self.components_ = coordinates.back(metric.components_)
        self.gap_, self.converged_, self.n_iter_ = metric.gap_, metric.converged_, metric.n_iter_
        task.end()
        return self

    def _best_settings(self) -> dict[str, Any]:
        """Parameters of the last fit, by name."""
        names = [n for n in Settings.__dataclass_fields__ if n not in self.best_params_]
        chosen = {n: v for n, v in self.best_params_.items() if n != "coordinates"}
        return {name: getattr(self, name) for name in names} | chosen

    def _coordinates(self, X: Items) -> Any:
        if self.coordinates is not None:
            return self.coordinates
        if not isinstance(self.prior, str):
            return ["raw"]
        if isinstance(X, np.ndarray) and X.shape[1] <= _WITHIN_BY_DEFAULT:
            return list(COORDINATES)
        return ["raw", "standard"]


def _listed(name: str, values: Any) -> list[Any]:
    """A grid as a list; a single value is a grid of one."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [values]
    listed = list(values)
    if not listed:
        raise ValueError(f"{name} must have at least one value, got an empty list.")
    return listed


def _simplicity(lane: Lane, C: float) -> tuple[Any, ...]:
    """Of two candidates the simpler sorts first."""
    given = dict(lane)
    return (
        -given["prior_weight"],
        COORDINATES.index(given["coordinates"]),
        given.get("n_rounds", 1),
        given.get("triplets", "knn") == "all",
        given.get("n_neighbors", 0) * given.get("n_impostors", 0),
        C,
    )
