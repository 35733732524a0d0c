"""Checks of input: each error names the argument, what was found and what is expected."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ._typing import Floats, Ints, Items
from .losses import Huber, Logistic, Loss, SquaredHinge, vanishes
from .products import extremes

__all__ = [
    "as_csr",
    "as_items",
    "as_labels",
    "as_loss",
    "as_options",
    "as_prior",
    "as_triplets",
    "as_weights",
    "check_bounded",
    "check_choice",
    "check_finite",
    "check_integer",
    "check_jobs",
    "check_members",
    "check_neighbors",
    "check_real",
    "check_support",
    "check_varied",
]

_LOSSES = ("huber", "squared_hinge", "logistic", "hinge")


def check_real(
    name: str, value: object, low: float, high: float = math.inf, *, closed: bool = False
) -> float:
    """A finite number above ``low`` (or equal to it, if ``closed``) and at most ``high``."""
    kind = "at least" if closed else "greater than"
    expected = f"a number {kind} {low:g}" + (f" and at most {high:g}" if high < math.inf else "")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise ValueError(f"{name} must be {expected}, got {value!r}.")
    number = float(value)
    if not (
        math.isfinite(number) and number <= high and (number > low or (closed and number == low))
    ):
        raise ValueError(f"{name} must be {expected}, got {value!r}.")
    return number


def check_integer(name: str, value: object, low: int, high: int | None = None) -> int:
    expected = f"an integer of at least {low}" + (f" and at most {high}" if high else "")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be {expected}, got {value!r}.")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name} must be {expected}, got {value!r}.")
    return number


def check_jobs(n_jobs: object) -> int | None:
    if n_jobs is None:
        return None
    jobs = check_integer("n_jobs", n_jobs, -1)
    if jobs == 0:
        raise ValueError("n_jobs must be None, -1 for all cores or at least 1, got 0.")
    return jobs


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {choices}, got {value!r}.")


def check_neighbors(neighbors: object) -> None:
    check_choice("neighbors", neighbors, ("exact", "approximate"))
    if neighbors == "approximate" and find_spec("faiss") is None:
        raise ImportError(
            "neighbors='approximate' needs faiss: pip install 'sdpmetric[faiss]', or use "
            "neighbors='exact'."
        )


def as_csr(X: Any) -> Items:
    """X as CSR with sorted columns, each but once; the user's own matrix is not touched."""
    rows = sp.csr_array(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def as_items(X: Any, name: str = "X") -> Items:
    """X as a finite float32 or float64 array, or CSR; anything else becomes float64."""
    if sp.issparse(X):
        X = as_csr(X)
        entries = X.data
    else:
        X = np.asarray(X)
        entries = X
    if X.dtype.kind not in "fiub":
        if X.dtype.kind not in "OUST":
            raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}.")
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must hold numbers, got dtype {X.dtype}.") from None
        entries = X.data if sp.issparse(X) else X
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"{name} must be a table of rows and columns, got shape {X.shape}.")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
        entries = X.data if sp.issparse(X) else X
    check_finite(X, entries, name)
    return X


def check_finite(X: Items, entries: npt.NDArray[Any], name: str = "X") -> None:
    """Name the first row that holds NaN or infinity."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(entries)):  # no temporary of the size of X
            return
    finite = np.isfinite(entries)
    if finite.all():
        return  # only the sum overflowed
    if sp.issparse(X):
        at = int(np.flatnonzero(~finite)[0])
        row = int(np.searchsorted(X.indptr, at, side="right")) - 1
        column, value = int(X.indices[at]), entries[at]
    else:
        row, column = (int(i) for i in np.argwhere(~finite)[0])
        value = entries[row, column]
    what = "NaN" if np.isnan(value) else "infinity (inf)"
    raise ValueError(
        f"{name} contains {what}, first at row {row}, column {column}; expected finite numbers."
    )


def check_varied(X: Items) -> None:
    """Some pair of rows must differ."""
    low, high = extremes(X)
    if np.array_equal(low, high):
        raise ValueError(
            f"X: all {X.shape[0]} rows are identical (n_samples={X.shape[0]}), expected rows that "
            "differ."
        )


def as_labels(y: Any) -> tuple[npt.NDArray[Any], Ints]:
    """The classes, and each row's class as 0, 1, ..."""
    from sklearn.utils.multiclass import check_classification_targets

    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must have one label per row, got shape {y.shape}.")
    try:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold one class label per row, all of a kind. {error}") from None
    if len(classes) < 2:
        raise ValueError(f"y has 1 class ({classes[0]!r}), expected at least two.")
    return classes, codes.astype(np.int64)


