r"""Bounds on the rounding error of squared distances computed by matrix products.

All exact searches of the library rest on one bound. For rows a, b of D entries, stored in a
precision of unit eps,

    |computed d(a, b)^2 - d(a, b)^2|  <=  e = (D + 16) eps (|a|^2 + |b|^2),

whether the distance is computed as ``|a|^2 + |b|^2 - 2 a'b`` or as the sum of squared differences.

Proof. Let u = eps / 2 be the unit roundoff.

1. A sum of D products, in any order, blocked or not, with or without fused multiply-add, has
   ``|computed a'b - a'b| <= g |a|'|b|`` with ``g = D u / (1 - D u)``, and ``|a|'|b| <= |a| |b| <=
   (|a|^2 + |b|^2) / 2``. So -2 a'b adds at most ``g (|a|^2 + |b|^2)``.
2. A squared norm is such a sum: ``g |a|^2`` and ``g |b|^2``. (Norms are summed in float64, so for
   float32 rows this part vanishes beside the first, and half of e is to spare.)
3. Rows that are centred or scaled first carry one rounding per entry, u relative to the entry.
   That changes squared norms and products by a factor within ``(1 + u)^2``: at most ``4 u (|a|^2 +
   |b|^2)`` together. Two additions, the conversion of norms to the precision of the products and
   the final comparison add u each, of numbers that are at most ``2 (|a|^2 + |b|^2)``.
4. Together ``2 g + 12 u``. That is ``(D + 6) eps`` and terms of second order, ``(D eps)^2 / 2``:
   less than the remaining 10 eps up to D = 3e8 in float64; in float32 the half of step 2 covers
   them up to D = 4e6.
5. The sum of squared differences is off by at most ``(D + 3) u`` of itself, and it is at most
   ``2 (|a|^2 + |b|^2)``: again at most ``(D + 3) eps (|a|^2 + |b|^2)``.

Underflow costs less than the smallest normal number, ``tiny``, per product; ``2 tiny`` per term
covers it where rows are float32. In float64 rows are rescaled before squares come near that size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._support.typing import Dense, Floats

__all__ = ["difference_error", "lowered_norms", "order_slack"]

_MORE = 16  # step 4 of the proof needs 6; the other 10 cover the terms of second order


def difference_error(terms: int, dtype: npt.DTypeLike, squares: Any) -> Any:
    """Bound the error of a difference of two computed squared distances: 2 e.

    ``terms`` is D, ``squares`` at least ``|a|^2 + |b|^2`` for every pair of rows in question.
    """
    return 2.0 * (terms + _MORE) * float(np.finfo(dtype).eps) * squares


def order_slack(terms: int, dtype: npt.DTypeLike, squares: Any) -> Any:
    """Return by how much two computed squared distances must differ for a certain order.

    Twice `difference_error`. Once would be enough; the reserve costs callers a few more exact
    distances.
    """
    return 2.0 * difference_error(terms, dtype, squares)


def lowered_norms(squares: Floats, terms: int) -> Dense:
    """Lower the squared norms of float32 rows so that they bound distances from below.

    ``lowered[a] + lowered[b] - 2 a'b`` in float32 is at most the squared distance: each norm is
    lowered by its own part of e.
    """
    info = np.finfo(np.float32)
    slack = (terms + _MORE) * float(info.eps)
    # Products below the smallest normal number are lost: see "Underflow" above.
    lost = (terms + _MORE) * 2.0 * float(info.tiny)
    return ((1.0 - slack) * squares - lost).astype(np.float32)
