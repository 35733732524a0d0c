"""An objective whose comparisons are divided into parts: threads, processes or a cluster hold them.

F and its derivatives are sums over comparisons, so an evaluation is a map over parts and a tree
reduction of D x d numbers. Only rho belongs to all comparisons. It is found by three reductions:
of a sketch of the margins, and of the sums that two steps of Newton's method need.

A point is (P, rho). What workers hold of it can be computed again, so no worker is needed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._support.typing import Floats
from ..engines.engine import FAN_IN, Engine, Resident, again, same
from ..linalg.kernels.margins import first_bracket, next_rho
from ..problem.losses import Loss
from ..spectraplex.factors import principal, unit
from . import tasks
from .tasks import Query, Setting

__all__ = ["PartedLine", "PartedObjective", "PartedPoint", "Sizes"]

_NEWTON = 2  # steps that are sent along: nearly always enough, and the caller can make more
# Where rho is looked for in the first evaluation: distances have a mean of one.
_FIRST_WIDTH = 4.0
_LEAST_WIDTH = 1e-6


class Sizes(NamedTuple):
    """Numbers of features, comparisons and edges of all parts, and the precision of their rows."""

    n_features: int
    n_comparisons: int
    n_edges: int
    dtype: np.dtype[Any]


@dataclass(frozen=True, eq=False)
class PartedObjective:
    """F as a sum over parts: an `Objective`, the same function as `EdgeObjective`.

    An edge that two parts use counts twice in ``n_edges`` and in `scatter`, which serve the start
    and the preconditioner alone.
    """

    engine: Engine
    parts: Resident
    sizes: Sizes
    setting: Setting
    fixed_rho: float | None = None
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def n_features(self) -> int:
        return self.sizes.n_features

    @property
    def n_comparisons(self) -> int:
        return self.sizes.n_comparisons

    @property
    def n_edges(self) -> int:
        return self.sizes.n_edges

    @property
    def learned_share(self) -> float:
        return 1.0 - self.setting.t

    @property
    def eps(self) -> float:
        return float(np.finfo(self.sizes.dtype).eps)

    @property
    def needs_exact(self) -> bool:
        return bool(self.sizes.dtype != np.float64)

    def with_loss(self, loss: Loss, /) -> PartedObjective:
        return replace(self, setting=self.setting._replace(loss=loss))

    def screened(self) -> PartedObjective:
        return self

    def at(self, P: Floats, /, *, rho: float = 0.0, exact: bool = False) -> PartedPoint:
        """Evaluate F, and the gradient too: asked for later, it would be another round trip."""
        query = self._query(P, rho, exact)

        def evaluate() -> tuple[float, tuple[Any, ...]]:
            engine, parts, asked = self.engine, self.parts.handles, self._sent(query)
            states = engine.map(tasks.margins, parts, asked)
            both = [[part, state] for part, state in zip(parts, states, strict=True)]
            return self.at_best_rho(states, query, asked, tasks.slopes, both)

        rho, (paid, slope, curvature, inner_GM, inner_GM0, far_weight, GP) = again(evaluate)
        # How far rho moved is how far it may move in the next evaluation.
        self.cache["moved"] = abs(rho - query.guess)
        return PartedPoint(
            objective=self,
            P=P,
            rho=rho,
            value=rho - paid,
            curvature=curvature,
            inner_GM=inner_GM,
            inner_GM0=inner_GM0,
            far_weight=far_weight,
            slack=max(0.0, rho * (-slope - 1.0)),
            GP=GP,
            exact=exact,
        )

    def at_best_rho(
        self,
        states: list[Any],
        query: Query,
        asked: Any,
        work: Callable[..., tuple[Any, ...]],
        parts: list[Any],
    ) -> tuple[float, tuple[Any, ...]]:
        """Return the best rho for margins, and the sum over parts of ``work`` at this rho.

        ``work`` returns sums of losses, slopes and curvatures first. In nearly all cases all of it
        is one round trip: each step of the search is a task that the next one waits for.
        """
        engine = self.engine

        def worked(search: Any) -> Any:
            return engine.reduce(tasks.added, engine.map(work, parts, search, asked))

        def summed(search: Any) -> list[Any]:
            return self._few(engine.map(tasks.summed, states, search, asked))

        if self.fixed_rho is not None:
            (found,) = engine.collect([worked((first_bracket(self.fixed_rho), True))])
            return self.fixed_rho, found
        # 1. The search and the sums at its rho, sent together.
        sketches = self._few(engine.map(tasks.sketched, states, asked))
        (search,) = engine.map(tasks.begun, [sketches], asked)
        for _ in range(_NEWTON):
            (search,) = engine.map(tasks.advanced, [summed(search)], search)
        found, (bracket, done) = engine.collect([worked(search), search])
        # 2. If its rho is not the answer, go on with Newton's steps from there.
        while not done:
            following, done = next_rho(bracket, *found[1:3])
            if following[0] == bracket[0]:
                break
            while not done:
                sums = tasks.added(engine.collect(summed((following, False))))
                following, done = next_rho(following, *sums[1:3])
            bracket = following
            (found,) = engine.collect([worked((bracket, True))])
        return float(bracket[0]), found

    def scatter(self, V: Floats, /) -> Floats:
        total: Floats = self._summed(tasks.scatter, self._handles, V)
        return total / self.n_edges

    def scatter_roots(self) -> Iterator[Floats]:
        """Yield one root, of all parts."""
        engine = self.engine

        def merged() -> Floats:
            roots = engine.map(tasks.root, self.parts.handles, self.setting)
            R: Floats = engine.collect([engine.reduce(tasks.roots_merged, roots)])[0]
            return R

        yield again(merged)

    def times(self, weights: Resident, V: Floats) -> Floats:
        """``G V`` from the weights of the edges of each part."""

        def both() -> list[Any]:
            return [[p, w] for p, w in zip(self.parts.handles, weights.handles, strict=True)]

        return self._summed(tasks.times, both, V)

    def weights_at(self, query: Query) -> Resident:
        """The weights of the edges at a point; they stay with the parts."""
        return Resident(
            self.engine,
            lambda: self.engine.map(tasks.edge_weights, self.parts.handles, self._sent(query)),
        )

    def magnitude_sum(self, query: Query) -> float:
        """About how far F is off because of the rounding of products."""

        def total() -> float:
            engine = self.engine
            sums = engine.map(tasks.magnitude_sum, self.parts.handles, self._sent(query))
            return float(engine.collect([engine.reduce(tasks.added, sums)])[0])

        return again(total)

    def _query(self, P: Floats, guess: float, exact: bool) -> Query:
        support = self.setting.loss.support
        reach = support if np.isfinite(support) else 1.0
        moved = 4.0 * self.cache.get("moved", _FIRST_WIDTH)
        return Query(self.setting, P, exact, guess, max(reach + moved, _LEAST_WIDTH))

    def _sent(self, value: Any) -> Any:
        """A handle of a value that several maps share."""
        return self.engine.map(same, [value])[0]

    def _few(self, terms: list[Any]) -> list[Any]:
        """Terms of a sum, few enough for the task that needs it to add them itself.

        A task between the terms and their reader would be one more step that all others wait for.
        """
        few = len(terms) <= FAN_IN
        return terms if few else [self.engine.reduce(tasks.added, terms)]

    def _handles(self) -> list[Any]:
        return self.parts.handles

    def _summed(
        self, work: Callable[..., Any], parts: Callable[[], list[Any]], V: Floats
    ) -> Floats:
        """The sum over parts of ``work(part, setting, V)``."""
        engine = self.engine

        def total() -> Floats:
            results = engine.map(work, parts(), self.setting, V)
            found: Floats = engine.collect([engine.reduce(tasks.added, results)])[0]
            return found

        return again(total)


@dataclass(frozen=True, eq=False)
class PartedPoint:
    """A `FactorPoint`: its numbers and its gradient ``GP`` are here, all else is asked for."""

    objective: PartedObjective
    P: Floats
    rho: float
    value: float
    curvature: float
    inner_GM: float
    inner_GM0: float
    far_weight: float
    slack: float
    GP: Floats
    exact: bool

    def gradient(self) -> Floats:
        return self.GP

    @cached_property
    def rounding(self) -> float:
        return self.objective.magnitude_sum(self.query)

    @property
    def query(self) -> Query:
        """This point as a question to the parts."""
        return self.objective._query(self.P, self.rho, self.exact)

    @cached_property
    def _weights(self) -> Resident:
        return self.objective.weights_at(self.query)

    def times(self, V: Floats, /) -> Floats:
        return self.objective.times(self._weights, V)

    def toward(self, V: Floats, /) -> PartedLine:
        return PartedLine(self, V)

    def with_rho(self, rho: float | None, /) -> PartedPoint:
        o = replace(self.objective, fixed_rho=rho)
        return o.at(self.P, rho=self.rho, exact=self.exact)


@dataclass(frozen=True, eq=False)
class PartedLine:
    """F along the segment to ``V V' / ||V||^2``; margins and their change stay with the parts."""

    start: PartedPoint
    V: Floats

    def __call__(self, alpha: float, /) -> tuple[float, float]:
        o, engine = self.start.objective, self.start.objective.engine

        def evaluate() -> tuple[float, tuple[Any, ...]]:
            asked, lines = o._sent(self.start.query), self._lines.handles
            states = engine.map(tasks.margins_along, lines, alpha)
            both = [[line, state] for line, state in zip(lines, states, strict=True)]
            return o.at_best_rho(states, self.start.query, asked, tasks.line_sums, both)

        rho, (paid, *_, slope) = again(evaluate)
        return rho - paid, slope

    def point(self, alpha: float, /) -> PartedPoint:
        """The point at alpha, from a factor of its own: no worker has to remember the line."""
        shares = np.sqrt([1.0 - alpha, alpha])
        P = np.hstack([shares[0] * unit(self.start.P), shares[1] * unit(self.V)])
        if P.shape[1] > P.shape[0]:
            U, e = principal(P)
            P = U * np.sqrt(e)
        return self.start.objective.at(P, rho=self.start.rho)

    @cached_property
    def _lines(self) -> Resident:
        o = self.start.objective
        return Resident(
            o.engine,
            lambda: o.engine.map(
                tasks.line_margins, o.parts.handles, o._sent(self.start.query), self.V
            ),
        )
