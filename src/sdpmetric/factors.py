"""Factors of M: from what a solver moves to the rows that users multiply with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, qr, svd

from ._typing import Floats

__all__ = ["Spectrum", "principal", "spectrum", "unit"]

# A direction that carries less of the trace than this is rounding, not metric. (Columns in large
# units make far smaller shares than 1e-12 count; solvers have dropped what is idle.)
_NEGLIGIBLE = 1e-28


@dataclass(frozen=True, eq=False)
class Spectrum:
    """M by its eigenvectors.

    ``components`` (k, D) are the leading ones, each scaled by the root of its eigenvalue and all
    together to trace one; ``eigenvalues`` are those of the whole M; ``retained`` is the share of
    the trace that the components keep.
    """

    components: Floats
    eigenvalues: Floats
    retained: float


def unit(P: Floats) -> Floats:
    """P scaled to trace one."""
    return P / np.linalg.norm(P)


def principal(P: Floats) -> tuple[Floats, Floats]:
    """Orthonormal columns U and eigenvalues e, descending, of ``P P' / ||P||_F^2``."""
    U, s, _ = svd(unit(P), full_matrices=False)
    kept = s**2 > _NEGLIGIBLE
    return U[:, kept], s[kept] ** 2 / np.sum(s[kept] ** 2)


def spectrum(
    P: Floats, prior: str | Floats | None = None, t: float = 0.0, k: int | None = None
) -> Spectrum:
    """The spectrum of ``M = (1 - t) P P' / ||P||_F^2 + t M0``, cut to k directions if asked."""
    U, e = principal(P)
    if prior is not None and t > 0.0:
        if isinstance(prior, str):
            U, e = _with_identity(U, (1.0 - t) * e, t, len(P) if k is None else k)
        else:
            U, e = _decompose((1.0 - t) * (U * e) @ U.T + t * prior)
    rows = len(e) if k is None else k
    U, kept = U[:, :rows], e[:rows]
    retained = float(min(1.0, kept.sum()))
    components = np.zeros((rows, len(P)))
    components[: len(kept)] = (_oriented(U) * np.sqrt(kept / kept.sum())).T
    return Spectrum(components, e, retained)


def _with_identity(U: Floats, e: Floats, t: float, k: int) -> tuple[Floats, Floats]:
    """Add ``t I / D``: every direction outside U gets the same eigenvalue."""
    D, r = U.shape
    eigenvalues = np.full(D, t / D)
    eigenvalues[:r] += e
    if k > r:
        # Any basis of the rest will do; this one is made of coordinate axes as far as possible.
        U = np.hstack([U, qr(np.hstack([U, np.eye(D, min(D, k))]), mode="economic")[0][:, r:]])
    return U[:, :k], eigenvalues


def _decompose(M: Floats) -> tuple[Floats, Floats]:
    e, U = eigh(M)
    e, U = e[::-1], U[:, ::-1]
    kept = e > _NEGLIGIBLE
    return U[:, kept], e[kept] / e[kept].sum()


def _oriented(U: Floats) -> Floats:
    """Fix the sign of each column by its largest entry, so that equal metrics give equal rows."""
    largest = np.argmax(np.abs(U), axis=0)
    signs: Floats = np.sign(U[largest, np.arange(U.shape[1])])
    return U * signs
