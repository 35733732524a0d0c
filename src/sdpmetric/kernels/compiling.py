"""How loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["FLAGS", "compiled", "strictly"]

FLAGS = {"reassoc", "contract", "nsz", "arcp", "nnan"}  # infinities keep their meaning


def compiled(function: Callable[..., Any], flags: set[str] | bool = FLAGS) -> Any:
    """Compile at the first call, and keep the machine code beside the source if possible."""
    options: dict[str, Any] = {"nogil": True, "fastmath": flags, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written to: compiled anew in every process
        return numba.njit(**options)(function)


def strictly(function: Callable[..., Any]) -> Any:
    """Compile what stores a number for each entry: rounded alike wherever the arrays may lie.

    A loop is compiled twice, in vectors and one by one; addresses have a say in which of them runs.
    """
    return compiled(function, flags=False)
