"""Rows in a nameless file: what is made from a memory map may be as large as the map itself.

The file has no name in any folder, so the system frees it with the last array that uses it, even if
the process is killed. It is made in the folder of the map, because the usual folder for temporary
files is in memory on many systems.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._support.typing import Dense

__all__ = ["folder_of", "scratch_rows"]


def scratch_rows(
    shape: tuple[int, int], dtype: npt.DTypeLike, blocks: Iterable[Dense], folder: str | None
) -> Dense:
    """Write blocks of rows to a nameless file and return the array that maps it, for reading.

    A disk without room is an OSError: a write through a map would end the process.
    """
    with tempfile.TemporaryFile(dir=folder, prefix=".sdpmetric-") as file:
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype=dtype).data)
        file.flush()
        rows: Dense = np.memmap(file, dtype=dtype, mode="r", shape=shape)
    return rows


def folder_of(X: npt.NDArray[Any]) -> str | None:
    """Return the folder of the file that an array maps; None if we may not write there."""
    at: Any = X
    while isinstance(at, np.ndarray):
        name = getattr(at, "filename", None)
        # A nameless file has the number of its handle for a name.
        if isinstance(name, (str, os.PathLike)):
            folder = Path(name).parent
            return str(folder) if os.access(folder, os.W_OK) else None
        at = at.base
    return None
