"""`suggest_triplets`: which comparisons to ask next."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._support.checks import check_choice, check_integer, seed_of
from .._support.typing import Floats, Ints
from ..linalg.blocks import LARGE_BYTES, blocks
from ..linalg.items import as_csr, as_items
from ..problem.checks import as_triplets

_EACH = 100  # candidates per question: the best of a hundred random ones are near the least margin
_MOST = 1_000_000  # candidates in all, which bounds time and memory; but at least four per question


def suggest_triplets(
    X: Any, metric: Any, n: int, *, ask: str = "2afc", asked: Any = None, random_state: Any = None
) -> Ints:
    """Choose the questions that the metric is least sure about.

    "2afc" asks "is j or k nearer to i?". The margin of such a question is
    ``|d(i,j) - d(i,k)| / (d(i,j) + d(i,k))`` with squared distances d. "odd-one-out" asks "which
    of i, j and k does not belong?", which names the pair that is nearest to each other. Its margin
    is the same for the two smallest of the three distances.

    Random candidates are taken by ascending margin. No pair of items is taken twice, and no anchor
    more than twice its even share, as long as other candidates are left. For few items all
    questions are candidates. Questions about j and k with equal features are left out, since no
    metric can answer them; so are odd ones out of three items of which two have equal features.

    Parameters
    ----------
    X : (N, D) items, dense or sparse; only rows that are part of a candidate are read
    metric : a fitted metric, transformer or Pipeline; None: Euclidean distance
    n : int
        Number of questions.
    ask : {"2afc", "odd-one-out"}, default="2afc"
    asked : (m, 3) triplets that are not to be asked again, whichever way they were answered
    random_state : int, RandomState or None; None is always the same seed

    Returns
    -------
    (n, 3) row indices [i, j, k], j < k, by ascending margin; show j and k in random order
        For an odd one out, i < j < k.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpmetric import suggest_triplets
    >>> X = np.array([[0.0], [1.0], [2.1], [10.0]])
    >>> suggest_triplets(X, None, 2).tolist()  # 1 is about as far from 0 as from 2
    [[1, 0, 2], [3, 0, 1]]
    >>> suggest_triplets(X, None, 1, ask="odd-one-out").tolist()  # 0 and 1, or 1 and 2?
    [[0, 1, 2]]
    """
    count = check_integer("n", n, 1)
    check_choice("ask", ask, ("2afc", "odd-one-out"))
    odd = ask == "odd-one-out"
    if metric is not None and not hasattr(metric, "transform"):
        raise ValueError(f"metric must be None or have a transform method, got {metric!r}.")
    if sp.issparse(X):
        X = as_csr(X)
    elif not hasattr(X, "shape"):
        X = as_items(X).raw
    if len(X.shape) != 2:
        raise ValueError(f"X must be a table of rows and columns, got shape {X.shape}.")
    N = int(X.shape[0])
    given = as_triplets(asked, N, "asked") if _some(asked) else np.empty((0, 3), int)
    known = _questions(given, odd)
    # N anchors, and the pairs of the other N - 1 items; an odd one out has no anchor.
    left = N * (N - 1) * (N - 2) // (6 if odd else 2) - len(known)
    if count > left:
        raise ValueError(
            f"n is {count}, but only {max(left, 0)} questions about {N} items were not asked yet."
        )
    rng = np.random.default_rng(seed_of(random_state))
    candidates = _unlisted(_candidates(N, count, len(known), rng, odd), known)
    # In random order, since the stable sort below gives ties to the first candidates.
    candidates = rng.permutation(candidates)
    margins = _margins(X, metric, candidates, odd)
    order = np.argsort(margins, kind="stable")
    order = order[: np.count_nonzero(np.isfinite(margins))]
    if len(order) < count:
        raise ValueError(
            f"n is {count}, but of {len(margins)} candidates only {len(order)} are about items "
            "that differ."
        )
    return _diverse(candidates[order], count, N, odd)


def _candidates(N: int, n: int, n_asked: int, rng: np.random.Generator, odd: bool) -> Ints:
    """Distinct questions [i, j, k] with j < k: all of them, or a sample if these are too many."""
    size = max(min(_EACH * n, _MOST), 4 * n)
    # A sample loses the questions that were asked already: if these are a quarter of all, list all.
    if max(size, 4 * n_asked) >= N * (N - 1) * (N - 2) // 2:
        j, k = np.triu_indices(N, 1)
        i = np.repeat(np.arange(N), len(j))
        j, k = np.tile(j, N), np.tile(k, N)
        fits = i < j if odd else (i != j) & (i != k)
        return np.stack([i[fits], j[fits], k[fits]], axis=1)
    drawn = rng.integers(N, size=(size, 3))
    i, j, k = drawn.T
    return _questions(drawn[(i != j) & (i != k) & (j != k)], odd)


def _questions(triplets: Ints, odd: bool) -> Ints:
    """The distinct questions that triplets answer."""
    if triplets.shape[1] != 3:
        raise ValueError(f"asked has shape {triplets.shape}, expected (m, 3) triplets.")
    if odd:
        return np.unique(np.sort(triplets, axis=1), axis=0)
    i, j, k = triplets.T
    return np.unique(np.stack([i, np.minimum(j, k), np.maximum(j, k)], axis=1), axis=0)


def _unlisted(candidates: Ints, known: Ints) -> Ints:
    """The candidates that are not among the known questions."""
    # return_index names the first copy of a row, and known ones come first.
    both, first = np.unique(np.concatenate([known, candidates]), axis=0, return_index=True)
    new: Ints = both[first >= len(known)]
    return new


def _margins(X: Any, metric: Any, questions: Ints, odd: bool) -> Floats:
    """Relative margins; infinite where j and k (of an odd one out: any two) have equal features."""
    margins = np.empty(len(questions))
    # The numbers that a row holds, on average for sparse rows, decide how many fit into a block.
    width = X.nnz // X.shape[0] + 1 if hasattr(X, "nnz") else X.shape[1]
    for block in blocks(len(questions), 3 * width, LARGE_BYTES):
        rows, numbers = np.unique(questions[block], return_inverse=True)
        i, j, k = numbers.reshape(-1, 3).T
        some = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        # Rescaled, since squares of extreme entries over- or underflow; margins are ratios.
        raw = as_items(some).rescaled()[0]
        mapped = raw if metric is None else as_items(metric.transform(some)).rescaled()[0]
        a, b = mapped.squared_differences(i, j), mapped.squared_differences(i, k)
        least = raw.squared_differences(j, k)
        if odd:
            a, b, _ = np.sort([a, b, mapped.squared_differences(j, k)], axis=0)
            for other in (j, k):
                least = np.minimum(least, raw.squared_differences(i, other))
        ratio = np.divide(np.abs(a - b), a + b, out=np.zeros(len(a)), where=a + b > 0.0)
        margins[block] = np.where(least == 0.0, np.inf, ratio)
    return margins


def _diverse(questions: Ints, n: int, N: int, odd: bool) -> Ints:
    """Take n questions in order, in rounds: an anchor or a pair waits when its share is used up.

    All three items of an odd one out count as its anchors. The shares grow by the same amount each
    round, so that n questions are found in the end.
    """
    # Twice the even share n / N (of an odd one out: 3 n / N), rounded up.
    share, rounds = -(-(6 if odd else 2) * n // N), 0
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
            both = [(min(i, j), max(i, j)), (min(i, k), max(i, k))] + odd * [(j, k)]
            mine = [i, j, k] if odd else [i]
            full = any(anchors[item] >= rounds * share for item in mine)
            full = full or any(pairs[pair] >= rounds for pair in both)
            if full or len(chosen) == n:
                rest.append(number)
                continue
            chosen.append(number)
            anchors.update(mine)
            pairs.update(both)
        waiting = rest
    return questions[sorted(chosen)]


def _some(asked: Any) -> bool:
    return asked is not None and len(asked) > 0
