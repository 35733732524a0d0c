"""Warnings that name the user's line, not the library's."""

from __future__ import annotations

import sys
import warnings


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the nearest line outside this package.

    scikit-learn and joblib wrap our methods, so their frames are passed over too. A fixed
    ``stacklevel`` would be wrong for one of the ways in: direct, in a pipeline, in a search.
    """
    level, frame = 1, sys._getframe(1)
    inside = ("sdpmetric.", "sklearn.", "joblib.")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
