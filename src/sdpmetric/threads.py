"""How many BLAS threads a fit may use."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext

from threadpoolctl import threadpool_limits

__all__ = ["blas_threads"]

# Below this many multiplications in a product with X, handing work to a second thread costs more
# than it saves, and much more where another process wants the core.
_WORTHWHILE = 1e8


def blas_threads(n_jobs: int | None, work: float) -> AbstractContextManager[object]:
    """Limit BLAS to ``n_jobs`` threads (-1: all cores); None decides by the size of a product."""
    if n_jobs is None:
        if work >= _WORTHWHILE:
            return nullcontext()
        n_jobs = 1
    limit = n_jobs if n_jobs > 0 else os.cpu_count() or 1
    limited: AbstractContextManager[object] = threadpool_limits(limit, "blas")
    return limited
