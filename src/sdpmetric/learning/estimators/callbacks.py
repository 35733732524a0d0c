"""Fits and searches as scikit-learn's callbacks see them.

A fit is a task with a subtask for each step. A search is a task with a subtask for each setting,
and one for the last fit.

`sklearn.callback` is experimental and came with scikit-learn 1.9, so nothing else in the library
knows it. With an older scikit-learn, estimators have no `set_callbacks` and fits work without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Self, TypeVar, cast

from ..._support.progress import Stages, gap_watch
from ...problem.prior import Prior
from ...problem.result import Callback, Progress, Result
from ...spectraplex.factors import spectrum

try:
    import sklearn.callback as sklearn_callback
except ImportError:
    sklearn_callback = None

__all__ = ["CallbackSupportMixin", "FitTask", "SearchTask", "with_callbacks"]

F = TypeVar("F", bound=Callable[..., Any])


class _SilentTask:
    """A task without callbacks, which never asks to stop."""

    def subcontext(self, **_: Any) -> Self:
        return self

    def propagate_callback_context(self, _: Any) -> AbstractContextManager[None]:
        return nullcontext()

    def call_on_fit_task_begin(self, **_: Any) -> Self:
        return self

    def call_on_fit_task_end(self, **_: Any) -> bool:
        return False


class _WithoutCallbacks:
    """Replaces scikit-learn's mixin if scikit-learn has none."""

    def _init_callback_context(self, **_: Any) -> _SilentTask:
        return _SilentTask()


CallbackSupportMixin: Any = (
    sklearn_callback.CallbackSupportMixin if sklearn_callback else _WithoutCallbacks
)


def with_callbacks(fit: F) -> F:
    """Let callbacks clean up after ``fit``, however it ends."""
    return cast(F, sklearn_callback.with_callbacks(fit)) if sklearn_callback else fit


class _Task:
    """A task of scikit-learn's callbacks, and the arguments that each of its calls takes."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, steps: Any) -> None:
        weights = None if sample_weight is None else {"sample_weight": sample_weight}
        self.context = {"estimator": estimator, "X": X, "y": y, "metadata": weights}
        self.columns: dict[str, Any] = {}  # attributes of the columns of X, once it is checked
        self.task = self._begin(estimator._init_callback_context(max_subtasks=steps))

    def _begin(self, task: Any) -> Any:
        return task.call_on_fit_task_begin(**self.context)


class FitTask(_Task):
    """Reports a fit to the estimator's callbacks, and stops the fit if they ask for it.

    The number of steps is not known in advance, so a progress bar shows that the fit runs, but not
    how far it is.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> None:
        super().__init__(estimator, X, y, sample_weight, None)
        self.step: Any = None
        self.stopped = False
        # Of the fit, once they are learned: the metric of a step needs both.
        self.coordinates: Any = None
        self.prior: Prior | None = None

    @property
    def callback(self) -> Callback | None:
        """A callback for the solver; None if the estimator has none, which then costs nothing."""
        estimator = self.context["estimator"]
        return self._next if hasattr(estimator, "_skl_callbacks") else estimator._watch

    def shown_in(
        self,
        stages: Stages | None,
        title: str,
        tol: float,
        run: Callable[[Callback | None], Result],
    ) -> Result:
        """Run a solver, which gets its callback, and show its gap as a stage of some work."""
        callback = self.callback
        if stages is None:
            return run(callback)
        show = stages.stage(title)
        watch = gap_watch(show, tol)

        def both(now: Progress) -> object:
            watch(now)
            return None if callback is None else callback(now)

        result = run(both)
        if result.converged:  # the last certificate comes after the last callback
            show(1.0, 1.0, f"gap {result.gap:.0e} (aim {tol:.0e})")
        return result

    def end(self) -> None:
        """End the task; the estimator must have its fitted attributes."""
        # The last step first: tasks are nested. A step is open unless a callback stopped the fit.
        for task in (self.step, self.task):
            if task is not None:
                task.call_on_fit_task_end(**self.context, reconstruction_attributes={})

    def _next(self, now: Progress) -> bool:
        """End the step before, if there is one, and begin the next."""
        if self.step is not None:
            # A function: scikit-learn calls it only for callbacks that look at the metric.
            self.stopped = self.step.call_on_fit_task_end(
                **self.context, reconstruction_attributes=lambda: self._metric(now)
            )
        self.step = None if self.stopped else self._begin(self.task.subcontext(task_name="step"))
        return self.stopped

    def _metric(self, now: Progress) -> dict[str, Any]:
        """Fitted attributes of the metric at this step, made only if a callback asks for them."""
        assert self.prior is not None  # set before the first step
        whole = spectrum(now.factor(), self.prior.mix, self.context["estimator"].n_components)
        return self.columns | {
            "components_": self.coordinates.back(whole.components),
            "coordinates_": self.coordinates,
            "eigenvalues_": whole.eigenvalues,
            "retained_": whole.retained,
            "objective_": now.objective,
            "gap_": now.gap,
        }


class SearchTask(_Task):
    """Reports a search to its callbacks: each setting that it tries, and the last fit.

    A progress bar knows the number of settings. Callbacks get no metric before the last fit,
    because the metrics of the search belong to splits.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> None:
        super().__init__(estimator, X, y, sample_weight, 2)  # the search and the last fit
        self.search: Any = None
        self.setting: Any = None

    def begin(self, total: int) -> None:
        """Begin the search, and with it the first of ``total`` settings."""
        self.search = self._begin(self.task.subcontext(task_name="search", max_subtasks=total))
        self.setting = self._begin(self.search.subcontext(task_name="setting"))

    def tried(self, done: int, total: int) -> bool:
        """End a setting and begin the next, unless a callback asks to stop."""
        stop = bool(self.setting.call_on_fit_task_end(**self.context))
        more = not stop and done < total
        self.setting = self._begin(self.search.subcontext(task_name="setting")) if more else None
        return stop

    @contextmanager
    def last_fit(self, metric: Any) -> Iterator[None]:
        """End the search, and let callbacks that support it follow the fit of ``metric``."""
        # A setting is still open if Ctrl-C ended the search.
        for task in (self.setting, self.search):
            if task is not None:
                task.call_on_fit_task_end(**self.context)
        last = self.task.subcontext(task_name="last fit")
        with last.propagate_callback_context(metric):
            self._begin(last)
            try:
                yield
            finally:  # Ctrl-C comes this way too
                last.call_on_fit_task_end(**self.context)

    def end(self) -> None:
        """End the task; the estimator must have its fitted attributes."""
        self.task.call_on_fit_task_end(**self.context, reconstruction_attributes={})
