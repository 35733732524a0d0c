"""`suggest_triplets`: which comparison to ask next."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._typing import Floats, Ints
from .inputs import as_csr, as_items, as_triplets
from .products import blocks, squared_differences
from .settings import seed_of
from .validation import check_integer

__all__ = ["suggest_triplets"]

_EACH = 100  # candidates to each question
_MOST = 1_000_000  # candidates in all, unless four to each question are more
_BLOCK_BYTES = 1 << 26  # of rows of X at a time


def suggest_triplets(
    X: Any, metric: Any, n: int, *, asked: Any = None, random_state: Any = None
) -> Ints:
    """The questions "is j or k nearer to i?" whose answers the metric is least sure of.

    Of random candidates those with the smallest relative margin
    ``|d(i,j) - d(i,k)| / (d(i,j) + d(i,k))``, d squared, are taken in turn, but no pair of items
    twice and no anchor more than twice its even share until candidates run out. Few items: all
    questions are candidates. Questions about items that no metric can tell apart are left out.

    Parameters
    ----------
    X : (N, D) items, dense or sparse; only rows in candidates are read
    metric : a fitted metric, transformer or Pipeline; None: Euclidean distance
    n : int
        How many questions.
    asked : (m, 3) triplets not to be asked again, whichever way they were answered
    random_state : int, RandomState or None; None is always the same seed

    Returns
    -------
    (n, 3) row indices [i, j, k], j < k, the least sure first; show j and k in random order

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import suggest_triplets
    >>> X = np.array([[0.0], [1.0], [2.1], [10.0]])
    >>> suggest_triplets(X, None, 2).tolist()  # 1 is about as far from 0 as from 2
    [[1, 0, 2], [3, 0, 1]]
    """
    count = check_integer("n", n, 1)
    if metric is not None and not hasattr(metric, "transform"):
        raise ValueError(f"metric must be None or have a transform method, got {metric!r}.")
    if sp.issparse(X):
        X = as_csr(X)
    elif not hasattr(X, "shape"):
        X = as_items(X)
    if len(X.shape) != 2:
        raise ValueError(f"X must be a table of rows and columns, got shape {X.shape}.")
    N = int(X.shape[0])
    known = _questions(as_triplets(asked, N, "asked")) if _some(asked) else np.empty((0, 3), int)
    left = N * (N - 1) * (N - 2) // 2 - len(known)
    if count > left:
        raise ValueError(
            f"n is {count}, but only {max(left, 0)} questions about {N} items were not asked yet."
        )
    rng = np.random.default_rng(seed_of(random_state))
    candidates = _unlisted(_candidates(N, count, len(known), rng), known)
    candidates = rng.permutation(candidates)  # or ties would go to the first items
    margins = _margins(X, metric, candidates)
    order = np.argsort(margins, kind="stable")
    order = order[: np.count_nonzero(np.isfinite(margins))]
    if len(order) < count:
        raise ValueError(
            f"n is {count}, but of {len(margins)} candidates only {len(order)} are about items "
            "that differ."
        )
    return _diverse(candidates[order], count, N)


def _candidates(N: int, n: int, n_asked: int, rng: np.random.Generator) -> Ints:
    """Questions [i, j, k] with j < k, each once: all, or a sample where that is too many."""
    size = max(min(_EACH * n, _MOST), 4 * n)
    if max(size, 4 * n_asked) >= N * (N - 1) * (N - 2) // 2:  # asked ones are left out later
        j, k = np.triu_indices(N, 1)
        i = np.repeat(np.arange(N), len(j))
        j, k = np.tile(j, N), np.tile(k, N)
        fits = (i != j) & (i != k)
        return np.stack([i[fits], j[fits], k[fits]], axis=1)
    drawn = rng.integers(N, size=(size, 3))
    i, j, k = drawn.T
    return _questions(drawn[(i != j) & (i != k) & (j != k)])


def _questions(triplets: Ints) -> Ints:
    """The questions that triplets answer, each once."""
    if triplets.shape[1] != 3:
        raise ValueError(f"asked has shape {triplets.shape}, expected (m, 3) triplets.")
    i, j, k = triplets.T
    return np.unique(np.stack([i, np.minimum(j, k), np.maximum(j, k)], axis=1), axis=0)


def _unlisted(candidates: Ints, known: Ints) -> Ints:
    both, first, count = np.unique(
        np.concatenate([known, candidates]), axis=0, return_index=True, return_counts=True
    )
    new: Ints = both[(first >= len(known)) & (count == 1)]
    return new


def _margins(X: Any, metric: Any, questions: Ints) -> Floats:
    """Relative margins; infinite where no answer could teach a metric anything."""
    margins = np.empty(len(questions))
    width = X.nnz // X.shape[0] + 1 if hasattr(X, "nnz") else X.shape[1]
    for block in blocks(len(questions), 3 * width, _BLOCK_BYTES):
        rows, numbers = np.unique(questions[block], return_inverse=True)
        i, j, k = numbers.reshape(-1, 3).T
        some = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        raw = as_items(some)
        mapped = raw if metric is None else as_items(metric.transform(some))
        a, b = squared_differences(mapped, i, j), squared_differences(mapped, i, k)
        ratio = np.divide(np.abs(a - b), a + b, out=np.zeros(len(a)), where=a + b > 0.0)
        margins[block] = np.where(squared_differences(raw, j, k) == 0.0, np.inf, ratio)
    return margins


def _diverse(questions: Ints, n: int, N: int) -> Ints:
    """The first n, but anchors and pairs that had their share wait for a next round."""
    share, rounds = -(-2 * n // N), 0
    anchors: Counter[int] = Counter()
    pairs: Counter[tuple[int, int]] = Counter()
    chosen: list[int] = []
    waiting = list(range(len(questions)))
    rows = questions.tolist()
    while len(chosen) < n:
        rounds += 1
        rest = []
        for number in waiting:
            i, j, k = rows[number]
            both = [(min(i, j), max(i, j)), (min(i, k), max(i, k))]
            full = anchors[i] >= rounds * share or any(pairs[pair] >= rounds for pair in both)
            if full or len(chosen) == n:
                rest.append(number)
                continue
            chosen.append(number)
            anchors[i] += 1
            pairs.update(both)
        waiting = rest
    return questions[sorted(chosen)]


def _some(asked: Any) -> bool:
    return asked is not None and len(asked) > 0
