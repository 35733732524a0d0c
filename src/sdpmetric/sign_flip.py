"""Is a metric better than another on people's answers? A paired sign-flip test.

What is flipped is a *unit*: a participant with all answers, or an answer with all its
triplets. Triplets of one unit are not independent of each other; units are taken to be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from ._typing import Floats
from .judging import right_answers
from .products import blocks
from .responses import Responses
from .settings import seed_of
from .validation import check_integer

__all__ = ["SignFlipTest", "sign_flip_test"]

_BLOCK_BYTES = 1 << 24


@dataclass(frozen=True)
class SignFlipTest:
    """What `sign_flip_test` returns.

    Attributes
    ----------
    accuracy, baseline_accuracy : of the metric and of what it is compared with
    p_value : one-sided, for "the metric is no better"
    exact : whether all flips were counted; otherwise some were drawn
    n_units : participants (or answers) in whom the two differ
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
    """Is a metric better than its prior? A paired permutation test.

    Let d_u be the weight of unit u's triplets that the metric answers rightly less that of those
    that the baseline does, and T the sum of all d_u. If neither is better, exchanging the two
    within any unit changes nothing, so every d_u may as well have the other sign:
    ``p = P(sum of s_u d_u >= T)`` for independent signs s_u. Where at most ``n_flips`` different
    sums exist all are counted and p is exact, otherwise ``p = (1 + k) / (1 + n_flips)`` with k of
    ``n_flips`` drawn sums at least T. Judge answers that neither metric was fitted on.

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
    >>> first = FunctionTransformer(lambda X: X[:, :1])  # what all three people look at
    >>> r = Responses([[0, 1, 2]] * 3, participants=["Ada", "Bo", "Cy"])
    >>> sign_flip_test(np.array(X), r, first).p_value  # one of the eight ways to flip
    0.125
    """
    B = check_integer("n_flips", n_flips, 1)
    right = right_answers(X, responses, metric)
    other = right_answers(X, responses, baseline, "baseline")
    w = responses.weights
    difference = np.bincount(responses.units(by), w * (right.astype(np.float64) - other))
    total = float(w.sum())
    # Equal on paper is to be equal here, and nothing but rounding is to be nothing.
    difference = np.round(difference / float(w.max()), 9)
    shares = float(w @ right) / total, float(w @ other) / total
    p, exact = _flipped(difference, B, seed_of(random_state))
    return SignFlipTest(*shares, p, exact, int(np.count_nonzero(difference)))


def _flipped(d: Floats, n_flips: int, seed: int) -> tuple[float, bool]:
    """P(sum of +-d >= sum of d), and whether it is exact."""
    sizes, counts = np.unique(np.abs(d[d != 0.0]), return_counts=True)
    threshold = float(d.sum()) - 1e-6
    # n units of one size: a binomial number of them keeps its sign.
    if math.prod(int(n) + 1 for n in counts) <= n_flips:
        sums, chances = np.zeros(1), np.ones(1)
        for size, n in zip(sizes, counts, strict=True):
            kept = np.arange(n + 1)
            sums = np.add.outer(sums, size * (2 * kept - n)).ravel()
            chances = np.multiply.outer(chances, binom.pmf(kept, n, 0.5)).ravel()
        return min(1.0, float(chances[sums >= threshold].sum())), True
    rng = np.random.default_rng(seed)
    above = 0
    for block in blocks(n_flips, len(sizes), _BLOCK_BYTES):
        kept = rng.binomial(counts, 0.5, size=(block.stop - block.start, len(sizes)))
        above += int(np.count_nonzero((2 * kept - counts) @ sizes >= threshold))
    return (1 + above) / (1 + n_flips), False
