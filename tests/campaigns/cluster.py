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
import pickle
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
_WORKERS = 3
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
    # A cluster that has lost workers does not always become whole again.
    with local_cluster(_WORKERS, memory_limit="1GB") as client:
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


def killed_client(client: Any, problem: Disturbed, rng: np.random.Generator, late: float) -> str:
    """Kill the process of a fit at a random moment after its first step; this process goes on."""
    with TemporaryDirectory() as place:
        folder, delay = Path(place), late * rng.uniform(0.0, 3.0)
        (folder / "data").write_bytes(pickle.dumps((problem.rows, problem.triplets)))
        command = [sys.executable, "-m", "tests.campaigns.cluster", "--child", str(folder)]
        child = subprocess.Popen([*command, "--address", client.scheduler.address])
        code = child.poll()
        # On a busy machine a process may need a minute to its first step.
        while code is None and not _begun(folder / "state"):
            time.sleep(0.02)
            code = child.poll()
        if code is None:
            with suppress(subprocess.TimeoutExpired):
                code = child.wait(delay)
        child.kill()
        child.wait()
        if code is not None:
            return f"{_TOO_LATE}, {delay:.2f} s" if code == 0 else f"LOST: exit code {code}"
        try:
            problem.check(problem.fit(None, checkpoint=folder / "state"))
        except Exception as error:
            return f"LOST: {type(error).__name__}: {error}"
        return f"kept, {delay:.2f} s after the first checkpoint"


def _begun(folder: Path) -> bool:
    """Whether a fit has kept its first step here."""
    return folder.exists() and any(folder.rglob("*.safetensors"))


def run_child(folder: Path, address: str) -> None:
    """A fit with a checkpoint, on a cluster that others have started."""
    from distributed import Client

    state_file._SECONDS = 0.0  # every step is kept
    rows, triplets = pickle.loads((folder / "data").read_bytes())
    with Client(address):
        Disturbed(rows, triplets, None).fit(None, checkpoint=folder / "state")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10, help="of each fault")
    parser.add_argument("--kills", type=int, default=10, help="of the client")
    parser.add_argument("--fault", choices=sorted(FAULTS), help="this one alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        run_child(options.child, options.address)
        return 0
    rng, count = np.random.default_rng(options.seed), Count()
    problem = Disturbed.make(**_SIZE)
    for name in [options.fault] if options.fault else FAULTS if options.times else []:
        count.run(name, options.times, partial(disturbed, name, problem, rng))
    if options.kills and not options.fault:
        with local_cluster(2) as client:
            attempt = partial(killed_client, client, problem, rng)
            count.run("the client is killed", options.kills, attempt)
    print(f"faults: {count.happened}, too late: {count.too_late}, lost: {count.lost}")
    return int(count.lost + count.too_late > 0)


if __name__ == "__main__":
    sys.exit(main())
