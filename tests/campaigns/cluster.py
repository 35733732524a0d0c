"""Disturb fits on real Dask clusters at random moments: each must end at the certified optimum.

    python -m tests.campaigns.cluster --times 10

Every fault of `support/faults.py` (workers killed, added or paused, the connection dropped), each
at random moments of its own fit. `--kills 10` also kills the client with SIGKILL, in fits with a
checkpoint; the next process goes on. Counts what was tried and what was lost; exit code 1 for any
loss.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tests.support.clusters import local_cluster
from tests.support.faults import FAULTS, Disturbed, Saboteur

_SIZE: dict[str, Any] = {"n_rows": 6000, "n_comparisons": 60_000}


def disturbed(name: str, problem: Disturbed, rng: np.random.Generator) -> str:
    """Run one fit on a new cluster, with a fault at a random moment; return what happened."""
    with local_cluster(3, memory_limit="1GB") as client:
        saboteur = Saboteur(client, FAULTS[name], int(rng.integers(0, 8)), rng.uniform(0.0, 0.5))
        began = time.perf_counter()
        try:
            problem.check(problem.fit(saboteur))
        except Exception as error:
            return f"LOST: {type(error).__name__}: {error}"
        seconds = time.perf_counter() - began
        saboteur.end()
    if saboteur.happened is None:
        return f"too late, {seconds:.0f} s"
    return f"kept, after {saboteur.happened} evaluations, {seconds:.0f} s"


def killed_client(problem: Disturbed, rng: np.random.Generator, folder: Path) -> str:
    """Kill the process of a fit once at a random moment, then let it go on to its end."""
    command = [sys.executable, "-m", "tests.campaigns.cluster", "--child", str(folder)]
    child = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    moment = rng.uniform(6.0, 20.0)
    time.sleep(moment)
    finished = child.poll() is not None
    # The scheduler lives in that process, and its workers with it: all of them are killed.
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    when = "at its end" if finished else f"after {moment:.0f} s"
    return f"kept, {when}" if found.returncode == 0 else f"LOST: {found.stderr[-300:]}"


def run_child(folder: Path) -> None:
    """A fit with a checkpoint, on a cluster of its own."""
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
    rng, lost = np.random.default_rng(options.seed), 0
    problem = Disturbed.make(**_SIZE)
    for name in [options.fault] if options.fault else FAULTS:
        for number in range(options.times):
            found = disturbed(name, problem, rng)
            lost += found.startswith("LOST")
            print(f"{name}, {number + 1} of {options.times}: {found}", flush=True)
    for number in range(0 if options.fault else options.kills):
        with TemporaryDirectory() as folder:
            found = killed_client(problem, rng, Path(folder) / "state")
        lost += found.startswith("LOST")
        print(f"the client is killed, {number + 1} of {options.kills}: {found}", flush=True)
    print(f"lost: {lost}")
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
