"""This library against every peer: seconds, memory growth and 3-NN test error.

Finished runs are kept in results/peers.json, and a plain call does only what is missing. Naming
rivals or data sets runs those again and replaces their rows, unless --keep is given.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import CONSOLE, machine, parser, progress
from benchmarks.peers import data, rivals, store
from benchmarks.peers.picture import draw
from benchmarks.peers.report import report
from benchmarks.peers.run import card, fit, measure, write_split
from benchmarks.processes import terminable

Task = tuple[str, str, int]  # data, rival, split


def arguments(argv: list[str] | None) -> Namespace:
    names = parser(__doc__)
    names.add_argument("--only", choices=("ours", "peers"))
    names.add_argument("--rival", type=rivals.find, nargs="+", help="names of adapters")
    names.add_argument("--data", type=data.find, nargs="+")
    names.add_argument("--keep", action="store_true", help="keep finished rows of a selection")
    names.add_argument("--splits", type=int, help="default: 5 for small sets, else 1")
    names.add_argument("--limit", type=float, default=600.0, help="seconds a fit")
    names.add_argument("--limit-for", type=pair, nargs="+", default=[], metavar="RIVAL=SECONDS")
    names.add_argument("--threads", type=int, default=2)
    names.add_argument("--memory", type=float, default=12.0, help="address space a fit, in GB")
    names.add_argument("--report", action="store_true", help="table and picture of what is there")
    names.add_argument(
        "--skip-missing", action="store_true", help="go on without rivals that are not installed"
    )
    return names.parse_args(argv)


def pair(text: str) -> tuple[str, float]:
    name, _, seconds = text.partition("=")
    return rivals.find(name), float(seconds)


def tasks(options: Namespace) -> list[Task]:
    """The cheapest expected first, so that an interrupted benchmark has most of its rows."""
    groups = {
        None: tuple(rivals.RIVALS),
        "ours": (rivals.OURS, rivals.CHOSEN),
        "peers": rivals.PEERS,
    }
    names = options.rival or groups[options.only]
    chosen = [
        (name, rival, split)
        for name in options.data or data.SETS
        for rival in names
        for split in range(1 if data.SETS[name].fixed else options.splits or data.SETS[name].splits)
    ]
    if options.keep or not (options.only or options.rival or options.data):
        done = {store.key(run) for run in store.read()["runs"]}
        chosen = [task for task in chosen if task not in done]
    return sorted(
        chosen, key=lambda task: data.expected_cost(task[0], rivals.RIVALS[task[1]].slowness)
    )


def run(todo: list[Task], options: Namespace) -> None:
    limits = dict(options.limit_for)
    with store.update() as content:
        content["machine"] = machine()
        content["settings"] = {
            "seeds": "a split's seed is its number; rivals have random_state 0 (mlpack: seed 1)",
            "address_space_gb": options.memory,
        }
    with TemporaryDirectory() as name, progress() as bar:
        folder = Path(name)
        task = bar.add_task("fits", total=len(todo))
        for set_name, rival, split in todo:
            bar.update(task, description=f"{set_name} {split}: {rival}")
            path = write_split(folder, set_name, split)
            describe(set_name, split, path)
            record = fit(
                rival,
                path,
                folder,
                limit=limits.get(rival, options.limit),
                threads=options.threads,
                memory=options.memory,
            )
            versions = record.pop("versions", None)
            store.put({"data": set_name, "rival": rival, "split": split, **record}, versions)
            if record["status"] != "ok":
                message = record.get("message", f"{record['limit']:g} s")
                CONSOLE.print(f"{set_name} {split}, {rival}: {record['status']}, {message}")
            bar.advance(task)


def describe(name: str, split: int, path: Path) -> None:
    """Sizes and the Euclidean error, once for each split."""
    known = store.read()["data"].get(name, {}).get("euclidean", {}).get(str(split), {})
    if "rules" in known:
        return
    euclidean = measure(path)
    with store.update() as content:
        entry = content["data"].setdefault(name, {**card(path), "euclidean": {}})
        entry["euclidean"][str(split)] = euclidean


def main(argv: list[str] | None = None) -> None:
    options = arguments(argv)
    if not options.report:
        todo = tasks(options)
        there = rivals.installed({t[1] for t in todo}, skip_missing=options.skip_missing)
        with terminable():
            run([task for task in todo if task[1] in there], options)
    report(store.read())
    draw(store.read())


if __name__ == "__main__":
    main()
