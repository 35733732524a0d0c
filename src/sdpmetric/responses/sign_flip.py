"""A paired sign-flip test: does one metric predict people's answers better than another?

The test flips *units*: a unit is a participant with all answers, or an answer with all its
triplets. Triplets of one unit depend on each other; units are assumed to be independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from .._support.checks import check_integer, seed_of
from .._support.typing import Floats
from ..linalg.blocks import RESULT_BYTES, blocks
from .judging import predicted
from .responses import Responses, in_range


@dataclass(frozen=True)
class SignFlipTest:
    """The outcome of `sign_flip_test`.

    Attributes
    ----------
    accuracy, baseline_accuracy : triplet accuracy of the metric and of the baseline
    p_value : one-sided, for the hypothesis that the metric is no better than the baseline
    exact : whether all flips were counted; otherwise a sample was drawn
    n_units : number of participants (or answers) for whom the two accuracies differ
    """

    accuracy: float
    baseline_accuracy: float
    p_value: float
    exact: bool
    n_units: int


def sign_flip_test(
    X: Any,
    responses: Responses,
    metric: Any,
    baseline: Any = None,
    *,
    by: str | None = None,
    n_flips: int = 10_000,
    random_state: Any = None,
) -> SignFlipTest:
    """Test whether a metric is better than a baseline: a paired permutation test.

    Let d_u be the weight of unit u's triplets that the metric answers correctly, minus the weight
    of those that the baseline does, and T the sum of all d_u. If neither is better, exchanging the
    two within any unit changes nothing, so every d_u has either sign with the same probability:
    ``p = P(sum of s_u d_u >= T)`` for independent random signs s_u. Where at most ``n_flips``
    different sums exist, all of them are counted and p is exact. Otherwise
    ``p = (1 + k) / (1 + n_flips)``, where k of ``n_flips`` drawn sums are at least T. Use answers
    that neither metric was fitted on.

    Parameters
    ----------
    X : (n, D) items
    responses : Responses
    metric, baseline : fitted metrics, transformers or Pipelines; None: Euclidean distance
    by : {"participant", "answer", "question"}; None: participants where known, else answers
    n_flips : int, default=10_000
    random_state : int, RandomState or None; None is always the same seed

    Returns
    -------
    SignFlipTest

    Examples
    --------
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> from sdpmetric import Responses, sign_flip_test
    >>> X = [[0.0, 0.0], [1.0, 5.0], [2.0, 0.0]]
    >>> first = FunctionTransformer(lambda X: X[:, :1])  # all three people look at this column
    >>> r = Responses([[0, 1, 2]] * 3, participants=["Ada", "Bo", "Cy"])
    >>> sign_flip_test(np.array(X), r, first).p_value  # one of the eight ways to flip
    0.125
    """
    B = check_integer("n_flips", n_flips, 1)
    right = predicted(X, responses, metric)
    other = predicted(X, responses, baseline, "baseline")
    w = in_range(responses.weights)[0]
    gain = w * (right.astype(np.float64) - other)
    difference = np.bincount(responses.units(by), gain).astype(np.float64)
    total = float(w.sum())
    # Sums of weights that are equal in exact arithmetic must be equal here, and a difference that
    # is only rounding must be zero: both decide which sums reach T.
    difference = np.round(difference / float(w.max()), 9)
    p, exact = _flipped(difference, B, seed_of(random_state))
    return SignFlipTest(
        accuracy=float(w @ right) / total,
        baseline_accuracy=float(w @ other) / total,
        p_value=p,
        exact=exact,
        n_units=int(np.count_nonzero(difference)),
    )


def _flipped(d: Floats, n_flips: int, seed: int) -> tuple[float, bool]:
    """The probability ``P(sum of +-d >= sum of d)``, and whether it is exact."""
    sizes, counts = np.unique(np.abs(d[d != 0.0]), return_counts=True)
    threshold = float(d.sum()) - 1e-6  # sums of the same numbers in another order round otherwise
    # Of n units with the same |d|, a binomial number keeps its sign. So there are n + 1 sums for
    # them, not 2^n: with equal weights the test stays exact for hundreds of participants.
    if math.prod(int(n) + 1 for n in counts) <= n_flips:
        sums, chances = np.zeros(1), np.ones(1)
        for size, n in zip(sizes, counts, strict=True):
            kept = np.arange(n + 1)
            sums = np.add.outer(sums, size * (2 * kept - n)).ravel()
            chances = np.multiply.outer(chances, binom.pmf(kept, n, 0.5)).ravel()
        return min(1.0, float(chances[sums >= threshold].sum())), True
    rng = np.random.default_rng(seed)
    above = 0
    for block in blocks(n_flips, len(sizes), RESULT_BYTES):
        kept = rng.binomial(counts, 0.5, size=(block.stop - block.start, len(sizes)))
        above += int(np.count_nonzero((2 * kept - counts) @ sizes >= threshold))
    return (1 + above) / (1 + n_flips), False
