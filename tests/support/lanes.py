"""The fast lane keeps a few of many parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["some"]


def some(values: Iterable[Any], fast: int) -> list[Any]:
    """The first few values as they are, the others for the slow lane."""
    listed = list(values)
    return [*listed[:fast], *(pytest.param(v, marks=pytest.mark.slow) for v in listed[fast:])]
