"""The arguments ``loss`` and ``h``: a built-in loss by its name, or a user's loss, checked."""

from __future__ import annotations

import math
from dataclasses import fields
from numbers import Real
from typing import Any

import numpy as np

from .._support.checks import as_real, check_real, shown
from . import losses
from .loss_names import LOSSES
from .losses import Loss, vanishes

__all__ = ["as_loss", "check_bounded", "check_members", "check_support"]


def as_loss(loss: object, h: object) -> Loss:
    """Return the loss of a name, of width ``h`` if it has a width, or a user's loss, checked."""
    if not isinstance(loss, str):
        check_members(loss)
        _check_sane(loss)
        return loss  # type: ignore[return-value]
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {tuple(LOSSES)} or a Loss, got {loss!r}.")
    kind = getattr(losses, LOSSES[loss])
    takes_width = any(field.name == "h" for field in fields(kind))
    named: Loss = kind(check_real("h", h, *losses.H_RANGE, closed=True)) if takes_width else kind()
    return named


def check_members(loss: object) -> None:
    """Raise ValueError unless an object has all members of a `Loss`."""
    members = ("value", "slope", "curvature", "support", "max_slope")
    missing = [name for name in members if not hasattr(loss, name)]
    if missing or isinstance(loss, type):
        lacking = ", ".join(missing) or "an instance (it is a class)"
        raise ValueError(
            f"loss must be one of {tuple(LOSSES)} or an object with value, slope, curvature, "
            f"support and max_slope; {loss!r} lacks {lacking}."
        )
    for name in ("support", "max_slope"):
        found = getattr(loss, name)
        if not _is_number(found):
            raise ValueError(f"loss.{name} must be a number or infinity, got {shown(found)}.")


def _is_number(found: Any) -> bool:
    if not isinstance(found, Real) and not isinstance(found, np.ndarray):
        return False
    try:
        return not math.isnan(float(found))
    except (TypeError, ValueError, OverflowError):  # no single number, or beyond float64
        return False


def _check_sane(loss: Any) -> None:
    """Check a user's loss quickly, before every fit; `check_loss` checks more."""
    # Seven points on both sides of 0 find the common mistakes, such as a wrong sign.
    t = np.array([-10.0, -1.0, -0.1, 0.0, 0.1, 1.0, 10.0])
    slopes = as_real(f"loss.slope of {loss!r}", loss.slope(t))
    if not (np.isfinite(slopes).all() and (slopes <= 0.0).all() and (np.diff(slopes) >= 0.0).all()):
        raise ValueError(
            "loss must be convex and non-increasing (slopes finite, never positive, ascending); "
            "check_loss(loss) says more."
        )
    if not loss.max_slope > 0.0:
        raise ValueError(f"loss.max_slope must be positive, got {loss.max_slope!r}.")


def check_bounded(loss: Loss, C: float, triplet_ratio: float = 1.0) -> None:
    """Raise ValueError unless C is large enough for a bounded objective.

    If slopes are bounded, rho grows without limit unless ``max_slope * sum(c_r) > 1``: the
    derivative in rho, ``1 - sum_r w_r``, would never become negative. ``triplet_ratio`` is the
    weight of all comparisons over the weight that C is divided by.
    """
    if not loss.max_slope * C * triplet_ratio > 1.0:
        least = 1.0 / (loss.max_slope * triplet_ratio)
        raise ValueError(
            f"C must be greater than {least:g} for a loss whose slope is "
            f"at most {loss.max_slope:g}, or the objective is unbounded; got {C!r}."
        )


def check_support(loss: Loss) -> None:
    """Raise ValueError unless a loss is zero beyond some margin, which working sets need."""
    if not vanishes(loss):
        raise ValueError(
            f"loss must be zero beyond a finite support for triplets='all', got {loss!r} with "
            f"support {loss.support!r}; expected 'huber', 'squared_hinge', 'hinge' or such a Loss."
        )
