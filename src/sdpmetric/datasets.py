"""Two data sets of the paper that a rule generates."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ._support.checks import check_integer, check_real
from ._support.typing import Floats, Ints

__all__ = ["make_balance", "make_twin_peaks"]


def make_balance() -> tuple[Floats, Ints]:
    """The balance scale data of UCI: every weight and distance from 1 to 5 on both arms.

    Returns
    -------
    X : (625, 4) left weight, left distance, right weight, right distance
    y : 0 tips left, 1 balanced, 2 tips right

    Examples
    --------
    >>> from sdpmetric.datasets import make_balance
    >>> X, y = make_balance()
    >>> X.shape, [int((y == label).sum()) for label in range(3)]
    ((625, 4), [288, 49, 288])
    """
    X = np.array(list(itertools.product(range(1, 6), repeat=4)), dtype=np.float64)
    # sign is 1 for left, 0 for balanced, -1 for right.
    torque = X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]
    return X, (1 - np.sign(torque)).astype(np.int64)


def make_twin_peaks(
    n_samples: int = 2000, *, noise: float = 0.0, random_state: Any = None
) -> tuple[Floats, Ints]:
    """The twin peaks data of van der Maaten: a curved surface, labelled by its rounded height.

    Classes are levels of the third coordinate, so that they are far from linearly separable in the
    other two.

    Parameters
    ----------
    n_samples : int, default=2000
    noise : float, default=0.0
        Standard deviation of the noise that is added to the coordinates; the third is scaled by
        ten afterwards.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : (n_samples, 3) coordinates
    y : heights rounded to whole numbers, negative ones to 0

    Examples
    --------
    >>> from sdpmetric.datasets import make_twin_peaks
    >>> X, y = make_twin_peaks(5000, random_state=0)
    >>> X.shape, int(y.min()), int(y.max())
    ((5000, 3), 0, 10)
    """
    n = check_integer("n_samples", n_samples, 1)
    spread = check_real("noise", noise, 0.0, closed=True)
    random = check_random_state(random_state)
    a, b = random.uniform(-1.0, 1.0, size=(2, n))
    X = np.stack([a, b, np.sin(np.pi * a) * np.tanh(3.0 * b)], axis=1)
    X += spread * random.standard_normal(X.shape)
    X[:, 2] *= 10.0
    # Halves up: np.round would send 0.5 and 2.5 down to the even number.
    return X, np.floor(np.clip(X[:, 2], 0.0, None) + 0.5).astype(np.int64)
