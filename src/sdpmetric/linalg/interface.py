"""`Items`: the interface of X, the same for every way to store it.

The rest of the library multiplies items, measures distances between them and derives other items
from them; it never asks how they are stored. There are classes for arrays in memory, memory maps
and CSR matrices. A class for chunked arrays would need the abstract methods below, and no caller
would change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from .._support.typing import Dense, Floats, Ints
from .scaling import distance_factors

__all__ = ["Items", "Table"]


class Table(Protocol):
    """What checks ask of rows, in memory or in chunks elsewhere."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def sparse(self) -> bool: ...
    @property
    def extremes(self) -> tuple[Dense, Dense]:
        """The least and the largest entry of each column."""


class Items(ABC):
    """X, (n, D), float32 or float64, never written to.

    Attributes
    ----------
    raw : the array or matrix that holds the numbers, for scikit-learn and other libraries
    shape, dtype : of X
    sparse : whether zeros are not stored, so that a shift would fill X
    """

    sparse: ClassVar[bool] = False
    raw: Any
    shape: tuple[int, int]
    dtype: np.dtype[Any]

    _extremes: tuple[Dense, Dense] | None = None
    _mean: Floats | None = None
    _rescaled: tuple[Items, float] | None = None
    _in_range = False  # whether `rescaled` is known to change nothing

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def array(self) -> Dense | None:
        """All rows as one array, not to be written to; None unless memory has it."""
        return None

    # Products: the only ones of a fit that cost n D.

    @abstractmethod
    def times(self, P: Floats, *, exact: bool = False) -> Dense:
        """``X @ P``, in X's precision, or in float64 if ``exact``."""

    @abstractmethod
    def transposed_times(self, S: Dense, *, exact: bool = False) -> Floats:
        """``X.T @ S`` as float64, computed in X's precision, or in float64 if ``exact``."""

    def transposed_rows(
        self, rows: Callable[[slice], Dense], width: int, *, exact: bool = False
    ) -> Floats:
        """``X.T @ S`` of an S with ``width`` columns whose rows ``rows`` makes.

        Rows in memory ask for a block at a time, so that S never exists whole.
        """
        del width
        return self.transposed_times(rows(slice(0, len(self))), exact=exact)

    @abstractmethod
    def magnitudes(self, p: Floats) -> Floats:
        """``|X| @ p`` in float64, the size of the terms that `times` adds up: its error scale."""

    @abstractmethod
    def products(self, rows: slice | Ints, other: Items, columns: slice) -> Dense:
        """Return a dense tile of inner products: some rows of X with some rows of other items."""

    # Rows and distances.

    @abstractmethod
    def rows(self, which: slice | Ints) -> Dense:
        """Some rows as a dense array, in X's precision; not to be written to."""

    @abstractmethod
    def squared_norms(self) -> Floats:
        """``||x||^2`` of each row in float64."""

    @abstractmethod
    def squared_differences(
        self, a: Ints, b: Ints, out: Floats | None = None, other: Items | None = None
    ) -> Floats:
        """``||x_a - y_b||^2`` in float64, y rows of ``other`` or of X; added to ``out`` if given.

        Both are sparse, or neither is.
        """

    # Columns.

    @abstractmethod
    def _scan(self) -> tuple[Dense, Dense]:
        """The least and the largest entry of each column, NaN if it holds any; one pass."""

    @abstractmethod
    def _average(self) -> Floats:
        """The mean of each column in float64; one pass."""

    @abstractmethod
    def first_not_finite(self) -> tuple[int, int, float] | None:
        """Row, column and value of the first NaN or infinity; None if all entries are finite."""

    @abstractmethod
    def fingerprint(self) -> bytes:
        """A digest of all entries, by which a later process knows the same items; one pass."""

    @property
    def extremes(self) -> tuple[Dense, Dense]:
        """The least and the largest entry of each column, computed once."""
        if self._extremes is None:
            self._extremes = self._scan()
        return self._extremes

    def mean(self) -> Floats:
        """The mean of each column in float64, computed once."""
        if self._mean is None:
            self._mean = self._average()
        return self._mean

    # Other items, made from these.

    @abstractmethod
    def take(self, rows: Ints) -> Items:
        """Some of the rows, copied."""

    @abstractmethod
    def columns(self, kept: npt.NDArray[np.bool_]) -> Items:
        """Some of the columns, copied."""

    @abstractmethod
    def multiplied(self, factors: Floats | float) -> Items:
        """Each column times a factor, in X's precision."""

    @abstractmethod
    def centred(self, offset: Floats) -> Items:
        """Each row less an offset, in X's precision; sparse columns must have no zeros there."""

    @abstractmethod
    def astype(self, dtype: npt.DTypeLike) -> Items:
        """The items in this precision; the same object if they already have it."""

    def single(self) -> Items | None:
        """The items less their mean, as float32: half the bytes, and products in half the time.

        None if that would save nothing, or if squares would leave the range of float32.
        """
        return None

    @abstractmethod
    def mapped(self, components: Floats | None, *, exact: bool = False) -> Items:
        """The rows mapped by a metric, ``X @ components.T``, or the same object for None.

        Euclidean distances between mapped rows are distances under the metric. In X's precision,
        or in float64 if ``exact``.
        """

    def rescaled(self) -> tuple[Items, float]:
        """The items times a power of two, and that power, if their squares would leave the range.

        The same object and 1 in all other cases. Constant columns may become zero: distances
        between the rows are the same but for the power. Computed once.
        """
        if self._rescaled is not None:
            return self._rescaled
        if self._in_range:
            return self, 1.0
        low, high = self.extremes
        factors, factor = distance_factors(low, high, self.dtype)
        if factors is None:
            self._in_range = True  # not as a pair with itself: a cycle would keep the memory of X
            return self, 1.0
        items = self.multiplied(factors)
        items._extremes = low * factors, high * factors  # rounding keeps the order of entries
        self._rescaled = items, factor
        return self._rescaled
