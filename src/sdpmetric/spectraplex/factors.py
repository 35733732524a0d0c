"""Factors of M: turn the factor P of a solver into the components that users get."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.linalg import svd

from .._support.typing import Floats

__all__ = ["NEGLIGIBLE", "Spectrum", "principal", "spectrum", "unit"]

Pair: TypeAlias = tuple[Floats, Floats]  # eigenvectors as columns, eigenvalues descending

# A direction that carries less of the trace than this is rounding. Not 1e-12: in columns of large
# units far smaller shares still change distances, and solvers have dropped idle directions already.
NEGLIGIBLE = 1e-28


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
    """Return P scaled so that ``P P'`` has trace one."""
    return P / np.linalg.norm(P)


def principal(P: Floats) -> tuple[Floats, Floats]:
    """Return eigenvectors U and eigenvalues e, descending, of ``P P' / ||P||_F^2``."""
    # An SVD of P and not eigh of P P', which would lose eigenvalues below 1e-16.
    U, s, _ = svd(unit(P), full_matrices=False)
    kept = s**2 > NEGLIGIBLE
    return U[:, kept], s[kept] ** 2 / np.sum(s[kept] ** 2)


def spectrum(
    P: Floats, mix: Callable[[Floats, Floats, int | None], Pair] | None = None, k: int | None = None
) -> Spectrum:
    """Return the spectrum of ``M = P P' / ||P||_F^2``, cut to k directions if k is given.

    ``mix`` adds a prior to the eigenvectors and eigenvalues before the cut.
    """
    U, e = principal(P)
    if mix is not None:
        U, e = mix(U, e, k)
    rows = len(e) if k is None else k
    U, kept = U[:, :rows], e[:rows]
    retained = float(min(1.0, kept.sum()))
    components = np.zeros((rows, len(P)))
    components[: len(kept)] = (_oriented(U) * np.sqrt(kept / kept.sum())).T
    return Spectrum(components, e, retained)


def _oriented(U: Floats) -> Floats:
    """Fix the sign of each column by its largest entry, so that equal metrics give equal rows."""
    largest = np.argmax(np.abs(U), axis=0)
    signs: Floats = np.sign(U[largest, np.arange(U.shape[1])])
    return U * signs
