"""Leading eigenpairs by a block Krylov method, and a bound that holds for the whole matrix.

A Ritz value under-estimates the largest eigenvalue, and its residual only says that *some*
eigenvalue is near: a direction that the block never contained may have a larger one. So the Ritz
vectors X are half of a proof. The other half is a bound ``beta`` of G on the complement of X, by
Lanczos processes from Gaussian vectors (see `lanczos`). With ``E = G X - X diag(values)``,

    G  <=  [[diag(values), E'], [E, beta I]]

in a basis that begins with X, and the right-hand side has no eigenvalue beyond m if
``(m - beta) diag(m - values) - E'E`` is positive definite: residuals count by their squares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, qr

from .._support.deadline import Deadline
from .._support.typing import Floats
from .lanczos import Lanczos

__all__ = ["BLOCK", "FAILURE", "certified_pairs", "orthonormal"]

BLOCK = 24  # columns of a Krylov block, at least
_KRYLOV = 160  # columns between restarts, at least
_RESTARTS = 60
_SHARE = 0.05  # the share of a gap to which it must be known (docs/performance.md, "still slow")
# The probability that a bound is too low. A fit makes tens of bounds: 1e-9 for all together leaves
# room for a thousand.
FAILURE = 1e-12
# Gaussian vectors of a proof. With half as many each process needs half as many steps more, and
# products with eight columns cost little more than with four.
_GAUSSIANS = 8
_STEPS = 120  # of a process; most proofs take less than ten
_LOOK_EVERY = 3  # steps between two looks at a proof
_PROOFS = 5  # attempts, each with the directions that the one before showed to be missing
_BISECTIONS = 20

Times = Callable[[Floats], Floats]
_EPS = float(np.finfo(float).eps)
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Ritz:
    """Ritz pairs of G, largest first: all values; leading vectors X, ``GX`` and residuals E."""

    values: Floats
    X: Floats
    GX: Floats
    E: Floats
    rounding: float

    @classmethod
    def of(cls, V: Floats, W: Floats, width: int) -> Ritz:
        """Make the Ritz pairs of an orthonormal basis V with ``W = G V``."""
        T = V.T @ W
        values, Y = eigh(0.5 * (T + T.T))
        values, Y = values[::-1], Y[:, ::-1][:, :width]
        X, GX = V @ Y, W @ Y
        # T is symmetric except for the rounding of products.
        rounding = float(np.linalg.norm(T - T.T)) + len(V) * _EPS * float(np.abs(values).max())
        return cls(values, X, GX, GX - X * values[: Y.shape[1]], rounding)

    def exact_enough(self, goal: float, reached: float) -> float:
        """Return a bound that need not be better: a share of the size or of the gap beyond it."""
        top, size = float(self.values[0]), float(np.abs(self.values).max())
        return top + max(goal * size, _SHARE * (top - reached), 2.0 * self.rounding, _TINY)

    def split(self, m: float) -> tuple[int, bool]:
        """Return how many vectors to keep for a proof of m, and whether it is likely to succeed.

        Each vector kept leaves less outside, and its residual couples it to what is outside.
        """
        D, width = self.X.shape
        if width == D:
            return D, True  # nothing is outside
        coupling = np.cumsum(np.sum(self.E**2, axis=0) / (m - self.values[:width]))
        outside = np.append(self.values, self.values[-1])[1 : width + 1]
        room = m - outside
        kept = int(np.argmax(room - coupling))
        return kept + 1, bool(coupling[kept] <= 0.5 * room[kept])


def certified_pairs(
    times: Times,
    start: Floats,
    k: int,
    rng: np.random.Generator,
    *,
    goal: float,
    reached: float,
    deadline: Deadline,
) -> tuple[Floats, Floats, float]:
    """Return the k leading Ritz values and vectors of G, and a bound of its largest eigenvalue.

    A start that is as wide as the top cluster sees all of it; it decides about speed alone.

    Parameters
    ----------
    times : V to G V
    start : the first block
    k : number of pairs
    rng : for the Gaussian vectors of proofs; the matrix and the start must not depend on it
    goal, reached : the bound may exceed the largest value by a share ``goal`` of the largest
        absolute value, or by a share of its distance from ``reached``
    deadline : from then on the first bound that holds is enough, however loose
    """
    V = orthonormal(start)
    W, width = times(V), V.shape[1]
    bound, proofs = np.inf, 0
    for restart in range(1, _RESTARTS + 1):
        # 1. Leading Ritz vectors, and the bound m to prove.
        ritz = Ritz.of(V, W, width)
        m = ritz.exact_enough(goal, reached)
        kept, likely = ritz.split(m)
        # 2. Too early for a proof: extend the basis, after a restart if it has its full size.
        if not likely and restart < _RESTARTS and not deadline.over:
            if V.shape[1] >= _full(width):
                width = _widened(ritz, width)
                V, W = ritz.X, ritz.GX
            known = V.shape[1]
            V, W = _extended(times, V, W, width, deadline)
            if V.shape[1] > known:
                continue
        # 3. Exact enough, or V is invariant, or time is up: prove m, or as much as possible.
        found, outside = _prove(times, ritz, kept, m, rng, deadline)
        bound, proofs = min(bound, found), proofs + 1
        if outside is None or proofs == _PROOFS or deadline.over:
            break
        # 4. Go on with the directions in which the proof saw more than is in V.
        new = orthonormal(outside, ritz.X)
        V, W = np.hstack([ritz.X, new]), np.hstack([ritz.GX, times(new)])
    # G X is parallel to X and in the range of G; vectors of a proof have parts outside.
    X, GX = ritz.X[:, :k], ritz.GX[:, :k]
    lengths = np.linalg.norm(GX, axis=0)
    vectors = np.where(lengths > 0.0, GX / np.maximum(lengths, _TINY), X)
    return ritz.values[: X.shape[1]], vectors, bound


def _full(width: int) -> int:
    """Return the columns of a basis before a restart."""
    return max(_KRYLOV, 2 * width)


def _widened(ritz: Ritz, width: int) -> int:
    """Double the block if half of it crowds at the top: the cluster may be wider than it."""
    size = float(np.abs(ritz.values).max())
    crowd = int(np.sum(ritz.values > ritz.values[0] - 0.02 * size))
    return 2 * width if width // 2 < crowd and width < _KRYLOV // 3 else width


def _extended(
    times: Times, V: Floats, W: Floats, width: int, deadline: Deadline
) -> tuple[Floats, Floats]:
    """Extend a basis V, and ``W = G V``, by G times its last block until it has its full size."""
    while V.shape[1] < _full(width) and not deadline.over:
        new = orthonormal(W[:, -width:], V)
        if new.shape[1] == 0:
            break  # V is invariant
        V, W = np.hstack([V, new]), np.hstack([W, times(new)])
    return V, W


def _prove(
    times: Times, ritz: Ritz, kept: int, m: float, rng: np.random.Generator, deadline: Deadline
) -> tuple[float, Floats | None]:
    """Return a bound of the largest eigenvalue, and None if it is m, up to rounding, or less.

    If it is more, vectors that are rich in what lies outside the kept Ritz vectors.
    """
    X, E, values = ritz.X[:, :kept], ritz.E[:, :kept], ritz.values[:kept]
    D = len(X)
    if kept == D:
        return float(values[0]) + ritz.rounding, None

    def outside(V: Floats) -> Floats:
        W = times(V)
        return W - X @ (X.T @ W)

    # Gaussian in the complement of X, since X does not depend on these numbers.
    gaussian = rng.standard_normal((D, _GAUSSIANS))
    for _ in range(2):
        gaussian -= X @ (X.T @ gaussian)
    process, K = Lanczos(outside, gaussian, FAILURE), E.T @ E
    roots = np.sqrt(m - values)
    level = m - float(eigh(K / np.outer(roots, roots), eigvals_only=True)[-1])
    noise, proven = np.inf, False
    for step in range(1, _STEPS + 1):
        process.step()
        if step % _LOOK_EVERY == 0:
            noise = ritz.rounding + process.rounding
            overlaps = process.overlaps(level, noise)
            proven = bool(np.all(overlaps < process.least))
            # Proven, or the level is known to be too low, or there is no time for more.
            if proven or np.isinf(overlaps).any() or deadline.over:
                break
    bound = _combined(values, K, process.bound(noise), m) + noise
    return bound, None if proven else np.hstack(process.vectors)


def _combined(values: Floats, K: Floats, beta: float, m: float) -> float:
    """Return a bound of G from its Ritz values, ``K = E'E`` and a bound outside; m if it is one."""
    low = max(float(values[0]), beta)

    def proven(m: float) -> bool:
        try:
            np.linalg.cholesky((m - beta) * np.diag(m - values) - K)
        except np.linalg.LinAlgError:
            return False
        return True

    high = m if m > low and proven(m) else low + float(np.sqrt(np.trace(K)))
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if proven(middle) else (middle, high)
    return high


def orthonormal(A: Floats, V: Floats | None = None) -> Floats:
    """Return an orthonormal basis of the directions that the columns of A add to those of V."""
    least = 1e-12 * float(np.linalg.norm(A))
    for _ in range(2):  # once is not enough: a column that shrinks the second time was rounding
        if V is not None:
            A = A - V @ (V.T @ A)
        Q, R, _ = qr(A, mode="economic", pivoting=True)
        A = Q[:, np.abs(np.diag(R)) > least]
        least = 0.5
    return A
