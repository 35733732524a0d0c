"""How many BLAS threads a fit may use."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sdpmetric.threads import blas_threads


def blas() -> set[int]:
    """The threads of NumPy's BLAS; other libraries bring their own."""
    home = str(Path(np.__file__).parent.parent / "numpy")
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {pool["num_threads"] for pool in pools if pool["filepath"].startswith(home)}


@pytest.mark.parametrize(
    ("n_jobs", "work", "expected"),
    [
        (1, 1e12, 1),
        (2, 1.0, 2),
        (None, 1.0, 1),  # small products are not worth a second thread
        (None, 1e12, 2),  # large ones are left alone
        (-1, 1.0, os.cpu_count() or 1),
    ],
)
def test_threads(n_jobs: int | None, work: float, expected: int) -> None:
    with threadpool_limits(2, "blas"):
        with blas_threads(n_jobs, work):
            assert blas() == {expected}
        assert blas() == {2}
