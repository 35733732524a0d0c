"""Is this version as fast as an earlier commit, and does it fit the same metrics?

The sources of the base commit go to a temporary folder; the new version is the working tree. Both
fit every data set in blocks of runs: a fresh process for each block, the versions in turn, so that
a busy minute of the machine falls on both. The least CPU seconds of all runs count, of one thread.

A fit proves ``objective <= F* <= upper_bound``. Two versions solve the same problem, so the
objective of each must lie below the bound of the other; "agree" says whether it does.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.common import CONSOLE, ROOT, data_folder, parser, progress, save, show
from benchmarks.processes import measured

# Short fits, so that fixed costs show: digits as it is, the others standardised.
SETS = ("wine", "digits", "balance", "vehicle", "breast_cancer", "diabetes")
SLOWER = 1.05  # a ratio of CPU seconds from which on a version is called slower
ROUNDING = 1e-12  # relative, of the two numbers that are compared

Record = dict[str, Any]  # of a version on a set: cpu, objective, upper_bound, gap, evaluations


def checkout(base: str, folder: Path) -> Path:
    """The sources of a commit, written to a folder, or those of a checkout that is there already.

    By an archive, since a worktree of git would stay registered if the benchmark is ended.
    """
    if (Path(base) / "src" / "sdpmetric").is_dir():
        return Path(base).resolve() / "src"
    command = ["git", "archive", "--format=tar", base, "src"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True)
    if done.returncode:
        raise SystemExit(done.stderr.decode().strip())
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def available(names: list[str]) -> list[str]:
    """The data sets that are there; a line for each that is not."""
    there = [n for n in names if n == "digits" or (data_folder() / f"{n}.npz").exists()]
    for name in names:
        if name not in there:
            CONSOLE.print(f"skipped: {name}.npz is not in the data folder")
    return there


def block(source: Path, names: list[str], runs: int) -> dict[str, Record]:
    """A fresh process with one version: the least of some runs of every set."""
    env = {"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return measured("benchmarks.regression_worker", [runs, source, *names], env=env)


def better(old: Record | None, new: Record) -> Record:
    return new if old is None or new["cpu"] < old["cpu"] else old


def interleaved(
    sources: dict[str, Path], names: list[str], runs: int, size: int
) -> dict[str, dict[str, Record]]:
    """The best record of each version on each set, over blocks in turn."""
    best: dict[str, dict[str, Record]] = {version: {} for version in sources}
    blocks = -(-runs // size)
    with progress() as bar:
        task = bar.add_task("blocks", total=blocks * len(sources))
        for number in range(blocks):
            # Every other time the new version goes first.
            order = list(sources) if number % 2 == 0 else list(sources)[::-1]
            for version in order:
                found = block(sources[version], names, min(size, runs - number * size))
                for name, record in found.items():
                    best[version][name] = better(best[version].get(name), record)
                bar.advance(task)
    return best


def agree(a: Record, b: Record) -> bool:
    """Whether the two certificates are about the same optimum."""
    room = ROUNDING * max(abs(a["upper_bound"]), abs(b["upper_bound"]))
    low, high = max(a["objective"], b["objective"]), min(a["upper_bound"], b["upper_bound"])
    return bool(low <= high + room)


def compared(name: str, base: Record, new: Record) -> Record:
    return {
        "set": name,
        "base ms": 1e3 * base["cpu"],
        "new ms": 1e3 * new["cpu"],
        "ratio": new["cpu"] / base["cpu"],
        "difference": abs(new["objective"] - base["objective"]),
        "allowed": max(r["upper_bound"] - r["objective"] for r in (base, new)),
        "evaluations": f"{base['evaluations']} -> {new['evaluations']}",
        "agree": agree(base, new),
    }


def main(argv: list[str] | None = None) -> None:
    arguments = parser(__doc__)
    arguments.add_argument("base", help="a commit, or the folder of a checkout")
    arguments.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    arguments.add_argument("--runs", type=int, default=20, help="of each version on each set")
    arguments.add_argument("--block", type=int, default=5, help="runs in one process")
    options = arguments.parse_args(argv)
    names = available(options.sets)
    if not names:
        raise SystemExit("There is no data set to fit.")
    with TemporaryDirectory() as folder:
        sources = {"base": checkout(options.base, Path(folder)), "new": ROOT / "src"}
        best = interleaved(sources, names, options.runs, options.block)
    rows = [compared(name, best["base"][name], best["new"][name]) for name in names]
    base = Path(options.base).name  # a commit, or a folder without the machine's paths
    title = f"This version against {base}: least CPU time of {options.runs} fits"
    show(title, list(rows[0]), [list(row.values()) for row in rows])
    slow = [row["set"] for row in rows if row["ratio"] > SLOWER]
    CONSOLE.print(f"slower by more than {SLOWER - 1:.0%}: {', '.join(slow) or 'none'}")
    content = {"base": base, "runs": options.runs, "rows": rows, "versions": best}
    save("regression", content)
    apart = [row["set"] for row in rows if not row["agree"]]
    if apart:
        raise SystemExit(f"The fits differ by more than their certificates allow: {apart}")


if __name__ == "__main__":
    main()
