"""The choice that ``coordinates="auto"`` makes between raw and standard rows.

Trace one is not invariant to units. The columns themselves cannot tell whether one is wide because
of its unit or because it matters: the deviations of pixels differ by factors of thousands, and
standardising them does harm. So the supervision decides: Euclidean distance is tried in both
coordinates on a sample of the training data (benchmarks/README.md, bench-defaults). Where the
sample does not decide, rows stay raw, unless one column is so wide that it decides nearly every
distance: then its unit is the likelier reason.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..._support.checks import check_choice
from ..._support.typing import Dense, Floats, Ints
from ..._support.warnings import warn
from ...evaluation.answered import correct_answers
from ...evaluation.vote import left_out_votes
from ...linalg.interface import Table
from ...linalg.items import Items
from ...linalg.memmap_items import MemmapItems
from ...problem.comparisons import Comparisons
from .coordinates import COORDINATES, Coordinates, check_within

Answers: TypeAlias = npt.NDArray[np.bool_]

__all__ = ["CHOICES", "automatic", "better", "check_coordinates", "differ", "learned_coordinates"]

CHOICES = ("auto", *COORDINATES)

_ALIKE = 1.5  # deviations of columns that differ by less count as equal
_CLEAR = 2.0  # standard errors of the difference between two shares of the same rows
_ENTRIES = 1 << 22  # of the sampled rows, 32 MB
_ROWS = 2_000  # sampled at most, so that the choice costs less than the search for neighbours
_QUERIES = 500  # rows that are classified by the sampled ones
_COMPARISONS = 20_000
_WIDE = 100.0  # ranges over the median one: pixels, embeddings and counts differ by far less


def check_coordinates(coordinates: object, X: Table) -> None:
    """Raise ValueError unless rows can be mapped to these coordinates."""
    check_choice("coordinates", coordinates, CHOICES)
    if coordinates == "within":
        check_within(X)


def learned_coordinates(kind: str, X: Items, y: Ints, seed: int) -> Coordinates:
    """Learn the coordinates of a fit.

    Parameters
    ----------
    kind : "auto", "raw", "standard" or "within"
    X : checked rows
    y : (n,) classes 0, 1, ..., or (m, 3) or (m, 4) comparisons
    seed : of the sample that decides where ``kind`` is "auto"
    """
    if kind != "auto":
        return Coordinates(kind).learn(X, y)
    if isinstance(X, MemmapItems):
        _warn_of_units(X)
    return Coordinates(automatic(X, y, seed)).learn(X)


def automatic(X: Items, y: Ints, seed: int) -> str:
    """The kind of coordinates that "auto" stands for; the parameters of `learned_coordinates`."""
    # A memory map may be larger than memory, and standard coordinates are a copy.
    if isinstance(X, MemmapItems):
        return "raw"
    standard = Coordinates("standard").learn(X)
    return "standard" if differ(standard, X.extremes) and better(standard, X, y, seed) else "raw"


def differ(standard: Coordinates, extremes: tuple[Dense, Dense]) -> bool:
    """Whether the units of columns differ so much that standard coordinates are worth a look."""
    varied = standard.map_[np.not_equal(*extremes)]
    # Columns of similar units: nothing but ties could change.
    return not varied.max(initial=1.0) < _ALIKE * varied.min(initial=np.inf)


def better(standard: Coordinates, X: Items, y: Ints, seed: int) -> bool:
    """Whether to prefer standard coordinates, by Euclidean distance on a sample."""
    judge = _left_out if y.ndim == 1 else _answered
    raw, standardised = judge(X, standard, y, np.random.default_rng(seed))
    if _widest(X) is not None:  # few comparisons cannot prove what the units show
        return not _clearly_better(standardised, raw)
    return _clearly_better(raw, standardised)


def _widest(X: Items) -> tuple[int, float, float] | None:
    """The column that decides nearly every distance, its range and the median one."""
    low, high = (0.5 * side.astype(np.float64) for side in X.extremes)
    halves = high - low  # of the ranges: a whole one may overflow
    varied = halves[halves > 0.0]
    if not len(varied):
        return None
    typical, widest = float(np.median(varied)), int(halves.argmax())
    width = float(halves[widest])
    return (widest, 2.0 * width, 2.0 * typical) if width / typical > _WIDE else None


def _warn_of_units(X: Items) -> None:
    """Warn if one column of a memory map is so wide that it decides nearly every distance.

    Only here: elsewhere the supervision has decided, or the user has ("raw").
    """
    found = _widest(X)
    if found is not None:
        widest, width, typical = found
        warn(
            f"Column {widest} of X spans {width:.2g}, half of the columns at most "
            f"{typical:.2g}. X is a memory map, whose columns coordinates='auto' leaves as they "
            "are: standardise them in the file, or fit with coordinates='standard', which copies "
            "X. coordinates='raw' silences this warning.",
            UserWarning,
        )


def _left_out(
    X: Items, standard: Coordinates, codes: Ints, rng: np.random.Generator
) -> tuple[Answers, Answers]:
    """Whether the nearest other rows vote right, in raw and in standard coordinates."""
    stored = X.raw.nnz / len(X) if X.sparse else X.shape[1]
    rows = rng.permutation(len(X))[: min(_ROWS, max(2, int(_ENTRIES / max(1.0, stored))))]
    # Powers of two that keep sums in range change no vote.
    sample, labels = X.take(rows).astype(np.float64).rescaled()[0], codes[rows]
    if not X.sparse:
        sample = sample.centred(sample.mean())  # large offsets would cancel badly
    queries = np.arange(min(_QUERIES, len(rows)))
    raw, standardised = (
        left_out_votes(items, labels, queries) == labels[queries]
        for items in (sample.rescaled()[0], standard.forward(sample).rescaled()[0])
    )
    return raw, standardised


def _answered(
    X: Items, standard: Coordinates, indices: Ints, rng: np.random.Generator
) -> tuple[Answers, Answers]:
    """Which comparisons are answered right, in raw and in standard coordinates."""
    # A comparison that is given twice counts once, as one of weight two does.
    some = np.unique(indices[rng.permutation(len(indices))[:_COMPARISONS]], axis=0)
    items, numbered = np.unique(some, return_inverse=True)
    sample = X.take(items).astype(np.float64)
    comparisons = Comparisons.from_indices(numbered.reshape(some.shape))
    raw, standardised = (
        correct_answers(rows, comparisons)
        for rows in (sample.rescaled()[0], standard.forward(sample))
    )
    return raw, standardised


def _clearly_better(before: Answers, after: Answers) -> bool:
    """Whether more answers became right than wrong, by more than chance explains."""
    gain: Floats = after.astype(np.float64) - before
    # If changes were a matter of luck, their sum would have this standard deviation.
    return bool(gain.sum() > _CLEAR * np.sqrt(np.count_nonzero(gain)))
