"""Base class of the searches: from grids to the chosen settings.

The `fit` of a subclass has five steps: check the data, `_checked_space`, make the splits, `_choose`
a candidate, `_refit` on all data. Fitted attributes are set at the end, all at once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from threading import Event
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._support.checks import check_choice, check_integer, check_real
from ..._support.deadline import Deadline
from ..._support.progress import is_function, shown
from ..._support.warnings import warn
from ...engines.threads import map_tasks, thread_pool
from ...linalg.items import Items
from ...problem.loss_arguments import as_loss, check_bounded, check_support
from ...problem.losses import Loss
from ...problem.prior import as_prior
from ...problem.result import Status
from ..estimators.base import MetricEstimator
from ..estimators.callbacks import CallbackSupportMixin, SearchTask
from ..estimators.certificate import CertificateOfLastFit
from ..estimators.coordinates import COORDINATES, check_within
from ..estimators.validate import set_fitted
from ..fit.checkpoint import problem_key
from ..fit.parameters import FitParameters, check_C
from ..fit.quiet import quiet
from .cells import Cells
from .choice import CheckedSpace, Choice
from .rule import choose
from .search import OnEach, Space, Split, in_turn, search
from .settings_bar import SettingsBar

__all__ = ["SearchEstimator", "for_this_fit"]

# Least and largest C by default. 1/C is the least share of comparisons inside the margin, here 80
# to 2.5 %; with slopes of at most 1 the objective is bounded only for C above 1.
_BOUNDED = 1.25, 40.0
_UNBOUNDED = 0.3, 300.0  # slopes grow without limit, so every C is possible
_ONE_C = 5.6  # a single C is this many times the least: with _BOUNDED 7, the default of SDPMetric
# Columns up to which "within" is tried by default: every split decomposes a D x D covariance.
_WITHIN_BY_DEFAULT = 1024
# Evaluations of a fit in the search. Most fits need fewer (benchmarks/README.md, bench-path: 20 to
# 100); one that needs more is scored as it is then.
_STEPS = 150
# Entries of a split whose fits are worth a thread: smaller fits are mostly Python.
_LARGE_SPLIT = 1 << 15
# The share of a time limit that the search may use; the rest is for the last fit.
_SEARCH_SHARE = 0.75
_ENDS = {
    Status.INTERRUPTED: "Interrupted",
    Status.STOPPED: "Stopped by a callback",
    Status.TIME_LIMIT: "Out of time",
    Status.OUT_OF_MEMORY: "Out of memory",
}


class SearchEstimator(CertificateOfLastFit, CallbackSupportMixin, MetricEstimator):
    """An estimator that chooses settings on held-out data, then makes one fit to all data."""

    @abstractmethod
    def _grids(self, X: Items) -> dict[str, Any]:
        """The values to try, by the names of the candidate's fields."""

    def _checked_space(self, X: Items, deadline: Deadline) -> CheckedSpace:
        """Turn every grid into a list and check its values, before any work.

        ``deadline`` has the moment from which ``time_limit`` counts.
        """
        D = X.shape[1]
        grids = {name: _as_list(name, values) for name, values in self._grids(X).items()}
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
        # The prior alone is tried in any case, once in each of the coordinates.
        weights = [as_prior(self.prior, t, D).weight for t in grids["prior_weight"]]
        grids["prior_weight"] = [t for t in weights if t != 1.0]
        if not grids["prior_weight"]:
            raise ValueError("prior_weight must have a value below 1, or nothing is learned.")
        check_choice("search", self.search, ("stages", "product"))
        check_real("doubt", self.doubt, 0.0, closed=True)
        tol = check_real("search_tol", self.search_tol, 0.0, 1.0)
        losses = {h: as_loss(self.loss, h) for h in grids["h"]}
        loss = losses[grids["h"][0]]
        path = self._path(loss)
        for C in path:
            check_C(C)
        kinds = grids.get("triplets", ["knn"])
        for tried in losses.values():
            if "all" in kinds:
                check_support(tried)
            # The path ascends, so its first C decides. All triplets have paths of their own.
            if "knn" in kinds:
                check_bounded(tried, path[0])
        # prior_weight 1 is the strictest case: with very many columns it needs n_components.
        chosen = {"C": path[0], "h": grids["h"][0], "prior_weight": 1.0}
        names = [f.name for f in fields(FitParameters) if f.name not in chosen]
        given = {name: getattr(self, name) for name in names}
        parameters = FitParameters(**given, **chosen)
        fit = parameters.resolve(D, deadline, all_triplets="knn" not in kinds)
        deadline, cancelled = fit.limits.deadline, Event()
        limits = replace(
            fit.limits,
            tol=tol,
            max_iter=min(fit.limits.max_iter, _STEPS),
            deadline=deadline.shortened(_SEARCH_SHARE),
            callback=lambda now: cancelled.is_set(),
        )
        fit = replace(fit, limits=limits)
        return CheckedSpace(grids, fit, losses, path, deadline, cancelled)

    def _path(self, loss: Loss) -> list[float]:
        """The values of C, ascending: the given ones, or a range that suits the loss."""
        low, high = _BOUNDED if np.isfinite(loss.max_slope) else _UNBOUNDED
        return self._between(low, high)

    def _between(self, low: float, high: float) -> list[float]:
        """The given values of C, or as many as asked for between two, evenly by ratio."""
        if isinstance(self.Cs, (int, np.integer)) and not isinstance(self.Cs, bool):
            n = check_integer("Cs", self.Cs, 1)
            return (
                [float(f"{C:.12g}") for C in np.geomspace(low, high, n)]
                if n > 1
                else [low * _ONE_C]
            )
        given = _as_list("Cs", self.Cs)
        return sorted({check_real("Cs", C, 0.0) for C in given})

    def _cells(
        self, checked: CheckedSpace, X: Items, splits: Sequence[Any], **data: Any
    ) -> Cells | None:
        """The finished cells of this search; None without a ``checkpoint``."""
        if self.checkpoint is None:
            return None
        seed = checked.fit.limits.seed
        # Its fits have a limit of their own.
        data["max_iter"] = checked.fit.limits.max_iter
        # The splits count, and not the object or generator that made them.
        with thread_pool(self.n_jobs):
            return Cells(
                self.checkpoint,
                lambda: problem_key(self, seed, X, cv=list(splits), **data),
                X.shape[1],
            )

    def _choose(
        self,
        space: Space,
        splits: Sequence[Split],
        checked: CheckedSpace,
        task: SearchTask,
        confirmation_splits: Sequence[Callable[[], Split]] = (),
        cells: Cells | None = None,
        *,
        split_size: float | None = None,
        sampled: bool = False,
    ) -> Choice:
        """Search among the candidates; those of ``cells`` are not tried again.

        ``split_size`` is the number of entries that a fit of a split reads. Splits are tried at the
        same time if it is large, and always in turn if it is None: then each uses all threads.
        ``sampled`` says that fits of the search have fewer comparisons than the last fit.
        """
        if cells is not None:
            splits = [cells.kept(split, i) for i, split in enumerate(splits)]
            confirmation_splits = [
                partial(cells.made, make, len(splits) + i)
                for i, make in enumerate(confirmation_splits)
            ]
        # A confirmation split counts as one setting: it tries a few candidates again.
        total = space.n_paths + len(confirmation_splits)
        task.begin(total)
        with (
            thread_pool(self.n_jobs) as n_threads,
            shown(self.progress) as stages,
            quiet(),
        ):
            on_each: OnEach = in_turn
            at_once = 1
            if split_size is not None:
                large = split_size >= _LARGE_SPLIT
                on_each = partial(map_tasks, interrupt=checked.cancelled.set, large=large)
                at_once = n_threads if large else 1
            bar = SettingsBar(stages, total)
            if not is_function(self.progress):  # a user's function counts whole settings
                on_each = bar.counting(on_each)

            def report(done: int, total: int) -> bool:
                bar.tried(done)
                return task.tried(done, total)

            try:
                table = search(
                    space,
                    splits,
                    checked.fit.limits.deadline,
                    confirmation_splits=confirmation_splits,
                    report=report,
                    on_each=on_each,
                    at_once=at_once,
                )
            finally:
                if cells is not None:
                    cells.flush()
        if table.ended is not None:
            warn(
                f"{_ENDS[table.ended]}: chosen among {table.n_tried} of {total} settings and the "
                "prior alone.",
                ConvergenceWarning,
            )
        index = choose(
            table,
            doubt=self.doubt,
            one_standard_error=self.one_standard_error,
            references=space.references(),
            sampled=sampled,
        )
        candidate, C = list(table.rows)[index]
        return Choice({"C": C, **candidate.settings()}, index, table)

    def _refit(
        self,
        metric: Any,
        choice: Choice,
        deadline: Deadline,
        task: SearchTask,
        X: Items,
        y: Any,
        cells: Cells | None,
        **fit: Any,
    ) -> Self:
        """Fit ``metric``, which has the chosen settings, to all data."""
        folder = None if cells is None else cells.last_fit(choice.params)
        # It learns its coordinates from all rows: in the search they saw training parts only.
        with for_this_fit(metric, checkpoint=folder):
            interrupted = self._last_fit(metric, task, deadline, X.raw, y, **fit)
        if cells is not None and choice.table.ended is None and metric.converged_:
            cells.finish()
        fitted = {"best_estimator_": metric, "components_": metric.components_}
        self._end(choice, task, interrupted, **fitted)
        return self

    def _last_fit(
        self, metric: Any, task: SearchTask, deadline: Deadline, X: Any, y: Any, **fit: Any
    ) -> bool:
        """Fit ``metric`` in the time that is left; returns whether Ctrl-C ended the fit."""
        # A limit must be positive. Without time a fit is one evaluation and its certificate.
        left = None if self.time_limit is None else max(deadline.left, 1e-9)
        try:
            with (
                task.last_fit(metric),
                for_this_fit(metric, time_limit=left, progress=self._progress_of_last_fit()),
            ):
                metric.fit(X, y, **fit)
        except KeyboardInterrupt:
            if not hasattr(metric, "components_"):
                raise  # nothing is certified yet
            return True
        return False

    def _progress_of_last_fit(self) -> Any:
        """A user's function counts settings alone."""
        return False if is_function(self.progress) else self.progress

    def _end(self, choice: Choice, task: SearchTask, interrupted: bool, **fitted: Any) -> None:
        """Set the fitted attributes; then raise KeyboardInterrupt again, if there was one."""
        set_fitted(self, task.columns, **choice.attributes(), **fitted)
        task.end()
        if interrupted or choice.table.ended is Status.INTERRUPTED:
            raise KeyboardInterrupt

    def _best_parameters(self, choice: Choice) -> dict[str, Any]:
        """Parameters of the last fit, by name."""
        names = [f.name for f in fields(FitParameters) if f.name not in choice.params]
        return {name: getattr(self, name) for name in names} | choice.params

    def _coordinates(self, X: Items) -> Any:
        """The coordinates to try: the given ones, or all that suit X and the prior."""
        if self.coordinates is not None:
            return self.coordinates
        if not isinstance(self.prior, str):
            return ["raw"]  # a given matrix is a metric on raw rows
        if not X.sparse and X.shape[1] <= _WITHIN_BY_DEFAULT:
            return list(COORDINATES)
        return ["raw", "standard"]


@contextmanager
def for_this_fit(metric: Any, **parameters: Any) -> Iterator[None]:
    """Set parameters of an estimator for one fit: they are not those that the user asked for."""
    before = {name: getattr(metric, name) for name in parameters}
    metric.set_params(**parameters)
    try:
        yield
    finally:
        metric.set_params(**before)


def _as_list(name: str, values: Any) -> list[Any]:
    """A grid as a list; a single value is a grid of one."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [values]
    listed = list(values)
    if not listed:
        raise ValueError(f"{name} must have at least one value, got an empty list.")
    return listed
