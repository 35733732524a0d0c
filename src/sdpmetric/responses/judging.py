"""Which of people's answers a metric predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..evaluation.answered import correct_answers
from ..linalg.items import as_items
from ..problem.checks import as_triplets
from ..problem.comparisons import Comparisons
from .responses import Responses


def predicted(
    X: Any, responses: Responses, metric: Any, name: str = "metric"
) -> npt.NDArray[np.bool_]:
    """Whether a metric gives the answer that each triplet records.

    Parameters
    ----------
    X : (n, D) items
    responses : Responses
    metric : a fitted metric, transformer or Pipeline; None: Euclidean distance
    name : the argument that ``metric`` is, for errors

    Returns
    -------
    (m,) one boolean per triplet; a tie is not a prediction
    """
    if not isinstance(responses, Responses):
        raise ValueError(f"responses must be Responses, got {type(responses).__name__}.")
    if metric is not None:
        if not hasattr(metric, "transform"):
            raise ValueError(f"{name} must be None or have a transform method, got {metric!r}.")
        # float64 where the metric offers it: the share is then that of metric.triplet_accuracy.
        X = getattr(metric, "transform_array", metric.transform)(X)
    items = as_items(X)
    triplets = as_triplets(responses.triplets, items.shape[0])
    return correct_answers(items, Comparisons.from_indices(triplets))
