"""Make parts: from pieces of comparisons and chunks of rows to `Part`s, each complete in itself.

1. Each piece of the comparisons becomes edges, and says which rows it mentions.
2. Each chunk gives each part the rows that it asks for: a task for each chunk and part.
3. A part keeps these rows as they came. Chunks and pieces can then be forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._support.typing import Floats, Ints
from ..engines.dask_arrays import RowChunks
from ..engines.engine import Engine, Resident, again, same
from ..linalg.pieces import bytes_of, stacked
from ..problem.comparisons import Comparisons
from ..problem.losses import Loss
from ..problem.prior import Prior
from ..problem.user_units import SCALES, UserUnits, check_far
from . import rows as row_tasks
from .objective import PartedObjective, Sizes
from .rows import Columns, RowMap
from .tasks import Part, Setting

__all__ = ["PartedProblem", "pieces_of"]


class FarSums(NamedTuple):
    """Sums over the comparisons of parts, and the largest distances."""

    far_sum: float
    total: float
    n_comparisons: int
    n_edges: int
    largest_far: float
    largest: float


@dataclass(frozen=True, eq=False)
class Mentioned:
    """Comparisons of the rows ``items``, which are numbered 0, 1, ... in their order."""

    items: Ints
    comparisons: Comparisons

    def __sizeof__(self) -> int:
        c = self.comparisons
        return bytes_of(self.items, c.edges, c.near, c.far, c.weights)


@dataclass(frozen=True, eq=False)
class PartedProblem(UserUnits):
    """A problem whose items and comparisons are in parts."""

    objective: PartedObjective

    @classmethod
    def from_pieces(
        cls,
        engine: Engine,
        chunks: RowChunks,
        pieces: Resident,
        found: Columns,
        rows: RowMap,
        *,
        loss: Loss,
        C: float,
        prior: Prior,
    ) -> PartedProblem:
        """Build the problem of chunks of rows and pieces of comparisons.

        Parameters
        ----------
        engine : where the parts will be
        chunks : the user's rows
        pieces : handles of [indices, weights], one for each part; weights may be None
        found : statistics of the columns after the map ``rows``
        rows : the map to the coordinates of the metric
        loss, C, prior : the terms of the objective
        """
        rows, factor, basis = rows.for_columns(found)
        root = prior.root(basis)

        def make() -> list[Any]:
            mentioned = engine.map(_mentioned, pieces.handles)
            (row_map,) = engine.map(same, [rows])
            numbered = chunks.numbered()
            asked = [
                [known, *engine.map(row_tasks.taken, numbered, wanted, row_map)]
                for known, wanted in zip(mentioned, engine.map(_items, mentioned), strict=True)
            ]
            parts = engine.map(_assembled, asked, prior, root)
            # Now, so that a worker can forget a chunk as soon as its rows have been taken. The
            # engine still knows how to make chunks and pieces, should it lose a part.
            pieces.release()
            chunks.kept.release()
            return parts

        parts = Resident(engine, make)

        def measure() -> FarSums:
            sums = engine.reduce(_far_merged, engine.map(_far_sums, parts.handles))
            found: FarSums = engine.collect([sums])[0]
            return found

        sums = again(measure)
        mean = sums.far_sum / sums.total
        check_far(mean, sums.largest_far, sums.largest)
        D = prior.n_features
        scale, unit = D / mean, C / sums.total
        dtype = rows.dtype or found.dtype
        n_features = D if basis is None else int(basis.shape[1])
        return cls(
            objective=PartedObjective(
                engine,
                parts,
                Sizes(n_features, sums.n_comparisons, sums.n_edges, dtype),
                Setting(loss, unit, scale, prior.weight),
            ),
            user_scale=float(np.clip(scale * factor * factor, *SCALES)),
            total=sums.total,
            unit=unit,
            basis=basis,
            prior=prior,
            root=root,
        )


def pieces_of(indices: Ints, weights: Floats | None, n_pieces: int) -> list[list[Any]]:
    """Divide comparisons into pieces of equal length, by their anchors.

    Neighbouring anchors mention the same rows, if rows that belong together stand together.
    """
    if weights is not None:
        indices, weights = indices[weights > 0.0], weights[weights > 0.0]
    order = np.argsort(indices[:, 0], kind="stable")
    # Half the bytes where row numbers allow it: pieces are sent to the workers.
    small = np.int32 if int(indices.max()) < np.iinfo(np.int32).max else np.int64
    return [
        [indices[some].astype(small), None if weights is None else weights[some]]
        for some in np.array_split(order, min(n_pieces, len(order)))
    ]


def _mentioned(piece: list[Any]) -> Mentioned:
    indices, weights = piece
    comparisons = Comparisons.from_indices(indices, weights)
    items = comparisons.items()
    return Mentioned(items, comparisons.relabel(items))


def _items(mentioned: Mentioned) -> Ints:
    return mentioned.items


def _assembled(pieces: list[Any], prior: Prior, root: Floats | None) -> Part:
    known, *taken = pieces
    X, comparisons = stacked(taken), known.comparisons
    if prior.weight == 0.0:
        return Part(X, comparisons)
    factor, table = prior.table(X, root)
    return Part(X, comparisons, factor * table.squared_differences(*comparisons.edges.T))


def _far_sums(part: Part) -> FarSums:
    c = part.comparisons
    euclidean = part.X.squared_differences(*c.edges.T)
    far_sum, total = c.far_sums(c.weights, euclidean)
    counted = int(np.count_nonzero(c.weights))
    largest_far = float(euclidean[c.far[c.weights > 0.0]].max(initial=0.0))
    return FarSums(far_sum, total, counted, len(c.edges), largest_far, float(euclidean.max()))


def _far_merged(parts: list[FarSums]) -> FarSums:
    return FarSums(
        sum(part.far_sum for part in parts),
        sum(part.total for part in parts),
        sum(part.n_comparisons for part in parts),
        sum(part.n_edges for part in parts),
        max(part.largest_far for part in parts),
        max(part.largest for part in parts),
    )
