"""Checks of arguments: each error names the argument, what was found and what is expected."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from numbers import Integral, Real
from typing import Any

import numpy as np

from ._typing import Floats
from .losses import Huber, Logistic, Loss, SquaredHinge, vanishes

__all__ = [
    "as_loss",
    "as_options",
    "as_prior",
    "check_bounded",
    "check_choice",
    "check_integer",
    "check_jobs",
    "check_members",
    "check_neighbors",
    "check_real",
    "check_support",
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
