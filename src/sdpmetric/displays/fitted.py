"""The learned metric inside of whatever was fitted: an estimator, a search, a pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._typing import Floats, Items
from ..metric import MetricMixin, validated

__all__ = ["Fitted", "fitted"]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A metric, and the steps that rows go through before it.

    ``metric`` maps the rows that it is given; ``learner`` is the `SDPMetric` or
    `TripletSDPMetric` that learned it, in the ``coordinates`` that a search chose.
    """

    steps: Any
    metric: Any

    @property
    def learner(self) -> Any:
        return self._last[1]

    def given(self, X: Any) -> Items:
        """Rows as the metric is given them: Euclidean distances between these are "before"."""
        return validated(self.metric, X if self.steps is None else self.steps.transform(X))

    def mapped(self, rows: Items) -> Floats:
        """Rows that the metric is given, mapped by it: distances between these are "after"."""
        return np.asarray(rows @ self.metric.components_.T, dtype=np.float64)

    def learned_in(self, rows: Items) -> Items:
        """Rows that the metric is given, in the coordinates in which it was learned."""
        coordinates = self._last[0]
        return rows if coordinates is None else coordinates.forward(rows)

    def names(self, given: Any = None) -> list[str]:
        """Names of the metric's features."""
        D = self.metric.components_.shape[1]
        if given is not None:
            names = [str(name) for name in given]
            if len(names) != D:
                raise ValueError(f"feature_names must have {D} names, got {len(names)}.")
            return names
        if hasattr(self.metric, "feature_names_in_"):
            return [str(name) for name in self.metric.feature_names_in_]
        if hasattr(self.steps, "get_feature_names_out"):
            return [str(name) for name in self.steps.get_feature_names_out()]
        return [f"x{i}" for i in range(D)]

    @property
    def _last(self) -> tuple[Any, Any]:
        last = getattr(self.metric, "best_estimator_", self.metric)
        return (last[0], last[-1]) if isinstance(last, Pipeline) else (None, last)


def fitted(estimator: Any) -> Fitted:
    """What was learned by a metric, a search, or a pipeline or a grid search over one of them."""
    if isinstance(estimator, MetricMixin):
        check_is_fitted(estimator)
        return Fitted(None, estimator)
    if hasattr(estimator, "best_estimator_"):
        return fitted(estimator.best_estimator_)
    if isinstance(estimator, Pipeline):
        places = [i for i, (_, step) in enumerate(estimator.steps) if isinstance(step, MetricMixin)]
        if places:
            check_is_fitted(estimator[places[-1]])
            before = estimator[: places[-1]] if places[-1] else None
            return Fitted(before, estimator[places[-1]])
    raise ValueError(
        "estimator must be a fitted SDPMetric, TripletSDPMetric, a search for their settings, or a "
        f"pipeline that holds one, got {estimator!r}."
    )
