"""Points of an `EdgeObjective` and lines between them: all from distances along the edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._support.memory import available_memory
from .._support.typing import Dense, Floats
from ..linalg.gram import signed_gram

if TYPE_CHECKING:
    from .objective import EdgeObjective

__all__ = ["CompiledPoint", "EdgeFactorPoint", "EdgeLine", "EdgePoint", "MarginFit", "SlopeSums"]


_EPS = float(np.finfo(np.float64).eps)


class MarginFit(NamedTuple):
    """The margins z at some M', the best rho for them, F, and the curvature of the losses."""

    z: Floats
    rho: float
    value: float
    curvature: float


class SlopeSums(NamedTuple):
    """Sums of the slopes at a point: over each edge, ``<G, M'>``, ``far_weight`` and over all."""

    edge_weights: Floats
    inner_GM: float
    far_weight: float
    total: float


@dataclass(frozen=True, eq=False)
class EdgePoint:
    """A `Point` of an `EdgeObjective`: the edge distances under M' determine all the rest."""

    objective: EdgeObjective
    distances: Floats
    fit: MarginFit

    @property
    def z(self) -> Floats:
        return self.fit.z

    @property
    def rho(self) -> float:
        return self.fit.rho

    @property
    def value(self) -> float:
        return self.fit.value

    @property
    def curvature(self) -> float:
        return self.fit.curvature

    @cached_property
    def _slopes(self) -> SlopeSums:
        # The slopes themselves, a number per comparison, are not kept: memory.
        o = self.objective
        w = o.slopes(self.z, self.rho)
        weights, far_weight, total = o.comparisons.sums(w, o.mix(self.distances))
        return SlopeSums(weights, float(weights @ self.distances), far_weight, total)

    @property
    def edge_weights(self) -> Floats:
        """The slopes spread over the edges: the weights of the Laplacian of G."""
        return self._slopes.edge_weights

    @property
    def inner_GM(self) -> float:
        return self._slopes.inner_GM

    @cached_property
    def inner_GM0(self) -> float:
        o = self.objective
        return 0.0 if o.prior is None else o.t * float(self.edge_weights @ o.prior)

    @property
    def far_weight(self) -> float:
        return self._slopes.far_weight

    @property
    def slack(self) -> float:
        return max(0.0, self.rho * (self._slopes.total - 1.0))

    def times(self, V: Floats, /) -> Floats:
        return self.objective.signed_scatter(self.edge_weights, V)

    @property
    def may_form(self) -> bool:
        array = self.objective.X.array
        # Rows in another order than that of C, as those of a DataFrame, are copied.
        return array is not None and (
            array.flags.c_contiguous or 2 * array.nbytes < available_memory()[0]
        )

    def formed(self, check: Callable[[], None], /) -> tuple[Floats, float]:
        o = self.objective
        G, rounding = signed_gram(o.X, o.comparisons.edges, self.edge_weights, check)
        G *= o.scale
        return G, o.scale * rounding + _EPS * float(np.linalg.norm(G))

    def toward(self, V: Floats, /) -> EdgeLine:
        return EdgeLine(self, self.objective.learned_distances(V)[0])

    def with_rho(self, rho: float | None, /) -> EdgePoint:
        o = self.objective.replace(fixed_rho=rho)
        return o.at_distances(self.distances, self.rho)


@dataclass(frozen=True, eq=False)
class EdgeFactorPoint(EdgePoint):
    """A point that keeps its factor and, unless that is too large, ``Y = X P``.

    ``exact``: computed in float64, and so is the gradient.
    """

    P: Floats
    Y: Dense | None
    exact: bool

    @property
    def rounding(self) -> float:
        # A distance is the square of ``y_a - y_b``, and y is off by a few units in the last place
        # of the terms that it sums up.
        o = self.objective
        terms = o.X.magnitudes(np.linalg.norm(self.P, axis=1)) / np.linalg.norm(self.P)
        a, b = o.comparisons.edges.T
        off = np.sqrt(o.scale * self.distances) * (terms[a] + terms[b])
        return 16.0 * _EPS * float(np.abs(self.edge_weights) @ off)

    def gradient(self) -> Floats:
        o = self.objective
        return o.signed_scatter(self.edge_weights, self.P, exact=self.exact, Y=self.Y)


@dataclass(frozen=True, eq=False)
class CompiledPoint(EdgeFactorPoint):
    """A point that knows its slopes, too, and the Laplacian of them times Y."""

    sums: SlopeSums
    S: Dense

    @property
    def _slopes(self) -> SlopeSums:
        return self.sums

    def gradient(self) -> Floats:
        return self.objective.scale * self.objective.X.transposed_times(self.S)


@dataclass(frozen=True, eq=False)
class EdgeLine:
    """F along a segment: distances are linear in M, so no further product with X is needed."""

    start: EdgePoint
    end: Floats  # edge distances at alpha = 1

    def __call__(self, alpha: float, /) -> tuple[float, float]:
        o = self.start.objective
        fit = o.optimal_margin(self._distances(alpha), self.start.rho)
        return fit.value, float(o.slopes(fit.z, fit.rho) @ self._margin_change)

    def point(self, alpha: float, /) -> EdgePoint:
        return self.start.objective.at_distances(self._distances(alpha), self.start.rho)

    @cached_property
    def _margin_change(self) -> Floats:
        """``dz / d alpha``, the same for every alpha."""
        o = self.start.objective
        return o.learned_share * o.comparisons.margins(self.end - self.start.distances)

    def _distances(self, alpha: float) -> Floats:
        return (1.0 - alpha) * self.start.distances + alpha * self.end