def as_triplets(triplets: Any, n_items: int, name: str = "triplets") -> Ints:
    """Comparisons as int64 row indices, (m, 3) or (m, 4), each of them meaningful."""
    try:
        given = np.asarray(triplets)
        if given.dtype.kind == "O":  # nullable integers of pandas, for one
            given = given.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a table of row indices, 3 or 4 a row.") from None
    if given.ndim != 2 or given.shape[1] not in (3, 4):
        raise ValueError(
            f"{name} must have shape (m, 3) [anchor, near, far] or (m, 4) [near, near, far, far], "
            f"got shape {given.shape}."
        )
    if len(given) == 0:
        raise ValueError(f"{name} holds no comparison, expected at least one.")
    if given.dtype.kind not in "iuf":
        raise ValueError(f"{name} must hold integer row indices, got dtype {given.dtype}.")
    if given.dtype.kind == "f":
        _refuse(given, ~(np.isfinite(given) & (given == np.floor(given))), name, "whole numbers")
    _refuse(given, given < 0, name, "row indices that are not negative")
    _refuse(given, given >= n_items, name, f"row indices below the number of items, {n_items}")
    indices = given.astype(np.int64, copy=False)
    _check_meaning(indices, name)
    return indices


def _refuse(given: npt.NDArray[Any], bad: npt.NDArray[np.bool_], name: str, expected: str) -> None:
    rows = np.flatnonzero(bad.any(axis=1)) if bad.ndim == 2 else np.flatnonzero(bad)
    if len(rows):
        row = int(rows[0])
        raise ValueError(f"{name}: row {row} is {given[row].tolist()}, expected {expected}.")


def _check_meaning(indices: Ints, name: str) -> None:
    if indices.shape[1] == 3:
        anchor, near, far = indices.T
        _refuse(indices, anchor == near, name, "an anchor other than its near item")
        _refuse(indices, anchor == far, name, "an anchor other than its far item")
        _refuse(indices, near == far, name, "a near item other than the far item")
        return
    a, b, c, d = indices.T
    _refuse(indices, (a == b) | (c == d), name, "pairs of two different items")
    same = ((a == c) & (b == d)) | ((a == d) & (b == c))
    _refuse(indices, same, name, "a near pair other than the far pair")


def as_weights(weights: Any, m: int, name: str = "sample_weight") -> Floats | None:
    if weights is None:
        return None
    try:
        given = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, one per comparison.") from None
    if given.shape != (m,):
        raise ValueError(
            f"{name} must have one weight per comparison, shape ({m},), got shape {given.shape}."
        )
    bad = np.flatnonzero(~(np.isfinite(given) & (given >= 0.0)))
    if len(bad):
        raise ValueError(
            f"{name}: entry {bad[0]} is {given[bad[0]]}, expected a finite number not below 0."
        )
    if not given.any():
        raise ValueError(f"{name} is zero everywhere, expected at least one positive weight.")
    return given / float(given.max())  # only their ratios count


def as_loss(loss: object, h: object) -> Loss | None:
    """The loss that a name or an object stands for; None for the hinge."""
    if isinstance(loss, str):
        if loss not in _LOSSES:
            raise ValueError(f"loss must be one of {_LOSSES} or a Loss, got {loss!r}.")
        if loss == "squared_hinge":
            return SquaredHinge()
        if loss == "hinge":
            return None
        width = check_real("h", h, 0.0)
        return Huber(width) if loss == "huber" else Logistic(width)
    check_members(loss)
    _check_sane(loss)
    return loss  # type: ignore[return-value]


def check_members(loss: object) -> None:
    """Whether an object has what a `Loss` has."""
    members = ("value", "slope", "curvature", "support", "max_slope")
    missing = [name for name in members if not hasattr(loss, name)]
    if missing or isinstance(loss, type):
        raise ValueError(
            f"loss must be one of {_LOSSES} or an object with value, slope, curvature, support and "
            f"max_slope; {loss!r} lacks {', '.join(missing) or 'an instance (it is a class)'}."
        )


def _check_sane(loss: Any) -> None:
    """A glance at a user's loss; `check_loss` looks closer."""
    slopes = np.asarray(loss.slope(np.array([-10.0, -1.0, -0.1, 0.0, 0.1, 1.0, 10.0])))
    if not (np.isfinite(slopes).all() and (slopes <= 0.0).all() and (np.diff(slopes) >= 0.0).all()):
        raise ValueError(
            "loss must be convex and non-increasing (slopes finite, never positive, ascending); "
            "check_loss(loss) says more."
        )
    if not loss.max_slope > 0.0:
        raise ValueError(f"loss.max_slope must be positive, got {loss.max_slope!r}.")


