"""Arrays in JSON, exact to the bit: Python writes the shortest digits that give the same number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._typing import Dense

__all__ = ["arrays_from_json", "arrays_to_json"]

LIMIT = 1_000_000  # numbers, about 20 MB of text


def arrays_to_json(arrays: dict[str, Dense]) -> dict[str, Any]:
    """Type, shape and numbers of each array; JSON has no words for what is not finite, so text."""
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
    return {name: _array(**entry) for name, entry in held.items()}


def _array(dtype: str, shape: list[int], data: list[Any]) -> Dense:
    kind = np.dtype(dtype)
    if kind.kind not in "biuf":
        raise ValueError(f"{dtype!r} is not the type of a number")
    numbers = [float(x) for x in data] if kind.kind == "f" else data
    return np.array(numbers, dtype=kind).reshape(shape)
