"""Functions that workers call, apart from the imports of the benchmark: these would be memory."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["forget_peak", "peak_memory", "read_rows"]


def read_rows(file: str, start: int, n: int, D: int) -> Any:
    """Some rows of a file of float64 numbers."""
    return np.fromfile(file, count=n * D, offset=8 * start * D).reshape(n, D)


def forget_peak() -> None:
    """Let the peak of this process begin again."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def peak_memory() -> float:
    """The peak of this process, in MB."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
