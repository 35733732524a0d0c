"""Kill -9 at random moments of fits with a checkpoint: ``python -m tests.campaigns.resume``.

A child process makes a fit and is killed at a random moment, again and again, each time going on
from the checkpoint of the one before. Each life is longer than the last, so that every fit ends.
Its objective must then be that of a fit that nobody killed, within the two gaps. After each kill
the folder must hold complete files alone, apart from the scratch folder of the killed writer.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import safetensors
from sklearn.base import clone

from sdpmetric.persistence import state_file
from tests.campaigns.interrupts import kinds
from tests.support.killing import child, killed

__all__ = ["Count", "campaign", "resumed"]

_GROWTH = 1.25  # of the longest life after each kill: a fit that needs a second must end at last


@dataclass
class Count:
    """What happened to one kind of fit.

    Attributes
    ----------
    kills : children that were killed
    fits : fits that ended, after some kills
    resumed : lives that began with the checkpoint of another
    torn : kills after which a checkpoint could not be read
    other : fits that ended with another objective
    """

    kills: int = 0
    fits: int = 0
    resumed: int = 0
    torn: int = 0
    other: int = 0


def resumed(
    estimator: Any,
    data: tuple[Any, ...],
    folder: Path,
    count: Count,
    length: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Kill a fit, which takes about ``length`` seconds, until it ends; return its certificate."""
    outcome, longest = folder / "outcome.json", 1.0
    checkpoint = folder / "checkpoint"

    def fit() -> None:
        state_file._SECONDS = 0.0
        metric = clone(estimator).set_params(checkpoint=checkpoint).fit(*data)
        outcome.with_suffix(".new").write_text(json.dumps(certificate(metric)), encoding="ascii")
        os.replace(outcome.with_suffix(".new"), outcome)

    while not outcome.exists():
        count.resumed += any(checkpoint.rglob("*.safetensors"))
        pid, end = child(fit), time.monotonic() + longest * rng.uniform(0.02, 0.5) * length
        ended = 0
        while time.monotonic() < end and not ended:
            ended = os.waitpid(pid, os.WNOHANG)[0]
            time.sleep(0.001)
        if not ended:
            os.kill(pid, signal.SIGKILL)
            ended = not killed(pid)
        if ended:
            assert outcome.exists(), "the fit failed"
            break
        count.kills += 1
        count.torn += any(not _complete(file) for file in _checkpoints(checkpoint))
        longest *= _GROWTH
    count.fits += 1
    found: dict[str, Any] = json.loads(outcome.read_text(encoding="ascii"))
    return found


def certificate(metric: Any) -> dict[str, Any]:
    """The numbers that a killed fit must have in common with any other."""
    last = getattr(metric, "best_estimator_", metric)
    return {
        "objective": last.objective_,
        "upper_bound": last.upper_bound_,
        "gap": last.gap_,
        "converged": bool(last.converged_),
        "chosen": getattr(metric, "best_params_", None),
    }


def agree(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Whether two fits have one optimum: each objective is below the bound of the other."""
    return bool(
        found["converged"]
        and found["chosen"] == expected["chosen"]
        and found["objective"] <= expected["upper_bound"]
        and expected["objective"] <= found["upper_bound"]
    )


def _checkpoints(folder: Path) -> list[Path]:
    files = folder.rglob("*.safetensors") if folder.exists() else iter(())
    # A killed writer leaves a scratch folder, which the next one removes.
    return [file for file in files if not file.parent.name.startswith(".")]


def _complete(file: Path) -> bool:
    try:
        with safetensors.safe_open(file, "numpy") as held:
            return str(held.metadata()["format"]) == "sdpmetric-checkpoint"
    except (OSError, safetensors.SafetensorError):
        return False


def campaign(kills: int, seed: int, names: list[str] | None = None) -> dict[str, Count]:
    """Kill fits of every kind until there were so many kills in all."""
    rng = np.random.default_rng(seed)
    chosen = {
        name: kind
        for name, kind in kinds().items()
        if name != "adapter" and (names is None or name in names)
    }
    counts = {name: Count() for name in chosen}
    lengths, expected = {}, {}
    for name, (estimator, data) in chosen.items():
        clone(estimator).set_params(n_jobs=1).fit(*data)  # compiled loops, for the children too
        began = time.perf_counter()
        expected[name] = certificate(clone(estimator).set_params(n_jobs=1).fit(*data))
        lengths[name] = time.perf_counter() - began
    with TemporaryDirectory() as place:
        number = 0
        while sum(count.kills for count in counts.values()) < kills:
            name = list(chosen)[number % len(chosen)]
            estimator, data = chosen[name]
            folder = Path(place) / str(number)
            folder.mkdir()
            found = resumed(
                clone(estimator).set_params(n_jobs=1),
                data,
                folder,
                counts[name],
                lengths[name],
                rng,
            )
            counts[name].other += not agree(found, json.loads(json.dumps(expected[name])))
            number += 1
    return counts


def main() -> None:
    """Run the campaign and print what was counted; the exit code is 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100, help="kills in all")
    parser.add_argument("--seed", type=int, default=0, help="another seed has other moments")
    parser.add_argument("--kinds", nargs="*", help="only these kinds of fits")
    given = parser.parse_args()
    counts = campaign(given.kills, given.seed, given.kinds)
    sys.stdout.write(json.dumps({name: asdict(count) for name, count in counts.items()}) + "\n")
    sys.exit(any(count.torn or count.other for count in counts.values()))


if __name__ == "__main__":
    main()
