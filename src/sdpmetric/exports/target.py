"""What all exports share: whose components, and which package."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .._typing import Floats
from ..metric import MetricMixin

__all__ = ["components_of", "needed"]


def components_of(metric: Any) -> Floats:
    """The (k, D) map of a fitted metric."""
    if not isinstance(metric, MetricMixin):
        raise ValueError(
            f"metric must be a fitted metric such as SDPMetric, got {type(metric).__name__} "
            "(whole pipelines can be exported to ONNX)."
        )
    check_is_fitted(metric)
    return metric.components_


def needed(package: str, what: str, install: str) -> Any:
    """An optional package, or how to get it."""
    if find_spec(package) is None:
        raise ImportError(f"{what} needs {package}: pip install {install}.")
    return import_module(package)
