"""One part of an objective that is a sum over parts, and the tasks of an evaluation on it.

A part is complete in itself: the rows that its comparisons mention, the comparisons and their
edges. The functions here are tasks: pure, importable, and called wherever the part is. They do what
`EdgeObjective` does, on one part, with coefficients, scale and rho that belong to all parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr

from .._support.typing import Dense, Floats
from ..linalg.items import Items
from ..linalg.kernels.margins import bin_margins, first_bracket, next_rho
from ..linalg.pieces import bytes_of
from ..problem.comparisons import Comparisons
from ..problem.edge_points import EdgeFactorPoint, MarginFit
from ..problem.losses import Loss
from ..problem.margin import best_rho, weighted_slopes, weighted_sums
from ..problem.objective import EdgeObjective
from ..problem.units import scaled
from ..spectraplex.span import span_basis

__all__ = [
    "LineMargins",
    "Margins",
    "Part",
    "Query",
    "Setting",
    "added",
    "advanced",
    "begun",
    "edge_weights",
    "line_margins",
    "line_sums",
    "magnitude_sum",
    "margins",
    "margins_along",
    "root",
    "roots_merged",
    "scatter",
    "sketched",
    "slopes",
    "summed",
    "times",
]

_BINS = 1 << 12  # of a sketch of margins: 64 KB for each part
# A block of X @ P may be half as large as the rows. A part has few edges for its rows, so that
# narrow blocks would go through all edges too often; and a worker may have its rows twice.
_BLOCK_SHARE = 2


class Setting(NamedTuple):
    """The terms of the objective that all parts share; ``unit`` is the c_r of weight one."""

    loss: Loss
    unit: float
    scale: float
    t: float


class Query(NamedTuple):
    """A point to evaluate: the factor, and where rho is expected (``guess`` +- ``width``)."""

    setting: Setting
    P: Floats
    exact: bool
    guess: float
    width: float


@dataclass(frozen=True, eq=False)
class Part:
    """Rows, comparisons of these rows, and distances of the edges under M0, which are not scaled.

    ``prior`` is None if the weight of the prior is 0.
    """

    X: Items
    comparisons: Comparisons
    prior: Floats | None = None

    def objective(self, setting: Setting) -> EdgeObjective:
        """The objective of this part alone, in the units of all parts."""
        return EdgeObjective(
            X=self.X,
            comparisons=self.comparisons,
            coefficients=scaled(self.comparisons.weights, setting.unit),
            scale=setting.scale,
            loss=setting.loss,
            prior=None if self.prior is None else setting.scale * self.prior,
            t=setting.t,
            block_share=_BLOCK_SHARE,
        )

    def __sizeof__(self) -> int:
        # A scheduler weighs the cost of moving a part against that of waiting for its worker.
        c = self.comparisons
        return bytes_of(self.X, c.edges, c.near, c.far, c.weights, self.prior)


@dataclass(frozen=True, eq=False)
class Margins:
    """Margins of a part at a point, with their coefficients; distances and ``Y = X P`` behind."""

    z: Floats
    coefficients: Floats
    distances: Floats | None = None
    Y: Dense | None = None

    def __sizeof__(self) -> int:
        return bytes_of(self.z, self.coefficients, self.distances, self.Y)


class LineMargins(NamedTuple):
    """Margins at the start of a line, and their change up to its end."""

    start: Margins
    change: Floats


# The search for rho, as tasks: a sketch of the margins, then Newton's steps. `Search` is the
# bracket of `next_rho`, and whether its rho is the answer.
Search = tuple[Any, bool]


def margins(part: Part, query: Query) -> Margins:
    """Margins of a part under ``P P' / ||P||^2``: one product with its rows."""
    o = part.objective(query.setting)
    distances, Y = o.learned_distances(query.P, exact=query.exact)
    z = o.comparisons.margins(o.mix(distances))
    return Margins(z, o.coefficients, distances, Y)


def sketched(state: Margins, query: Query) -> Floats:
    """Sums of coefficients, and of these times margins, in bins around the expected rho.

    A bin stands for a comparison at the mean of its margins. For slopes that are linear inside a
    bin that is exact, so for Huber and the squared hinge only the bins at a kink are not.
    """
    sums = np.zeros((2, _BINS))
    bin_margins(state.z, state.coefficients, *_bins(query), sums)
    return sums


