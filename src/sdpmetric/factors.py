"""Factors of M: ``M = P P' / ||P||_F^2`` and its principal rows."""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd

from ._typing import Floats

__all__ = ["principal", "unit"]

# A direction that carries less of the trace than this is rounding, not metric.
_NEGLIGIBLE = 1e-12


def unit(P: Floats) -> Floats:
    """P scaled to trace one."""
    return P / np.linalg.norm(P)


def principal(P: Floats) -> tuple[Floats, Floats]:
    """Rows L with ``L'L = P P' / ||P||_F^2``, orthogonal, longest first, and their squared norms.

    The sign of each row is fixed by its largest entry, so equal metrics give equal components.
    """
    U, s, _ = svd(unit(P), full_matrices=False, lapack_driver="gesdd")
    kept = s**2 > _NEGLIGIBLE
    U, s = U[:, kept], s[kept] / np.linalg.norm(s[kept])
    largest = np.argmax(np.abs(U), axis=0)
    signs = np.sign(U[largest, np.arange(len(s))])
    return (U * (signs * s)).T, s**2
