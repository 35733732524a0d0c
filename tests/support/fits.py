"""A fit whose result is one word, for processes and threads that must all find the same bits."""

from __future__ import annotations

import hashlib
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sdpmetric import SDPMetric
from tests.support.problems import labelled

__all__ = ["digest", "rows", "short", "word"]


def rows() -> tuple[Any, Any]:
    """Rows enough for several threads to get a part."""
    return labelled(np.random.default_rng(3), 1200, 24, 5)


def short(**settings: Any) -> SDPMetric:
    """A metric whose fit is short and uses two threads."""
    return SDPMetric(**{"n_jobs": 2, "max_iter": 12, "n_rounds": 1, "n_neighbors": 3} | settings)


def word(metric: Any) -> str:
    """The bits of a fitted metric."""
    numbers = (metric.components_, metric.eigenvalues_, metric.history_["objective"])
    data = b"".join(np.ascontiguousarray(n).tobytes() for n in numbers)
    text = f"{metric.objective_!r} {metric.upper_bound_!r} {metric.gap_!r} {metric.n_iter_}"
    return hashlib.sha256(data + text.encode()).hexdigest()


def digest(n_jobs: int = 2, **settings: Any) -> str:
    """Fit, and return the bits of the metric."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return word(short(n_jobs=n_jobs, **settings).fit(*rows()))
