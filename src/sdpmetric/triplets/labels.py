"""Check class labels and number the classes 0, 1, ..."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._support.typing import Ints

__all__ = ["as_labels"]


def as_labels(y: Any) -> tuple[npt.NDArray[Any], Ints]:
    """Return the classes, and the class of each row as a number 0, 1, ..."""
    # Imported late: importing this module must not load scikit-learn.
    from sklearn.utils.multiclass import check_classification_targets

    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must have one label per row, got shape {y.shape}.")
    try:
        # Whole numbers and words are classes. Only other kinds need a closer look, which takes
        # longer than all else here.
        if y.dtype.kind not in "biuU":
            check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold one class label per row, all of a kind. {error}") from None
    if len(classes) < 2:
        raise ValueError(f"y has 1 class ({classes.tolist()[0]!r}), expected at least two.")
    return classes, codes.astype(np.int64)
