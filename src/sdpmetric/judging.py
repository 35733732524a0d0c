"""Which answers a metric predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .inputs import as_items, as_triplets
from .products import squared_differences
from .responses import Responses

__all__ = ["right_answers"]


def right_answers(
    X: Any, responses: Responses, metric: Any, name: str = "metric"
) -> npt.NDArray[np.bool_]:
    """Whether each triplet's near item is strictly nearer than its far one; None: as X stands."""
    if not isinstance(responses, Responses):
        raise ValueError(f"responses must be Responses, got {type(responses).__name__}.")
    if metric is not None:
        if not hasattr(metric, "transform"):
            raise ValueError(f"{name} must be None or have a transform method, got {metric!r}.")
        # In float64 where the metric offers it, so that shares are those of metric.score.
        X = getattr(metric, "transform_array", metric.transform)(X)
    items = as_items(X)
    anchor, near, far = as_triplets(responses.triplets, items.shape[0]).T
    right: npt.NDArray[np.bool_] = squared_differences(items, anchor, far) > squared_differences(
        items, anchor, near
    )
    return right
