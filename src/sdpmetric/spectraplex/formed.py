"""Leading eigenpairs of a matrix that was formed, and a bound proven by a Cholesky factorisation.

If the factorisation of a matrix B of n rows succeeds in floating point, B plus a matrix of a norm
of at most ``gamma_(n+1) / (1 - gamma_(n+1)) trace B`` is psd, whatever the order of the sums (S. M.
Rump, "Verification of positive definiteness", BIT 46 (2006) 433-452). So a factor of ``b I - A``
proves that A has no eigenvalue beyond b plus that. The eigenvalues themselves are no proof: a
solver for a part of the spectrum can miss a tight cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh

from .._support.deadline import Deadline, OutOfTimeError
from .._support.memory import available_memory
from .._support.typing import Floats
from ..linalg.gram import gamma

__all__ = ["LIMIT", "Formable", "Forming", "cholesky_bound", "leading_pairs", "top_of_spectrum"]

LIMIT = 8192  # 512 MB for the matrix, and up to three times that for its decomposition
# The columns that the Krylov method may multiply: to form and decompose G takes as long as D / 4 to
# D / 2 of them (docs/performance.md). With fewer than the least, the difference is seconds.
_SHARE, _LEAST = 4, 512
_PROBE = 64  # columns of the product that is timed
# A decomposition takes as long as products with so many columns per row of the matrix: measured on
# one core, 4,096 rows, and rounded up.
_PRODUCTS = 4.0
# Arrays of the size of the matrix that exist at once: itself, LAPACK's copy and its work.
_COPIES = 4


@runtime_checkable
class Formable(Protocol):
    """A symmetric matrix that may be formed for less than its products with all unit vectors."""

    @property
    def may_form(self) -> bool:
        """Whether it is so, and `formed` may be called."""

    def formed(self, check: Callable[[], None], /) -> tuple[Floats, float]:
        """The matrix, symmetric in every bit, and a bound of its rounding in the spectral norm.

        ``check`` is called from time to time and may raise an exception.
        """


class Forming:
    """The way of an oracle to decompose a matrix that is too expensive for the Krylov method.

    Attributes
    ----------
    limit : the largest dimension
    budget : the columns that the Krylov method may multiply
    active : whether that was too few, so that matrices are formed
    seconds : how long it took the last time
    """

    def __init__(self, dimension: int, limit: int) -> None:
        self.dimension, self.limit = dimension, limit
        self.budget = max(_LEAST, dimension // _SHARE)
        self.active, self.seconds = False, 0.0

    def allows(self, G: object) -> TypeGuard[Formable]:
        """Whether this matrix may be formed."""
        return self.dimension <= self.limit and isinstance(G, Formable) and G.may_form

    def pairs(
        self, G: object, k: int, tol: float, deadline: Deadline
    ) -> tuple[Floats, Floats, float] | None:
        """Return k leading eigenvalues and vectors of G, and a bound of its largest eigenvalue.

        None if there is too little time or memory, if no eigenvalue is positive, or if rounding
        leaves the bound beyond the largest one by more than a share ``tol`` of it, unless that is
        zero.
        """
        if not self.allows(G) or deadline.left < self.seconds:
            return None
        if _COPIES * 8.0 * self.dimension**2 > available_memory()[0]:
            return None
        began = deadline.seconds
        try:
            A, rounding = G.formed(deadline.check)
        except OutOfTimeError:
            return None
        more = _seconds(A, deadline)
        self.seconds = deadline.seconds - began + more
        if more > deadline.left:
            return None
        values, vectors, bound = leading_pairs(A, k)
        self.seconds, bound = deadline.seconds - began, bound + rounding
        if not (values[0] > 0.0 and np.isfinite(bound)):
            return None
        # With a tolerance of zero only the vectors are wanted: any proven bound will do.
        if tol > 0.0 and not bound - values[0] <= tol * values[0]:
            self.limit = 0  # rounding would be the same the next time
            return None
        return values, vectors, bound


def leading_pairs(A: Floats, k: int) -> tuple[Floats, Floats, float]:
    """Return the k leading eigenpairs of a symmetric array, and a proven bound of its largest."""
    n = len(A)
    found = top_of_spectrum(A, min(k, n))
    bound = None if found is None else cholesky_bound(A, float(found[0][-1]))
    if found is None or bound is None:
        found = eigh(A, driver="evd", check_finite=False)
        bound = cholesky_bound(A, float(found[0][-1]))
    values, V = found
    bound = np.inf if bound is None else bound
    return values[: -k - 1 : -1], V[:, : -k - 1 : -1], bound


def top_of_spectrum(
    A: Floats, k: int, *, check_finite: bool = False
) -> tuple[Floats, Floats] | None:
    """Return the k largest eigenvalues, ascending, and their vectors; None if LAPACK fails.

    Its solver for a part of the spectrum can come back without a tight cluster (seen with OpenBLAS
    on an AMD EPYC), or with an internal error. The one for the whole spectrum has no such case.
    """
    n = len(A)
    try:
        values, V = eigh(A, subset_by_index=[n - k, n - 1], check_finite=check_finite)
    except LinAlgError:
        return None
    return (values, V) if len(values) == k else None


def cholesky_bound(A: Floats, top: float) -> float | None:
    """Return a number that no eigenvalue of A exceeds, by rounding above ``top``; None: none found.

    ``top`` is meant to be the largest eigenvalue, computed in floating point.
    """
    B, unit = -A, gamma(len(A) + 2)
    diagonal = np.einsum("ii->i", B)
    diagonal += top
    trace = float(np.abs(diagonal).sum()) + abs(top)
    # For what the factorisation may lose, and for the rounding of `top`: of the distance of the
    # outermost eigenvalues, which the trace exceeds.
    shift = 2.0 * unit * trace
    diagonal += shift
    try:
        cholesky(B, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    # Twice, for the rounding of the diagonal and of this sum.
    return top + shift + 2.0 * unit * (trace + len(A) * shift)


def _seconds(A: Floats, deadline: Deadline) -> float:
    """Estimate how long a decomposition of A takes, by a product with a few columns."""
    began = deadline.seconds
    few: Floats = A @ A[:, :_PROBE]
    return (deadline.seconds - began) * _PRODUCTS * len(A) / len(few.T)
