"""The span of the compared differences, outside of which G is zero."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, svd

from .._support.typing import Floats

__all__ = ["span_basis"]


def span_basis(R: Floats, n_rows: int) -> Floats | None:
    """Return an orthonormal basis of the row space of R, or None if it is the whole space.

    ``R' R`` is the scatter of ``n_rows`` differences. The rank is that of R with columns of unit
    length, so that it does not depend on the units of the features: a column in millimetres beside
    one in light years is still a direction. Of R and not of R' R, whose rounding would hide
    directions below 1e-8 of the others; a bound that forgets one is no bound.
    """
    D = R.shape[1]
    lengths = np.linalg.norm(R, axis=0)
    live = np.flatnonzero(lengths > 0.0)
    _, s, Vt = svd(R[:, live] / lengths[live], full_matrices=False)
    kept = s > max(n_rows, D) * np.finfo(float).eps * s[0]
    if kept.sum() == D:
        return None
    basis = np.zeros((D, int(kept.sum())))
    if kept.sum() == len(live):
        basis[live, np.arange(len(live))] = 1.0
    else:
        basis[live] = qr(lengths[live, None] * Vt[kept].T, mode="economic")[0]
    return basis
