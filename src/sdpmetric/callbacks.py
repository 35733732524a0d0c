"""A fit as scikit-learn's callbacks see it: a task, and in it a subtask for each step.

A search is a task with a subtask for each setting, and the last fit.

`sklearn.callback` is experimental, so nothing else in the library knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import sklearn.callback
from sklearn.callback import CallbackSupportMixin

from .factors import spectrum
from .result import Progress
from .solvers.monitor import Callback
from .validation import as_prior

__all__ = ["CallbackSupportMixin", "FitTask", "SearchTask", "with_callbacks"]

F = TypeVar("F", bound=Callable[..., Any])


def with_callbacks(fit: F) -> F:
    """Let callbacks clean up after ``fit``, however it ends."""
    return cast(F, sklearn.callback.with_callbacks(fit))


class FitTask:
    """Tells the estimator's callbacks of its fit, and the fit whether they want it to stop.

    How many steps there will be is not known before, so a progress bar shows that the fit goes on
    and not how far it is.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> None:
        weights = None if sample_weight is None else {"sample_weight": sample_weight}
        self.told = {"estimator": estimator, "X": X, "y": y, "metadata": weights}
        self.task = estimator._init_callback_context(max_subtasks=None)
        self.task.call_on_fit_task_begin(**self.told)
        self.step: Any = None
        self.stopped = False

    @property
    def callback(self) -> Callback | None:
        """For a solver; None where nobody listens, so that no time is spent on it."""
        learner = self.told["estimator"]
        return self._next if hasattr(learner, "_skl_callbacks") else learner._watch

    def end(self) -> None:
        """The estimator has its attributes."""
        for task in (self.step, self.task):
            if task is not None:
                task.call_on_fit_task_end(**self.told, reconstruction_attributes={})

    def _next(self, now: Progress) -> bool:
        """A solver calls before each step: one ends, unless it is the first, and one begins."""
        if self.step is not None:
            self.stopped = self.step.call_on_fit_task_end(
                **self.told, reconstruction_attributes=lambda: self._metric(now)
            )
        self.step = None if self.stopped else self.task.subcontext(task_name="step")
        if self.step is not None:
            self.step.call_on_fit_task_begin(**self.told)
        return self.stopped

    def _metric(self, now: Progress) -> dict[str, Any]:
        """Attributes of the metric as it is now, should a callback ask for one."""
        learner, factor = self.told["estimator"], now.factor()
        prior, t = as_prior(learner.prior, learner.prior_weight, len(factor))
        whole = spectrum(factor, prior, t, learner.n_components)
        return {
            "components_": whole.components,
            "eigenvalues_": whole.eigenvalues,
            "retained_": whole.retained,
            "objective_": now.objective,
            "gap_": now.gap,
        }


class SearchTask:
    """Tells a search's callbacks of the settings that it tries, and of its last fit.

    A progress bar knows how many settings there are. Metrics on the way are those of splits, so
    none is shown to callbacks before the end.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> None:
        weights = None if sample_weight is None else {"sample_weight": sample_weight}
        self.told = {"estimator": estimator, "X": X, "y": y, "metadata": weights}
        self.task = estimator._init_callback_context(max_subtasks=2)
        self.task.call_on_fit_task_begin(**self.told)
        self.search: Any = None
        self.setting: Any = None

    def begin(self, total: int) -> None:
        """The search, and with it the first of so many settings."""
        self.search = self._begun(self.task.subcontext(task_name="search", max_subtasks=total))
        self.setting = self._begun(self.search.subcontext(task_name="setting"))

    def tried(self, done: int, total: int) -> bool:
        """A setting ends and the next begins, unless a callback asks to stop."""
        stop = bool(self.setting.call_on_fit_task_end(**self.told))
        more = not stop and done < total
        self.setting = self._begun(self.search.subcontext(task_name="setting")) if more else None
        return stop

    @contextmanager
    def last_fit(self, metric: Any) -> Iterator[None]:
        """The search has ended, perhaps within a setting; callbacks that wish to go on to the fit
        of ``metric`` do.
        """
        for task in (self.setting, self.search):
            if task is not None:
                task.call_on_fit_task_end(**self.told)
        last = self.task.subcontext(task_name="last fit")
        with last.propagate_callback_context(metric):
            self._begun(last)
            yield
        last.call_on_fit_task_end(**self.told)

    def end(self) -> None:
        """The estimator has its attributes."""
        self.task.call_on_fit_task_end(**self.told, reconstruction_attributes={})

    def _begun(self, task: Any) -> Any:
        return task.call_on_fit_task_begin(**self.told)
