"""Find the learned metric inside a fitted estimator, search or pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._support.typing import Floats
from ..linalg.items import Items
from ..persistence.certificate import last_fit
from .estimators.metric import MetricMixin
from .estimators.validate import validated


@dataclass(frozen=True, eq=False)
class Fitted:
    """A metric, and the pipeline steps that rows pass before it.

    Attributes
    ----------
    steps : fitted transformers before the metric; None: there are none
    metric : the metric; it maps the rows that `given` returns
    learner : the `SDPMetric` or `TripletSDPMetric` that learned the metric
    """

    steps: Any
    metric: Any

    @property
    def learner(self) -> Any:
        """The estimator of the last fit: the metric itself, or the one inside a search."""
        return last_fit(self.metric)[1]

    def given(self, X: Any) -> Items:
        """The rows that the metric receives; Euclidean distances between them are "before"."""
        rows = X if self.steps is None else self.steps.transform(X)
        checked: Items = validated(self.metric, rows)
        return checked

    def mapped(self, rows: Items) -> Items:
        """Rows of `given`, mapped by the metric; distances between them are "after"."""
        return rows.mapped(self.metric.components_, exact=True)

    def learned_in(self, rows: Items) -> tuple[Items, Floats]:
        """Rows of `given` in the coordinates of the fit, and the metric's components there."""
        # Margins and rho are in units of the fit: in raw coordinates they would not compare.
        coordinates = last_fit(self.metric)[0]
        components: Floats = self.metric.components_
        if coordinates is None:
            return rows, components
        return coordinates.forward(rows), coordinates.inward(components)

    def names(self, given: Any = None) -> list[str]:
        """Names of the metric's features: ``given``, those of the fit, or x0, x1, ..."""
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


def fitted(estimator: Any) -> Fitted:
    """Find the metric in an estimator.

    Parameters
    ----------
    estimator : a fitted metric, a search, or a pipeline or grid search that holds one
    """
    if isinstance(estimator, MetricMixin):
        check_is_fitted(estimator)
        return Fitted(None, estimator)
    # After our own searches, which are metrics themselves and cover raw rows.
    if hasattr(estimator, "best_estimator_"):
        return fitted(estimator.best_estimator_)
    if isinstance(estimator, Pipeline):
        # The last metric of a pipeline decides the distances that come out of it.
        places = [i for i, (_, step) in enumerate(estimator.steps) if isinstance(step, MetricMixin)]
        if places:
            check_is_fitted(estimator[places[-1]])
            before = estimator[: places[-1]] if places[-1] else None
            return Fitted(before, estimator[places[-1]])
    raise ValueError(
        "estimator must be a fitted SDPMetric, TripletSDPMetric, a search for their settings, or a "
        f"pipeline that holds one, got {estimator!r}."
    )
