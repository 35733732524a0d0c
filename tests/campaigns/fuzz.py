"""Fuzz every reader and the command line: ``make fuzz``, or ``python -m tests.campaigns.fuzz``.

Each reader runs in a child process, which makes damaged files and reads them. A finding is an error
that is not documented, a message that is not clear, more memory than the limit allows (the child
has little), a crash, or a hang. Findings are kept in ``output/fuzz``: the file, and its traceback
beside it. After a mend, a small file named after the bug goes to ``tests/files/damaged``, where
``tests/cli/test_damaged_files.py`` reads it and later campaigns start from it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.campaigns.targets import Target, ready, targets

OUTPUT = Path("output/fuzz").absolute()  # command lines run in folders of their own
_MEMORY = 1 << 30  # bytes that a child may take beyond what its imports take
_CRASHES = 10  # of one reader; then it is given up, since one crash returns again and again
# If there is such a folder: a million small files would wear a disk.
_IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
_STEP = 100  # inputs after which a child notes how far it is


@dataclass
class Notes:
    """What a child has done so far; a crash loses the last few inputs."""

    path: Path
    inputs: int = 0
    findings: dict[str, str] = field(default_factory=dict)

    def write(self) -> None:
        """Write the notes, whole or not at all."""
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps([self.inputs, self.findings]))
        new.replace(self.path)

    def read(self) -> None:
        """Add what a child has written."""
        if self.path.exists():
            inputs, findings = json.loads(self.path.read_text())
            self.inputs += inputs
            self.findings |= findings


def campaign(name: str, seed: int, seconds: float, inputs: int) -> Notes:
    """Fuzz one reader in child processes, a new one after each crash."""
    began, crashes = time.monotonic(), 0
    notes = Notes(Path())
    while notes.inputs < inputs and crashes < _CRASHES:
        left = seconds - (time.monotonic() - began)
        if left <= 0.0:
            break
        # In memory where there is such a folder: a million small files would wear a disk.
        with tempfile.TemporaryDirectory(
            dir="/dev/shm" if Path("/dev/shm").is_dir() else None
        ) as d:
            given = [name, d, str(seed + crashes), str(left), str(inputs - notes.inputs)]
            code = "import sys; from tests.campaigns.fuzz import child; child(*sys.argv[1:])"
            command = [sys.executable, "-c", code, *given]
            # One thread: pools of threads would take the address space that is limited.
            env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            ended = subprocess.run(command, stderr=subprocess.PIPE, text=True, env=env)
            notes.path = Path(d) / "notes"
            notes.read()
            if ended.returncode != 0:
                crashes += 1
                hung = -ended.returncode in (signal.SIGALRM, signal.SIGPROF)
                said = "hang" if hung else f"exit {ended.returncode}\n{ended.stderr[-3000:]}"
                [current] = Path(d).glob("current.*")
                keep(notes, name, said, current)
    return notes


def child(name: str, folder: str, seed: str, seconds: str, inputs: str) -> None:
    """Make inputs and read them until the time or the number is used up."""
    target = ready(name, Path(folder))
    path = Path(folder) / f"current{target.suffix}"
    notes = Notes(Path(folder) / "notes")
    for i in range(-20, 0):  # imports and compiled loops, before memory is limited
        _attempt(target, path, Random(f"{seed} {i}"))
    _limit_memory()
    end = time.monotonic() + float(seconds)
    while notes.inputs < int(inputs) and time.monotonic() < end:
        _set_alarms(target.seconds)
        said = _attempt(target, path, Random(f"{seed} {notes.inputs}"))
        _set_alarms(0.0)
        notes.inputs += 1
        if said:
            keep(notes, name, said, path)
        if said or notes.inputs % _STEP == 0:
            notes.write()
    notes.write()


def _set_alarms(seconds: float) -> None:
    """End the process after so much time, whatever it is doing: in compiled code, too."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    # A reader that waits takes no time of the processor; a busy machine makes any reader wait.
    signal.setitimer(signal.ITIMER_REAL, 30.0 * seconds)


def _attempt(target: Target, path: Path, rng: Random) -> str:
    """Read one input; returns the traceback of an error that should not have come out."""
    try:
        path.write_bytes(target.make(rng))
        target.run(path)
    except Exception:
        return traceback.format_exc()
    return ""


def _limit_memory() -> None:
    import resource  # Unix alone

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def keep(notes: Notes, name: str, said: str, path: Path) -> None:
    """Keep the input of a finding, once for each place in the code."""
    # The lines of the traceback that name files tell findings apart, and the kind of the error.
    lines = [line for line in said.splitlines() if line.startswith(("  File", "exit", "hang"))]
    last = said.strip().splitlines()[-1]
    places = "\n".join([*lines[-3:], last.partition(":")[0]])
    key = f"{name}-{hashlib.sha1(places.encode()).hexdigest()[:8]}"
    if key in notes.findings:
        return
    notes.findings[key] = last[:200]
    OUTPUT.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, OUTPUT / f"{key}{path.suffix}")
    (OUTPUT / f"{key}.txt").write_text(said)


def main() -> int:
    """Run the campaign; returns 1 if anything was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="time for each reader")
    parser.add_argument("--inputs", type=int, default=1_000_000, help="inputs for each reader")
    names = list(targets())
    parser.add_argument("--reader", action="append", choices=names, help="may be repeated")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other inputs")
    given = parser.parse_args()
    found = 0
    for name in given.reader or names:
        began = time.monotonic()
        notes = campaign(name, given.seed, given.seconds, given.inputs)
        rate = notes.inputs / (time.monotonic() - began)
        print(f"{name:18}{notes.inputs:>9,} inputs, {rate:,.0f} a second", flush=True)
        for key, said in notes.findings.items():
            print(f"    output/fuzz/{key}: {said}", flush=True)
        found += len(notes.findings)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