def begun(sketches: list[Floats], query: Query) -> Search:
    """Begin the search for rho at the best rho of the sum of sketches."""
    low, _ = _bins(query)
    weight, moment = added(sketches)
    there = weight > 0.0
    z = low + moment[there] / weight[there]
    return first_bracket(best_rho(z, weight[there], query.setting.loss, query.guess)), False


def summed(state: Margins, search: Search, query: Query) -> tuple[float, float, float]:
    """Sums of losses, slopes and curvatures of a part at the rho of a search."""
    bracket, done = search
    if done:
        return 0.0, 0.0, 0.0  # nobody reads them
    return weighted_sums(state.z, state.coefficients, bracket[0], query.setting.loss)


def advanced(sums: list[tuple[float, float, float]], search: Search) -> Search:
    """Make Newton's step with the sums of all parts, which are the terms given."""
    bracket, done = search
    return search if done else next_rho(bracket, *added(sums)[1:])


def slopes(both: list[Any], search: Search, query: Query) -> tuple[Any, ...]:
    """Everything about a point that is a sum over parts: numbers, and the gradient ``G P``."""
    part, state = both
    rho = search[0][0]
    sums = weighted_sums(state.z, state.coefficients, rho, query.setting.loss)
    point = _point(part, state, rho, query)
    numbers = point.inner_GM, point.inner_GM0, point.far_weight
    return *sums, *numbers, point.gradient()


def edge_weights(part: Part, query: Query) -> Floats:
    """The slopes at a point whose rho is known, spread over the edges of a part."""
    return _point(part, margins(part, query), query.guess, query).edge_weights


def magnitude_sum(part: Part, query: Query) -> float:
    """What a part adds to the rounding of F."""
    return _point(part, margins(part, query), query.guess, query).rounding


def times(both: list[Any], setting: Setting, V: Floats) -> Floats:
    """``G V`` of a part, in float64, from the weights of its edges."""
    part, weights = both
    total: Floats = part.objective(setting).signed_scatter(weights, V)
    return total


def scatter(part: Part, setting: Setting, V: Floats) -> Floats:
    """The sum of ``d d' V`` over the edges of a part."""
    return part.objective(setting).signed_scatter(np.ones(len(part.comparisons.edges)), V)


def root(part: Part, setting: Setting) -> Floats:
    """R with ``R' R`` the sum of ``d d'`` over edges of a part, over all unless some span all."""
    R = np.zeros((0, part.X.shape[1]))
    for R in part.objective(setting).scatter_roots():
        if span_basis(R, len(part.comparisons.edges)) is None:
            break
    return R


def roots_merged(roots: list[Floats]) -> Floats:
    """One root of a sum from the roots of its terms."""
    R: Floats = qr(np.vstack(roots), mode="r")[0]
    return R[: R.shape[1]]


def line_margins(part: Part, query: Query, V: Floats) -> LineMargins:
    """Margins along the line from the factor of a query to the factor V."""
    o, start = part.objective(query.setting), margins(part, query)
    assert start.distances is not None
    change = o.learned_distances(V)[0] - start.distances
    # Distances and products are not needed again: margins are linear along the line.
    ends = Margins(start.z, start.coefficients)
    return LineMargins(ends, o.learned_share * o.comparisons.margins(change))


def margins_along(line: LineMargins, alpha: float) -> Margins:
    """The margins at a share alpha of a line."""
    start, change = line
    return Margins(start.z + alpha * change, start.coefficients)


def line_sums(both: list[Any], search: Search, query: Query) -> tuple[float, ...]:
    """Sums of a part at a place of a line, and the derivative of F along it."""
    line, state = both
    rho, loss = search[0][0], query.setting.loss
    o = weighted_sums(state.z, state.coefficients, rho, loss)
    return *o, float(weighted_slopes(state.z, state.coefficients, rho, loss) @ line.change)


def added(parts: list[Any]) -> Any:
    """Sums of numbers, of arrays, or of tuples of these, in order."""
    if isinstance(parts[0], tuple):
        return tuple(added(list(terms)) for terms in zip(*parts, strict=True))
    return sum(parts[1:], start=parts[0])


def _point(part: Part, state: Margins, rho: float, query: Query) -> EdgeFactorPoint:
    assert state.distances is not None
    fit = MarginFit(state.z, rho, 0.0, 0.0)  # value and curvature belong to all parts
    o = part.objective(query.setting)
    return EdgeFactorPoint(o, state.distances, fit, query.P, state.Y, query.exact)


def _bins(query: Query) -> tuple[float, float]:
    """The lower end of the bins, and their width."""
    return query.guess - query.width, 2.0 * query.width / _BINS
