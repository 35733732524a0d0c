"""Which comparisons a metric answers correctly, and their share: the triplet accuracy.

Every room that counts correct answers calls these functions, so an accuracy is one number,
whether an estimator, a search or the command line reports it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..linalg.items import Items
from ..problem.comparisons import Comparisons


def correct_answers(mapped: Items, comparisons: Comparisons) -> npt.NDArray[np.bool_]:
    """Whether the near pair of each comparison is strictly nearer than its far pair.

    A tie counts as wrong: a metric that maps all rows to one point answers nothing.

    Parameters
    ----------
    mapped : (n, k) rows mapped by a metric, or the rows themselves for Euclidean distance
    comparisons : Comparisons
        ``Comparisons.from_indices(triplets, weights)`` makes them from row indices.

    Returns
    -------
    (m,) one boolean per comparison
    """
    # Squares of extreme entries over- or underflow; a power of two changes no sign of a margin.
    rows = mapped.rescaled()[0]
    return comparisons.margins(rows.squared_differences(*comparisons.edges.T)) > 0.0


def triplet_accuracy(mapped: Items, comparisons: Comparisons) -> float:
    """The weighted share of comparisons that are answered correctly; see `correct_answers`.

    >>> import numpy as np
    >>> from sdpmetric.linalg.items import as_items
    >>> rows = as_items([[0.0], [1.0], [3.0]])
    >>> triplets = np.array([[0, 1, 2], [1, 2, 0]])  # the second says that 2 is nearer to 1 than 0
    >>> triplet_accuracy(rows, Comparisons.from_indices(triplets, np.array([3.0, 1.0])))
    0.75
    """
    return float(np.average(correct_answers(mapped, comparisons), weights=comparisons.weights))
