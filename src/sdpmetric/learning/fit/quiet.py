"""Silence warnings of fits to parts of the data, where the fit to all of it warns."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning

__all__ = ["quiet"]


@contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings about convergence and small classes; the last fit warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", ".*class\\(es\\)|.*row\\(s\\) have fewer", UserWarning)
        yield
