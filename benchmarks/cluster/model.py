"""The cost model: seconds of an evaluation from sizes, workers and network.

    seconds = products * n D d + (edges + shared * (k - 1)) * E d + fixed + each * workers

n and E are the rows and edges of one worker, d the columns of the factor, k the workers that share
the memory of one machine: gathers along edges wait for memory, and so for each other. The rate of
products is measured alone, and so is an evaluation without work, for some numbers of workers. The
two rates of edges are fitted, all relative errors alike. There is no term for comparisons: here
they are half as many as edges, so no measurement could tell the two apart.

A network adds the bytes over its bandwidth, and its latency for every step of an evaluation that
waits for the one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.common import Array

__all__ = ["carried", "fitted", "network_bytes", "predicted"]

_STEPS = 9  # tasks that wait for one another, without sums over parts; see parted/objective.py
_SUMS = 4  # sums over parts: the sketch, two steps for rho, the gradient
_FAN_IN = 8  # parts up to which the task that needs a sum makes it
_SKETCH = 2 * 8 * (1 << 12)  # bytes of the sketch of margins of a part

Rates = Mapping[str, float]


def fitted(
    points: Sequence[dict[str, Any]], products: float, overheads: Mapping[int, float]
) -> dict[str, float]:
    """The rates, none of them negative.

    Parameters
    ----------
    points : measured evaluations
    products : seconds of both products, for a row, a column of X and one of P
    overheads : seconds of an evaluation without work, by the number of workers
    """
    lines = np.array([[1.0, workers] for workers in overheads])
    fixed, each = nnls(lines, np.array(list(overheads.values())))[0]
    known: dict[str, float] = {"products": products, "edges": 0.0, "shared": 0.0}
    known |= {"fixed": float(fixed), "each": float(each)}
    seconds = np.array([point["seconds"] for point in points])
    left = 1.0 - np.array([predicted(known, point) for point in points]) / seconds
    A = np.array([_edge_terms(point) for point in points]) / seconds[:, None]
    size = A.max()
    edges, shared = nnls(A / size, np.maximum(left, 0.0))[0] / size
    return known | {"edges": float(edges), "shared": float(shared)}


def predicted(rates: Rates, point: dict[str, Any]) -> float:
    """Seconds of an evaluation on a fast network."""
    edges = _edge_terms(point) @ np.array([rates["edges"], rates["shared"]])
    rows = point["rows"] / point["workers"] * point["D"] * point["d"]
    return float(rates["products"] * rows + edges) + _overhead(rates, point)


def network_bytes(point: dict[str, Any]) -> float:
    """Bytes on the links of an evaluation: the factor to each worker, sketch and gradient back.

    They go from worker to worker, so each byte crosses two links.
    """
    return float(2 * point["workers"] * (2 * 8 * point["D"] * point["d"] + _SKETCH))


def carried(
    rates: Rates, point: dict[str, Any], bandwidth: float, latency: float
) -> dict[str, float]:
    """An evaluation of any size on workers that are joined by a network."""
    # The tree merges eight results at a time, so a link carries at most eight of them a level.
    levels = int(np.ceil(np.log(max(point["workers"], 2)) / np.log(_FAN_IN)))
    steps = _STEPS + (_SUMS * levels if point["workers"] > _FAN_IN else 1)
    one = 8 * point["D"] * point["d"] + _SKETCH
    overhead = _overhead(rates, point)
    seconds = {
        "compute": predicted(rates, point) - overhead,
        "bytes": (1 + _FAN_IN * levels) * one / bandwidth,
        "latency": steps * 2 * latency,
        "overhead": overhead,
    }
    return seconds | {"evaluation": sum(seconds.values()), "sent": network_bytes(point)}


def _edge_terms(point: dict[str, Any]) -> Array:
    """Numbers that a worker gathers, and these for each other worker of its machine."""
    gathered = point["edges"] / point["workers"] * point["d"]
    return np.array([gathered, gathered * (point["on a machine"] - 1)])


def _overhead(rates: Rates, point: dict[str, Any]) -> float:
    return float(rates["fixed"] + rates["each"] * point["workers"])
