"""The cost model: seconds of an evaluation from sizes, workers and network.

    seconds = products * n D d + edges * E d + comparisons * m + overhead

n, E and m are the rows, edges and comparisons of one worker, d the columns of the factor. The rate
of products is measured alone, the other three are fitted, all relative errors alike. A network adds
the bytes over its bandwidth, and its latency for every step of an evaluation that waits for the one
before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.common import Array

__all__ = ["STEPS", "carried", "fitted", "network_bytes", "predicted"]

STEPS = 12  # tasks of an evaluation that wait for one another; see parted/objective.py
_SKETCH = 2 * 8 * (1 << 12)  # bytes of the sketch of margins of a part


def _terms(point: dict[str, Any]) -> Array:
    n, E, m = (point[name] / point["workers"] for name in ("rows", "edges", "m"))
    return np.array([n * point["D"] * point["d"], E * point["d"], m, 1.0])


def fitted(points: Sequence[dict[str, Any]], products: float) -> list[float]:
    """The rates, by least squares of relative errors; none is negative."""
    A = np.array([_terms(point) / point["seconds"] for point in points])
    left = np.maximum(1.0 - products * A[:, 0], 0.0)
    scale = A[:, 1:].max(axis=0)
    rates: Array = nnls(A[:, 1:] / scale, left)[0] / scale
    return [products, *map(float, rates)]


def predicted(rates: Sequence[float], point: dict[str, Any]) -> float:
    """Seconds of an evaluation on a fast network."""
    return float(_terms(point) @ np.asarray(rates))


def network_bytes(point: dict[str, Any]) -> float:
    """Bytes on the links of an evaluation: the factor to each worker, sketch and gradient back.

    They go from worker to worker, so each byte crosses two links.
    """
    return float(2 * point["workers"] * (2 * 8 * point["D"] * point["d"] + _SKETCH))


def carried(
    rates: Sequence[float], point: dict[str, Any], bandwidth: float, latency: float
) -> dict[str, float]:
    """An evaluation of any size on workers that are joined by a network."""
    # The tree merges eight results at a time, so a link carries at most eight of them a level.
    levels = int(np.ceil(np.log(max(point["workers"], 2)) / np.log(8)))
    one = 8 * point["D"] * point["d"] + _SKETCH
    seconds = {
        "compute": predicted([*rates[:3], 0.0], point),
        "bytes": (1 + 8 * levels) * one / bandwidth,
        "latency": STEPS * levels * 2 * latency + rates[3],
    }
    return seconds | {"evaluation": sum(seconds.values()), "sent": network_bytes(point)}
