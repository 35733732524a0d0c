"""Arrays in JSON, exact to the bit: Python writes digits from which it reads the same float."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._support.typing import Dense

LIMIT = 1_000_000  # numbers, about 20 MB of text: more is slow to parse, and .safetensors is not
JSON_BYTES = 500_000_000  # of a whole file: names of features stand beside the numbers


def arrays_to_json(arrays: dict[str, Dense]) -> dict[str, Any]:
    """Convert arrays to JSON: dtype, shape and numbers of each.

    NaN and infinities become text, since JSON has no such numbers.
    """
    size = sum(array.size for array in arrays.values())
    if size > LIMIT:
        raise ValueError(
            f"path must end in .safetensors for a metric of {size:,} numbers; .json is for up to "
            f"{LIMIT:,}."
        )
    return {
        name: {
            "dtype": array.dtype.name,
            "shape": list(array.shape),
            "data": [x if math.isfinite(x) else str(x) for x in array.ravel().tolist()],
        }
        for name, array in arrays.items()
    }


def arrays_from_json(held: dict[str, Any]) -> dict[str, Dense]:
    """Convert JSON back to the arrays that `arrays_to_json` was given."""
    return {name: _array(**entry) for name, entry in held.items()}


def _array(dtype: str, shape: list[int], data: list[Any]) -> Dense:
    kind = np.dtype(dtype)
    # An object array would be a way to bring in other types.
    if kind.kind not in "biuf":
        raise ValueError(f"{dtype!r} is not the type of a number")
    numbers = [float(x) for x in data] if kind.kind == "f" else data
    return np.array(numbers, dtype=kind).reshape(shape)
