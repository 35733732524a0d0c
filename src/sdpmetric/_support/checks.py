"""Checks of arguments; each error names the argument, the value found and the value expected."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from .messy import HELP, first_word
from .text import shorten
from .typing import Floats

_LARGEST = np.iinfo(np.int64).max
_LONG = 200  # characters of a value in a message


def shown(value: object) -> str:
    """A value for a message."""
    try:
        return shorten(repr(value), _LONG)
    except ValueError:  # Python refuses to write integers of more than 4,300 digits
        return f"a number of type {type(value).__name__} with thousands of digits"


def check_real(
    name: str, value: object, low: float, high: float = math.inf, *, closed: bool = False
) -> float:
    """Return a finite number above ``low`` and at most ``high``; ``closed`` allows ``low`` too."""
    kind = "at least" if closed else "greater than"
    # bool is a subclass of int, but True as a number is nearly always a mistake.
    expected = f"a number {kind} {low:g}" + (f" and at most {high:g}" if high < math.inf else "")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise ValueError(f"{name} must be {expected}, got {shown(value)}.")
    try:
        number = float(value)
    except OverflowError:  # an integer or a fraction that float64 cannot hold
        number = math.inf
    if not (
        math.isfinite(number) and number <= high and (number > low or (closed and number == low))
    ):
        raise ValueError(f"{name} must be {expected}, got {shown(value)}.")
    return number


def as_real(name: str, values: Any) -> Any:
    """Return an array or sparse matrix of real numbers; texts and objects become float64.

    Complex numbers and dates are refused: a conversion would change them without a word.
    """
    try:
        given = values if hasattr(values, "tocsr") else np.asarray(values)
        if given.dtype.kind in "OUST":  # may still hold numbers
            given = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        word = first_word(values)
        found = ", as many in every row." if word is None else f", got {word}. {HELP}"
        raise ValueError(f"{name} must hold numbers{found}") from None
    if given.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers, got dtype {given.dtype}.")
    return given


def as_floats(name: str, values: Any) -> Floats:
    """Return an array of finite real numbers as float64."""
    if hasattr(values, "tocsr"):
        raise ValueError(f"{name} must be a dense array of numbers, got {type(values).__name__}.")
    with np.errstate(over="ignore"):  # a longer float may become infinite, which is refused below
        given: Floats = as_real(name, values).astype(np.float64, copy=False)
    if not np.isfinite(given).all():
        raise ValueError(f"{name} contains NaN or infinity, expected finite numbers.")
    return given


def check_integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return an integer from ``low`` to ``high``; True and False do not count as integers.

    Without ``high`` it is any that an array can hold.
    """
    if high is None and isinstance(value, Integral) and int(value) > _LARGEST:
        high = _LARGEST
    expected = f"an integer of at least {low}" + (f" and at most {high}" if high else "")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be {expected}, got {shown(value)}.")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name} must be {expected}, got {shown(value)}.")
    return number


def check_jobs(n_jobs: object) -> int | None:
    """Return a number of threads: None, -1 for all cores, or at least 1."""
    if n_jobs is None:
        return None
    jobs = check_integer("n_jobs", n_jobs, -1)
    if jobs == 0:
        raise ValueError("n_jobs must be None, -1 for all cores or at least 1, got 0.")
    return jobs


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise unless a value is one of several strings."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {choices}, got {shown(value)}.")


def seed_of(random_state: Any) -> int:
    """Return an integer seed for a random state in the form that scikit-learn takes.

    None gives the same seed every time, so that a fit can be repeated without a setting for it.
    """
    if random_state is None:
        return 0
    # An integer goes through a RandomState, so that neighbouring integers give unrelated seeds; a
    # RandomState of the user's moves on, as in scikit-learn.
    state = random_state
    if type(state) is not bool and isinstance(state, Integral) and 0 <= int(state) < 2**32:
        state = np.random.RandomState(int(state))
    if not isinstance(state, np.random.RandomState):
        raise ValueError(
            "random_state must be None, an integer from 0 to 2**32 - 1 or a RandomState, "
            f"got {shown(random_state)}."
        )
    return int(state.randint(np.iinfo(np.int32).max))
