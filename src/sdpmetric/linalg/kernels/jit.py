"""Compile loops with Numba: options and cache.

A negative index counts from the end, also in compiled code: a check at each access, which can keep
a loop from being vectorised. Loops that run from 0 on and unsigned indices have no such check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["FLAGS", "jit", "jit_reproducible"]

# LLVM's fast flags without "ninf": a distance that is not known yet is infinite, as is the reach of
# a missing target. ("afn", too, is left out: no loop calls a function that it would speed up.)
FLAGS = {"reassoc", "contract", "nsz", "arcp", "nnan"}


def jit(function: Callable[..., Any], flags: set[str] | bool = FLAGS) -> Any:
    """Compile a function at its first call; cache the machine code on disk if possible."""
    options: dict[str, Any] = {"nogil": True, "fastmath": flags, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written to: compiled again in each process
        return numba.njit(**options)(function)


def jit_reproducible(function: Callable[..., Any]) -> Any:
    """Compile a function whose results must not depend on the addresses of its arrays.

    The compiler makes two versions of a loop, vectors and single numbers, and which of them takes
    an entry depends on addresses. With fast flags the two may round differently.
    """
    return jit(function, flags=False)
