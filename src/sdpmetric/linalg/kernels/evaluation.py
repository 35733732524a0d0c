"""A whole evaluation between the two products with X, as one call: for small problems."""

from __future__ import annotations

from typing import Any

import numpy as np

from .edges import add_laplacian, differences, scatter_sums
from .jit import jit_reproducible
from .margins import parabola_rho, parabola_slopes
from .rows import add_squared_distances

__all__ = ["evaluate"]


@jit_reproducible
def evaluate(
    Y: Any,
    scale: Any,
    guess: Any,
    comparisons: Any,
    c: Any,
    parabola: Any,
    prior: Any,
    t: Any,
    out: Any,
) -> Any:
    """Evaluate F and its slopes from ``Y = X P``, by the loops that large problems call singly.

    ``scale`` is the factor of squared distances between rows of Y, ``guess`` where the search for
    rho starts, ``comparisons`` are (edges, near, far), ``prior`` are the distances of the edges
    under M0 (not read if t is 0). ``out`` are arrays of zeros for the results (margins may be
    anything): distances of the edges, margins, edge weights, the Laplacian of these times Y. They
    are not returned: Numba runs Python code to return an array, and Ctrl-C in there becomes a
    SystemError.

    Returns
    -------
    Value, rho, curvature, ``<G, M'>``, far weight, sum of the slopes
    """
    edges, near, far = comparisons
    distances, z, weights, S = out
    E, m = len(edges), len(near)
    add_squared_distances(Y, Y, edges[:, 0], edges[:, 1], 0, E, distances)
    mixed = np.empty(E)
    for e in range(E):
        distances[e] *= scale
        mixed[e] = distances[e] if t == 0.0 else (1.0 - t) * distances[e] + t * prior[e]
    w = np.empty(m)
    differences(mixed, near, far, 0, m, z)
    rho, paid, curvature = parabola_rho(z, c, guess, parabola)
    parabola_slopes(z, c, rho, parabola, w)
    far_sum, total = scatter_sums(w, near, far, mixed, weights)
    inner = 0.0
    for e in range(E):
        inner += weights[e] * distances[e]
    add_laplacian(edges, weights, Y, S)
    return rho - paid, rho, curvature, inner, far_sum, total
