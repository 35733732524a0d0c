"""What estimators share: settings in, attributes out."""

from __future__ import annotations

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from ._typing import Floats
from .callbacks import CallbackSupportMixin
from .metric import MetricMixin
from .result import Result
from .settings import Settings
from .solvers.monitor import Callback

__all__ = ["Learner", "MetricEstimator"]


class MetricEstimator(ClassNamePrefixFeaturesOutMixin, MetricMixin, BaseEstimator):
    """A metric as scikit-learn sees it: a supervised transformer, sparse rows welcome."""

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Learner(CallbackSupportMixin, MetricEstimator):
    """The base of an estimator whose parameters are, among others, the fields of `Settings`."""

    _watch: Callback | None = None  # told of every step; cheaper than scikit-learn's callbacks

    def _settings(self) -> Settings:
        return Settings(**{name: getattr(self, name) for name in Settings.__dataclass_fields__})

    def _start(self, n_features: int) -> Floats | None:
        factor: Floats | None = getattr(self, "_factor", None) if self.warm_start else None
        if factor is not None and len(factor) != n_features:
            raise ValueError(
                f"X has {n_features} features, but warm_start=True goes on from a fit with "
                f"{len(factor)}."
            )
        return factor

    def _take(self, result: Result) -> None:
        self._factor = result.factor
        self.components_ = result.components
        self.eigenvalues_ = result.eigenvalues
        self.retained_ = result.retained
        self.rho_ = result.rho
        self.objective_ = result.objective
        self.upper_bound_ = result.upper_bound
        self.gap_ = result.gap
        self.scale_ = result.scale
        self.status_ = result.status
        self.converged_ = result.converged
        self.n_iter_ = result.n_iter
        self.history_ = result.history
