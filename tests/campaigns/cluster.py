"""Disturb fits on real Dask clusters at random moments: each must end at the certified optimum.

    python -m tests.campaigns.cluster --times 10

Every fault of `support/faults.py` (workers killed, added or paused, the connection dropped), each
at random moments of its own fit. `--kills 10` also kills the client with SIGKILL, in fits with a
checkpoint; the next process goes on. A try whose fault came after the end of its fit is repeated,
each time with an earlier moment. Counts the faults that happened and what was lost; exit code 1 for
any loss, and if a fault came too late again and again.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sdpmetric.persistence import state_file
from tests.support.clusters import local_cluster
from tests.support.faults import FAULTS, Disturbed, Saboteur

_SIZE: dict[str, Any] = {"n_rows": 6000, "n_comparisons": 60_000}
_REPETITIONS = 5  # of a try that came too late
_TOO_LATE = "too late"

# Runs one fit and disturbs it; how late, as a share of the usual range of moments.
Try = Callable[[float], str]


@dataclass
class Count:
    """How many faults happened, how many fits were lost, how many faults always came too late."""

    happened: int = 0
    lost: int = 0
    too_late: int = 0

    def run(self, name: str, times: int, attempt: Try) -> None:
        """Try a fault so many times, and print what happened."""
        for number in range(times):
            found = repeated(attempt)
            self.lost += found.startswith("LOST")
            self.too_late += found.startswith(_TOO_LATE)
            self.happened += not found.startswith(_TOO_LATE)
            print(f"{name}, {number + 1} of {times}: {found}", flush=True)


def repeated(attempt: Try) -> str:
    """Try until the fault comes before the end of its fit, but not for ever."""
    found = _TOO_LATE
    for number in range(_REPETITIONS):
        found = attempt(0.5**number)
        if not found.startswith(_TOO_LATE):
            break
    return found


def disturbed(name: str, problem: Disturbed, rng: np.random.Generator, late: float) -> str:
    """Run one fit on a new cluster, with a fault at a random moment; return what happened."""
    at, delay = int(late * rng.integers(0, 8)), late * rng.uniform(0.0, 0.5)
    with local_cluster(3, memory_limit="1GB") as client:
        saboteur = Saboteur(client, FAULTS[name], at, delay)
        began = time.perf_counter()
        try:
            problem.check(problem.fit(saboteur))
        except Exception as error:
            return f"LOST: {type(error).__name__}: {error}"
        seconds = time.perf_counter() - began
        saboteur.end()
    if saboteur.happened is None:
        return f"{_TOO_LATE}, {seconds:.0f} s"
    return f"kept, after {saboteur.happened} evaluations, {seconds:.0f} s"


def killed_client(rng: np.random.Generator, late: float) -> str:
    """Kill the process of a fit at a random moment after its first step, then let it go on."""
    with TemporaryDirectory() as folder:
        return _killed_client(late * rng.uniform(0.0, 3.0), Path(folder) / "state")


def _killed_client(delay: float, folder: Path) -> str:
    command = [sys.executable, "-m", "tests.campaigns.cluster", "--child", str(folder)]
    child = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    began = time.perf_counter()
    code = child.poll()
    # On a busy machine a process may need a minute to its first step.
    while code is None and not _begun(folder):
        time.sleep(0.02)
        code = child.poll()
    if code is None:
        with suppress(subprocess.TimeoutExpired):
            code = child.wait(delay)
    moment = time.perf_counter() - began
    # The scheduler lives in that process, and its workers with it: all of them are killed.
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if code is not None:
        return f"{_TOO_LATE}, {moment:.0f} s" if code == 0 else f"LOST: exit code {code}"
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    after = f"kept, after {moment:.0f} s, {delay:.2f} s after the first checkpoint"
    return after if found.returncode == 0 else f"LOST: {found.stderr[-300:]}"


def _begun(folder: Path) -> bool:
    """Whether a fit has kept its first step here."""
    return folder.exists() and any(folder.rglob("*.safetensors"))


def run_child(folder: Path) -> None:
    """A fit with a checkpoint, on a cluster of its own."""
    state_file._SECONDS = 0.0  # every step is kept
    problem = Disturbed.make(**_SIZE)
    with local_cluster(2):
        problem.check(problem.fit(None, checkpoint=folder))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10, help="of each fault")
    parser.add_argument("--kills", type=int, default=10, help="of the client")
    parser.add_argument("--fault", choices=sorted(FAULTS), help="this one alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        run_child(options.child)
        return 0
    rng, count = np.random.default_rng(options.seed), Count()
    problem = Disturbed.make(**_SIZE)
    for name in [options.fault] if options.fault else FAULTS:
        count.run(name, options.times, partial(disturbed, name, problem, rng))
    if not options.fault:
        count.run("the client is killed", options.kills, partial(killed_client, rng))
    print(f"faults: {count.happened}, too late: {count.too_late}, lost: {count.lost}")
    return int(count.lost + count.too_late > 0)


if __name__ == "__main__":
    sys.exit(main())
