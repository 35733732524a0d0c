"""The prior M0 in ``M = (1 - t) M' + t M0``: the solver moves M', and t is the weight of M0.

M0 is the identity over D, or any psd matrix, normalised to trace one. It enters every formula as
distances between items, which are Euclidean distances between the rows of `Prior.table`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr

from .._support.checks import as_floats, check_real
from .._support.typing import Floats
from ..linalg.dense_items import DenseItems
from ..linalg.items import Items
from ..spectraplex.factors import NEGLIGIBLE

__all__ = ["Prior", "as_prior"]


@dataclass(frozen=True, eq=False)
class Prior:
    """A metric M0 of trace one on ``n_features`` columns, and its weight t in M.

    ``matrix`` is None for the identity over D; without a prior the weight is 0.
    """

    n_features: int
    weight: float = 0.0
    matrix: Floats | None = None

    def with_weight(self, t: float) -> Prior:
        """The same M0 with another weight."""
        return replace(self, weight=t)

    def root(self, basis: Any) -> Floats | None:
        """Return R with ``R R' = M0`` in the coordinates of a basis; None for the identity."""
        if self.matrix is None:
            return None
        e, U = eigh(self.matrix)
        # `eigh` and not Cholesky, which fails on a singular M0. Negative eigenvalues are rounding.
        root: Floats = U * np.sqrt(np.maximum(e, 0.0))
        return root if basis is None else basis.T @ root

    def table(self, X: Items, root: Floats | None) -> tuple[float, Items]:
        """Return a factor and rows: squared distances under M0 are the factor times theirs."""
        if root is None:
            return 1.0 / self.n_features, X  # no copy of X for the identity
        Z = X.times(root, exact=True)
        return 1.0, DenseItems(Z - Z.mean(axis=0))  # large offsets would cancel badly

    def mix(self, U: Floats, e: Floats, k: int | None) -> tuple[Floats, Floats]:
        """Return eigenvectors and eigenvalues, descending, of ``(1 - t) U diag(e) U' + t M0``.

        The identity has many equal directions; only as many are made as ``k`` rows need.
        """
        if self.weight == 0.0:
            return U, e
        learned = (1.0 - self.weight) * e
        if self.matrix is None:
            return _add_identity(U, learned, self.weight, len(U) if k is None else k)
        values, V = eigh((U * learned) @ U.T + self.weight * self.matrix)
        values, V = values[::-1], V[:, ::-1]
        kept = values > NEGLIGIBLE
        return V[:, kept], values[kept] / values[kept].sum()


def as_prior(prior: object, weight: object, n_features: int) -> Prior:
    """Return the prior of the parameters ``prior`` and ``prior_weight``, checked."""
    t = check_real("prior_weight", weight, 0.0, 1.0, closed=True)
    if prior is None:
        if t > 0.0:
            raise ValueError(
                f"prior_weight is {t:g} but prior is None; expected prior='identity' or an array."
            )
        return Prior(n_features)
    if isinstance(prior, str):
        if prior != "identity":
            raise ValueError(f"prior must be None, 'identity' or an array, got {prior!r}.")
        return Prior(n_features, t)
    return Prior(n_features, t, _as_psd(prior, n_features))


def _as_psd(prior: object, n_features: int) -> Floats:
    """Check that a user's array is psd; return it with trace one."""
    M0 = as_floats("prior", prior)
    if M0.shape != (n_features, n_features):
        raise ValueError(
            f"prior must have shape ({n_features}, {n_features}), one row and column per feature "
            f"of X, got {M0.shape}."
        )
    size = float(np.abs(M0).max())
    if size == 0.0:
        raise ValueError("prior is zero everywhere, expected a matrix of positive trace.")
    # Divided by the size first: sums and eigenvalues of extreme entries could leave the range.
    M0 = M0 / size
    # Relative to the largest entry: products such as R @ R.T are symmetric only up to rounding.
    if not np.allclose(M0, M0.T, rtol=0.0, atol=1e-8):
        raise ValueError("prior is not symmetric, expected a positive semidefinite matrix.")
    M0 = 0.5 * (M0 + M0.T)
    lowest = float(np.linalg.eigvalsh(M0)[0])
    if lowest < -1e-8:  # computed psd matrices have eigenvalues slightly below zero
        raise ValueError(
            f"prior has a negative eigenvalue ({lowest * size:g}), expected a positive "
            "semidefinite matrix."
        )
    return M0 / float(np.trace(M0))


def _add_identity(U: Floats, e: Floats, t: float, k: int) -> tuple[Floats, Floats]:
    """Add ``t I / D``: every direction outside U gets the same eigenvalue."""
    D, r = U.shape
    eigenvalues = np.full(D, t / D)
    eigenvalues[:r] += e
    if k > r:
        # Any basis of the rest will do; this one is made of coordinate axes as far as possible.
        U = np.hstack([U, qr(np.hstack([U, np.eye(D, min(D, k))]), mode="economic")[0][:, r:]])
    return U[:, :k], eigenvalues
