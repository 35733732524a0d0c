"""The tables, from results/peers.json alone."""

from __future__ import annotations

from typing import Any

from benchmarks.common import show
from benchmarks.peers.rivals import CHOSEN, LMNN, OURS, PEERS
from benchmarks.peers.summary import Cell, cells, euclidean, number


def report(content: dict[str, Any]) -> None:
    table = cells(content)
    show(
        "A fit: mean over splits (memory: the largest); MB: growth over imports and data",
        ["data", "rival", "s", "first call s", "MB", "3-NN error %", "note"],
        [row for name in table for row in details(content, name, table[name])],
    )
    columns = ["data", "Euclidean %", "ours %", "best peer %", "<= best", "CV %", "<= best"]
    columns += ["ours s"]
    columns += ["fastest peer that improves: s", "times ours", "metric-learn LMNN, times ours"]
    columns += ["ours MB", "least peer MB", "below all"]
    show(
        "Ours against the peers (>: a run at its time limit counts with the limit)",
        columns,
        [compare(name, euclidean(content, name), table[name]) for name in table],
    )


def details(content: dict[str, Any], name: str, rivals: dict[str, Cell]) -> list[list[str]]:
    size = content["data"][name]
    shape = f"{name} ({size['rows']:,} x {size['columns']})"
    rows = [[shape, "Euclidean", "", "", "", f"{euclidean(content, name):.2f}", ""]]
    for rival, cell in rivals.items():
        error = "-" if cell.error is None else f"{cell.error:.2f}"
        first = "-" if cell.first_call is None else number(cell.first_call)
        rows.append(["", rival, cell.time, first, cell.memory, error, cell.note])
    return rows


def compare(name: str, plain: float, rivals: dict[str, Cell]) -> list[str]:
    """One row; a column whose runs are not there yet has a dash."""
    ours, chosen = rivals.get(OURS), rivals.get(CHOSEN)
    peers = {rival: cell for rival, cell in rivals.items() if rival in PEERS}
    seconds = ours.seconds if ours else None
    return [
        name,
        f"{plain:.2f}",
        *compare_errors(ours, peers),
        *compare_errors(chosen, peers)[::2],
        "-" if ours is None else ours.time,
        *fastest(seconds, plain, peers),
        ratio(peers.get(LMNN), seconds),
        *compare_memory(ours, peers),
    ]


def compare_errors(ours: Cell | None, peers: dict[str, Cell]) -> list[str]:
    mine = ours.error if ours else None
    shown = "-" if mine is None else f"{mine:.2f}"
    errors = {rival: cell.error for rival, cell in peers.items() if cell.error is not None}
    if not errors:
        return [shown, "-", "-"]
    best = min(errors, key=errors.__getitem__)
    verdict = "-" if mine is None else answer(mine <= errors[best])
    return [shown, f"{errors[best]:.2f} {best}", verdict]


def fastest(seconds: float | None, plain: float, peers: dict[str, Cell]) -> list[str]:
    """The quickest peer whose error is below the Euclidean one, and how much slower it is."""
    times = {
        rival: cell.seconds
        for rival, cell in peers.items()
        if cell.seconds is not None and cell.error is not None and cell.error < plain
    }
    if not times:
        return ["none", "-"]
    rival = min(times, key=times.__getitem__)
    return [f"{number(times[rival])} {rival}", ratio(peers[rival], seconds)]


def ratio(peer: Cell | None, seconds: float | None) -> str:
    if peer is None or peer.seconds is None or not seconds:
        return "-"
    return ("> " if peer.at_limit else "") + number(peer.seconds / seconds)


def compare_memory(ours: Cell | None, peers: dict[str, Cell]) -> list[str]:
    """A peer at its time limit counts with what it had reached: at least that."""
    growths = {rival: cell.growth for rival, cell in peers.items() if cell.growth is not None}
    shown = "-" if ours is None else ours.memory
    if not growths:
        return [shown, "-", "-"]
    least = min(growths, key=growths.__getitem__)
    mine = ours.growth if ours else None
    verdict = "-" if mine is None else answer(mine < growths[least])
    return [shown, f"{peers[least].memory} {least}", verdict]


def answer(holds: bool) -> str:
    return "yes" if holds else "no"
