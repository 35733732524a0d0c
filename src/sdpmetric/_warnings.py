"""Warnings that point at the user's line, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn"]


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the first frame outside this package and scikit-learn's wrappers."""
    level, frame = 1, sys._getframe(1)
    inside = ("sdpmetric.", "sklearn.", "joblib.")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
