"""Kill writers with SIGKILL: the old file or the new one, complete, and nothing else, must remain.

    python -m tests.campaigns.crashes --kills 100

Each kind of file is written again and again by a child process, in two versions by turns. The child
is killed at a random moment. With --steps 1 it is killed at every line that the code for writing
files executes, while it also removes what an earlier kill has left. After each kill the file must
hold one of the two versions. After the next write, of another file beside it, nothing but the two
files may be there.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from dataclasses import asdict
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn
from unittest.mock import patch

import numpy as np

from sdpmetric._support import files, renaming
from tests.support.killing import (
    Count,
    Target,
    Writer,
    child,
    content,
    dying,
    killed,
    leave_scratch_folder,
)


def at_random(target: Target, kills: int, rng: np.random.Generator) -> Count:
    """Kill a writer at random moments of its first three writes."""
    began = time.perf_counter()
    for version in (1, 0, 1, 0):
        target.write(version)
    moments = rng.uniform(0.0, 0.75 * (time.perf_counter() - began), size=kills)
    for moment in moments.tolist():
        ears, mouth = os.pipe()

        def write_on(mouth: int = mouth) -> NoReturn:
            while True:
                for version in (1, 0):
                    target.write(version)
                    os.write(mouth, b".")

        pid = child(write_on)
        time.sleep(moment)
        os.kill(pid, signal.SIGKILL)
        killed(pid)
        os.close(mouth)
        with os.fdopen(ears, "rb") as finished:
            target.count.written += len(finished.read())
        target.check()
    return target.count


def by_steps(target: Target, stride: int, *, at_once: bool = True) -> Count:
    """Kill a writer at the first line of our code, at a later one, until it lives to the end."""
    for step in count(1, stride):
        killed(child(partial(leave_scratch_folder, target.path.parent)))
        if not killed(child(partial(dying, partial(target.write, step % 2), step))):
            break
        target.check(at_once=at_once)
    return target.count


def plain_file(path: Path, version: int) -> None:
    """Write a file as the library does."""
    files.replace_bytes(path, bytes([version]) * 5000)


def plain_folder(path: Path, version: int) -> None:
    """Write a folder as the library does."""
    with files.replacing_folder(path, ("a", "b")) as temporary:
        for name in "ab":
            (temporary / name).write_bytes(bytes([version]) * 5000)


def random_kills(kills: int, seed: int, kinds: str) -> dict[str, Count]:
    """Kill writers of each kind whose name contains ``kinds``."""
    from tests.support.writers import writers  # here, since a fork of a large process takes long

    rng = np.random.default_rng(seed)
    counts = {}
    with TemporaryDirectory() as place:
        for kind, writer in writers(100, Path(place)).items():
            if kinds in kind:
                counts[kind] = at_random(Target(writer, Path(place) / kind), kills, rng)
    return counts


def kills_by_steps(stride: int) -> dict[str, Count]:
    """Kill writers of a file and of a folder, with and without a way to exchange two names."""
    file, folder = Writer("file", plain_file, content), Writer("folder", plain_folder, content)
    cannot = patch.object(renaming, "_exchange", lambda a, b: False)
    with TemporaryDirectory() as place:
        counts = {
            "a file, by steps": by_steps(Target(file, Path(place) / "1"), stride),
            "a folder, by steps": by_steps(Target(folder, Path(place) / "2"), stride),
        }
        with cannot:
            # By design there is a moment without either version, until the next write.
            counts["a folder, by steps, without exchange"] = by_steps(
                Target(folder, Path(place) / "3"), stride, at_once=False
            )
    return counts


def main() -> None:
    """Run the campaign and print what was counted; the exit code is 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="random kills of each kind")
    parser.add_argument("--steps", type=int, default=0, help="kill at every so many steps, too")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default="", help="only kinds whose names contain this")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    given = parser.parse_args()
    counts = random_kills(given.kills, given.seed, given.kinds) if given.kills else {}
    counts |= kills_by_steps(given.steps) if given.steps else {}
    if given.json:
        print(json.dumps({kind: asdict(found) for kind, found in counts.items()}))
    else:
        names = list(asdict(Count()))
        print(f"{'':56}" + "".join(f"{name:>11}" for name in names))
        for kind, found in counts.items():
            print(f"{kind:56}" + "".join(f"{n:11}" for n in asdict(found).values()))
    sys.exit(any(found.lost or found.torn or found.leftovers for found in counts.values()))


if __name__ == "__main__":
    main()
