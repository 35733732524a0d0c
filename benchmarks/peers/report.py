"""The tables, from results/peers.json alone."""

from __future__ import annotations

from typing import Any

from benchmarks.common import show
from benchmarks.peers.rivals import CHOSEN, LMNN, OURS, PEERS, RIVALS
from benchmarks.peers.summary import Cell, Errors, cells, euclidean, higher, mean_rules, number
from benchmarks.rules import RULES


def report(content: dict[str, Any]) -> None:
    table = cells(content)
    show(
        "A fit: mean over splits (memory: the largest); MB: growth over imports and data",
        ["data", "rival", "CPU s", "first call s", "MB", "3-NN error %", "note"],
        [row for name in table for row in details(content, name, table[name])],
    )
    columns = ["data", "Euclidean %", "ours %", "best peer %", "<= best", "> Euclidean"]
    columns += ["CV %", "<= best", "> Euclidean", "ours CPU s", "CV CPU s"]
    columns += ["fastest peer that improves: s", "times ours", "metric-learn LMNN, times ours"]
    columns += ["ours MB", "least peer MB", "below all"]
    show(
        "Ours against the peers, beyond one standard error (> s: at its time limit)",
        columns,
        [compare(content, name, table[name]) for name in table],
    )
    show(
        f"Error in % by rule ({', '.join(RULES)}), the same for every rival",
        ["data", "Euclidean", *RIVALS],
        [by_rule(content, name, table[name]) for name in table],
    )


def details(content: dict[str, Any], name: str, rivals: dict[str, Cell]) -> list[list[str]]:
    size = content["data"][name]
    shape = f"{name} ({size['rows']:,} x {size['columns']})"
    plain = euclidean(content, name).mean
    rows = [[shape, "Euclidean", "", "", "", f"{plain:.2f}", ""]]
    for rival, cell in rivals.items():
        error = "-" if cell.error is None else f"{cell.error:.2f}"
        first = "-" if cell.first_call is None else number(cell.first_call)
        rows.append(["", rival, cell.time, first, cell.memory, error, cell.note])
    return rows


def compare(content: dict[str, Any], name: str, rivals: dict[str, Cell]) -> list[str]:
    """One row; a column whose runs are not there yet has a dash."""
    before, test_rows = euclidean(content, name), content["data"][name]["test_rows"]
    plain = before.mean
    ours, chosen = rivals.get(OURS), rivals.get(CHOSEN)
    peers = {rival: cell for rival, cell in rivals.items() if rival in PEERS}
    seconds = ours.seconds if ours else None
    mine = compare_errors(chosen, peers, before, test_rows)
    return [
        name,
        f"{plain:.2f}",
        *compare_errors(ours, peers, before, test_rows),
        *(mine[0], *mine[2:]),
        *("-" if cell is None else cell.time for cell in (ours, chosen)),
        *fastest(seconds, plain, peers),
        ratio(peers.get(LMNN), seconds),
        *compare_memory(ours, peers),
    ]


def compare_errors(
    ours: Cell | None, peers: dict[str, Cell], before: Errors, test_rows: int
) -> list[str]:
    """Our error, the best peer's, whether ours is no higher, and whether it is above Euclidean."""
    mine = ours.errors if ours and ours.errors.shares else None
    shown = "-" if ours is None or ours.error is None else f"{ours.error:.2f}"
    # A peer that did not end on all splits has no mean to compare with.
    splits = before.shares.keys()
    errors = {r: cell.error for r, cell in peers.items() if cell.errors.shares.keys() == splits}
    above = answer(higher(mine, before, test_rows)) if mine else "-"
    if not errors:
        return [shown, "-", "-", above]
    best = min(errors, key=lambda rival: errors[rival] or 0.0)
    verdict = answer(not higher(mine, peers[best].errors, test_rows)) if mine else "-"
    return [shown, f"{errors[best]:.2f} {best}", verdict, above]


def by_rule(content: dict[str, Any], name: str, rivals: dict[str, Cell]) -> list[str]:
    """One row: the errors by every rule of Euclidean distance and of each rival."""
    stored = [found.get("rules") for found in content["data"][name]["euclidean"].values()]
    before = mean_rules(stored) if all(stored) else {}

    def shown(rules: dict[str, float]) -> str:
        return " ".join(f"{rules[rule]:.2f}" for rule in RULES) if rules else "-"

    learned = [rivals[rival].rules if rival in rivals else {} for rival in RIVALS]
    return [name, *map(shown, [before, *learned])]


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
