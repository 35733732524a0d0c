"""A fit to rows that stay on disk: its memory, and its passes against the disk.

Rows of float32 are made in a folder on disk, and triplets whose order a planted rank-5 metric
decides, 5 % of them flipped. A process of its own fits them from the memory map. Its limit on
anonymous memory is enforced by the system (RLIMIT_DATA), and the memory that it has is sampled. The
same process reads a part of the file first, without the page cache, for the bandwidth of the disk,
and makes one product with all rows, again without the page cache.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
from argparse import SUPPRESS
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.lib.format import write_array_header_1_0

from benchmarks.common import CONSOLE, Array, parser, save, show
from benchmarks.peers.worker import memory
from benchmarks.processes import measured

GB = 10**9
RANK = 8  # columns at the start; fewer columns are fewer passes, and the planted metric has 5
TOL = 1e-2


def make(folder: Path, gigabytes: float, D: int, m: int) -> None:
    """Write the rows and the triplets."""
    rng = np.random.default_rng(0)
    n = int(gigabytes * GB / (4 * D))
    A = rng.standard_normal((D, 5), dtype=np.float32)
    Y = np.empty((n, 5), dtype=np.float32)
    step = max(1, 2**22 // D)
    with open(folder / "rows.npy", "wb", buffering=0) as file:
        write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (n, D)})
        for start in range(0, n, step):
            # Uniform numbers: normal ones would take most of the time of a benchmark of disks.
            block = rng.random((min(step, n - start), D), dtype=np.float32)
            Y[start : start + step] = block @ A
            file.write(block.data)
    triplets = rng.integers(0, n, size=(m, 1)) + np.arange(3) * (
        1 + rng.integers(0, n // 3, (m, 1))
    )
    triplets %= n
    near, far = (np.sum((Y[triplets[:, 0]] - Y[triplets[:, c]]) ** 2, axis=1) for c in (1, 2))
    swap = (near > far) ^ (rng.random(m) < 0.05)
    triplets[swap] = triplets[swap][:, [0, 2, 1]]
    np.save(folder / "triplets.npy", triplets)


def forget(path: Path) -> None:
    """Drop a file from the page cache."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fdatasync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def disk_speed(path: Path, size: int) -> float:
    """Bytes a second of plain reads of the first ``size`` bytes, without the page cache."""
    forget(path)
    began, left = time.perf_counter(), size
    with open(path, "rb", buffering=0) as file:
        while left > 0 and (got := len(file.read(min(left, 1 << 24)))):
            left -= got
    return (size - left) / (time.perf_counter() - began)


class Sampled(threading.Thread):
    """The most anonymous memory and the most pages of files that this process had, in GB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.anonymous, self.files, self.ended = 0.0, 0.0, threading.Event()

    def run(self) -> None:
        ended = False
        while not ended:
            ended = self.ended.wait(0.02)  # once more at the end: a small fit is over before that
            self.anonymous = max(self.anonymous, memory("RssAnon") * 2**20 / GB)
            self.files = max(self.files, memory("RssFile") * 2**20 / GB)


def measure(folder: Path, limit: float, threads: int) -> dict[str, Any]:
    """Fit, in this process."""
    from sdpmetric import TripletSDPMetric
    from sdpmetric.engines.threads import thread_pool
    from sdpmetric.linalg.items import items_of

    rng = np.random.default_rng(0)
    TripletSDPMetric(tol=0.1).fit(
        rng.normal(size=(50, 3)), np.arange(48).reshape(-1, 3)
    )  # compiles
    resource.setrlimit(resource.RLIMIT_DATA, (int(limit * GB), int(limit * GB)))
    path = folder / "rows.npy"
    X: Array = np.load(path, mmap_mode="r")
    triplets = np.load(folder / "triplets.npy")
    size = X.nbytes
    speed = disk_speed(path, min(size, 4 * GB))
    watch = Sampled()
    watch.start()
    forget(path)
    began = time.perf_counter()
    with thread_pool(threads):
        items_of(X).times(np.eye(X.shape[1], 8))
    one_pass = time.perf_counter() - began
    forget(path)
    steps: list[tuple[float, int]] = []
    metric = TripletSDPMetric(
        coordinates="raw", tol=TOL, n_jobs=threads, solver_options={"rank": RANK}
    )

    def watch_steps(now: Any) -> None:
        steps.append((now.seconds, now.n_iter))
        print(f"{now.n_iter} evaluations, {now.seconds:.0f} s, gap {now.gap:.3g}", file=sys.stderr)

    metric._watch = watch_steps
    began, began_cpu = time.perf_counter(), time.process_time()
    metric.fit(X, triplets)
    seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    watch.ended.set()
    watch.join()
    apart = [(b[0] - a[0]) / (b[1] - a[1]) for a, b in pairwise(steps) if b[1] > a[1]]
    used = len(np.unique(triplets))
    return {
        "n": len(X),
        "D": X.shape[1],
        "m": len(triplets),
        "gigabytes": size / GB,
        "rows in comparisons": used,
        "gigabytes of these": used * X.shape[1] * 4 / GB,
        "disk, GB/s": speed / GB,
        "one product with all rows, s": one_pass,
        "that product, GB/s": size / GB / one_pass,
        "before the first step, s": steps[0][0],
        "evaluation, s": float(np.median(apart)) if apart else seconds,
        "fit, s": seconds,
        "fit, CPU s": cpu,
        "evaluations": metric.n_iter_,
        "gap": metric.gap_,
        "converged": bool(metric.converged_),
        "objective": metric.objective_,
        "rank": metric.components_.shape[0],
        "anonymous memory, GB": watch.anonymous,
        "pages of files, GB": watch.files,
        "limit, GB": limit,
    }


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--gigabytes", type=float, default=20.0)
    arguments.add_argument("--dimensions", type=int, default=64)
    arguments.add_argument("--triplets", type=int, default=3 * 10**6)
    arguments.add_argument("--limit", type=float, default=6.0, help="GB of anonymous memory")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--folder", help="a folder on the disk; by default that of temp files")
    arguments.add_argument("--measure", type=Path, help=SUPPRESS)
    options = arguments.parse_args(argv)
    if options.measure:
        print(json.dumps(measure(options.measure, options.limit, options.threads)))
        return
    with TemporaryDirectory(dir=options.folder, prefix="outofcore-") as place:
        CONSOLE.print(f"{options.gigabytes:g} GB of rows ...")
        make(Path(place), options.gigabytes, options.dimensions, options.triplets)
        command = ["--measure", place, "--limit", options.limit, "--threads", options.threads]
        found = measured("benchmarks.outofcore", command)
    show("Rows on disk", ["", "measured"], list(found.items()))
    save("outofcore", found)


if __name__ == "__main__":
    main()