def check_bounded(loss: Loss, C: float, crowd: float = 1.0) -> None:
    """With bounded slopes the margin runs away unless the comparisons can outweigh it.

    ``crowd``: by how much all comparisons outweigh those that C is divided by.
    """
    if not loss.max_slope * C * crowd > 1.0:
        raise ValueError(
            f"C must be greater than {1.0 / (loss.max_slope * crowd):g} for a loss whose slope is "
            f"at most {loss.max_slope:g}, or the objective is unbounded; got {C!r}."
        )


def check_support(loss: Loss) -> None:
    """Working sets need a loss that is zero beyond some margin."""
    if not vanishes(loss):
        raise ValueError(
            f"loss must be zero beyond a finite support for triplets='all', got {loss!r} with "
            f"support {loss.support!r}; expected 'huber', 'squared_hinge', 'hinge' or such a Loss."
        )


def as_prior(prior: object, weight: object, n_features: int) -> tuple[str | Floats | None, float]:
    """The prior, an array normalised to trace one, and its weight t."""
    t = check_real("prior_weight", weight, 0.0, 1.0, closed=True)
    if prior is None:
        if t > 0.0:
            raise ValueError(
                f"prior_weight is {t:g} but prior is None; expected prior='identity' or an array."
            )
        return None, 0.0
    if isinstance(prior, str):
        if prior != "identity":
            raise ValueError(f"prior must be None, 'identity' or an array, got {prior!r}.")
        return prior, t
    return _as_psd(prior, n_features), t


def _as_psd(prior: object, n_features: int) -> Floats:
    try:
        M0 = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"prior must be None, 'identity' or an array, got {prior!r}.") from None
    if M0.shape != (n_features, n_features):
        raise ValueError(
            f"prior must have shape ({n_features}, {n_features}), one row and column per feature "
            f"of X, got {M0.shape}."
        )
    if not np.isfinite(M0).all():
        raise ValueError("prior contains NaN or infinity, expected finite numbers.")
    size = float(np.abs(M0).max())
    if not np.allclose(M0, M0.T, rtol=0.0, atol=1e-8 * size):
        raise ValueError("prior is not symmetric, expected a positive semidefinite matrix.")
    if size == 0.0:
        raise ValueError("prior is zero everywhere, expected a matrix of positive trace.")
    M0 = 0.5 * (M0 + M0.T) / size
    lowest = float(np.linalg.eigvalsh(M0)[0])
    if lowest < -1e-8:
        raise ValueError(
            f"prior has a negative eigenvalue ({lowest * size:g}), expected a positive "
            "semidefinite matrix."
        )
    return M0 / float(np.trace(M0))


def as_options(options: object, solver: Callable[..., object]) -> dict[str, Any]:
    """solver_options, if the solver knows every name in it."""
    if options is None:
        return {}
    common = {"start", "tol", "max_iter", "time_limit", "callback", "seed"}
    known = {
        name
        for name, parameter in inspect.signature(solver).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    } - common
    if not isinstance(options, Mapping):
        raise ValueError(f"solver_options must be a dict or None, got {options!r}.")
    unknown = sorted(str(name) for name in set(options) - known)
    if unknown:
        raise ValueError(
            f"solver_options has {', '.join(map(repr, unknown))}, which this solver does not know; "
            f"expected some of {', '.join(sorted(known))}."
        )
    return _checked(dict(options))


def _checked(options: dict[str, Any]) -> dict[str, Any]:
    for name in ("rank", "corrections", "J", "dense_limit", "history_bytes"):
        if name in options:
            check_integer(f"solver_options[{name!r}]", options[name], 1)
    if not isinstance(options.get("screen", True), (bool, np.bool_)):
        raise ValueError(f"solver_options['screen'] must be a bool, got {options['screen']!r}.")
    if options.get("K") is not None:
        check_integer("solver_options['K']", options["K"], 1)
    if options.get("epsilon") is not None:
        check_real("solver_options['epsilon']", options["epsilon"], 0.0)
    c1 = check_real("solver_options['c1']", options.get("c1", 1e-4), 0.0, 1.0)
    c2 = check_real("solver_options['c2']", options.get("c2", 0.9), 0.0, 1.0)
    if not c1 < c2 < 1.0:
        raise ValueError(f"solver_options must have 0 < c1 < c2 < 1, got c1={c1:g}, c2={c2:g}.")
    return options
