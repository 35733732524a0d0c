"""The tables in Markdown, from a summary alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.paper.methods import CV, LMNN, METHODS, OURS
from benchmarks.paper.printed import Printed
from benchmarks.paper.rows import ROWS
from benchmarks.paper.summary import BEST, Score, Summary, difference

MAIN = ("euclidean", BEST, "s-fw", "s", "h-fw", "h", *CV)
NONE = "–"  # noqa: RUF001
SHORT = {
    "s": "S, low-rank",
    "h": "H, low-rank",
    "s-fw": "S, frank-wolfe",
    "h-fw": "H, frank-wolfe",
    "cv": "CV",
    "cv-all": "CV, all triplets",
    "cv-short": "CV, short search",
    BEST: "LMNN",
}


def short(method: str) -> str:
    return SHORT.get(method) or METHODS[method].name


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def printed_error(printed: Printed, method: str) -> str:
    mean, *deviation = printed.errors[method]
    return f"{mean:.2f}" + "".join(f" ({d:.2f})" for d in deviation)


def error(score: Score, *, bold: bool = False) -> str:
    if not score.complete:
        return NONE if not score.cells else score.trouble
    text = f"**{score.error:.2f}**" if bold else f"{score.error:.2f}"
    return text if score.deviation is None else f"{text} ({score.deviation:.2f})"


def seconds(score: Score, unit: str) -> str:
    if not score.ok:
        return NONE if not score.cells else score.trouble
    value = score.mean(unit)
    return f"{value:.0f}" if value >= 99.5 else f"{value:.2g}"


def sets(rows: Iterable[str], runs: dict[str, int]) -> str:
    """Table 1."""
    head = ["set", "training", "validation", "test", "dimension", "after PCA", "classes", "runs"]
    head += ["triplets, paper", "triplets, ours at most", "neighbours: S and H, LMNN"]
    lines = []
    for row in map(ROWS.__getitem__, rows):
        p = row.printed
        dimension = 9 if row.key == "breast-cancer" else p.dimension
        count = row.parts[0] * row.neighbors**2
        line = [p.name, *(f"{size:,}" for size in row.parts), f"{dimension:,}", str(p.pca or NONE)]
        line += [str(p.classes), f"{runs[row.key]} of {p.runs}", f"{p.triplets:,}", f"{count:,}"]
        lines.append([*line, f"{row.neighbors}, {row.lmnn_neighbors}"])
    return table(head, lines)


# Before which measured column the paper's own stands, and its key in printed.toml.
PRINTS = {"euclidean": "Euclidean", BEST: "LMNN", "s-fw": "S", "h-fw": "H"}
PRINTED_AS = {"euclidean": "euclidean", BEST: "lmnn", "s-fw": "s", "h-fw": "h"}


def columns(summary: Summary) -> list[str]:
    """Those of table 2; a method of ours that was not tried has none."""
    tried = summary.methods()
    return [m for m in MAIN if m == BEST or m in tried]


def errors(summary: Summary) -> str:
    """Table 2: the printed number beside those measured; the lowest measured one is bold."""
    methods, head = columns(summary), ["3-NN error, %"]
    for method in methods:
        head += [f"{PRINTS[m]}: paper" for m in PRINTS if m == method] + [short(method)]
    lines = []
    for row in summary.rows:
        line, low = [ROWS[row].printed.name], summary.lowest(row, methods)
        for method in methods:
            if method in PRINTS:
                line.append(printed_error(ROWS[row].printed, PRINTED_AS[method]))
            line.append(error(summary.scores[row, method], bold=method in low))
        lines.append(line)
    ranks, line = summary.ranks(methods), ["mean rank"]
    for method in methods:
        line += [""] * (method in PRINTS) + [f"{ranks[method]:.2f}"]
    return table(head, [*lines, line])


def everyone(summary: Summary) -> str:
    """Every method and every peer: means, mean rank, and how often it is the lowest."""
    methods = summary.methods()
    lines = []
    for row in summary.rows:
        low = summary.lowest(row, methods)
        cells = []
        for m in methods:
            score = summary.scores[row, m]
            text = f"{score.error:.2f}" if score.complete else error(score)
            cells.append(f"**{text}**" if m in low else text)
        lines.append([ROWS[row].printed.name, *cells])
    ranks = summary.ranks(methods)
    wins = [sum(m in summary.lowest(row, methods) for row in summary.rows) for m in methods]
    lines.append(["mean rank", *(f"{ranks[m]:.2f}" for m in methods)])
    lines.append(["lowest on", *(f"{w} of {len(summary.rows)}" for w in wins)])
    return table(["3-NN error, %", *map(short, methods)], lines)


def differences(summary: Summary, base: str) -> str:
    """Error of ours less that of `base`, in points, with a standard error."""
    methods = [m for m in OURS if m in summary.methods()]
    head = [f"less {short(base)}", *map(short, methods)]
    if base == BEST:
        head.insert(1, "which LMNN")
    lines = []
    for row in summary.rows:
        other = summary.scores[row, base]
        line = [ROWS[row].printed.name]
        if base == BEST:
            line.append(METHODS[other.ok[0]["method"]].name if other.ok else other.trouble)
        for method in methods:
            pair = difference(summary.scores[row, method], other, ROWS[row].parts[2])
            line.append(NONE if pair is None else f"{pair[0]:+.2f} ± {pair[1]:.2f}")
        lines.append(line)
    return table(head, lines)


def times(summary: Summary, unit: str = "seconds") -> str:
    """Table 3; `unit` may be "cpu_seconds"."""
    peers = [m for m in summary.methods() if METHODS[m].rival and m not in LMNN]
    methods = [m for m in (*columns(summary), *peers) if m != "euclidean"]
    head = [unit.replace("_", " ")]
    for method in methods:
        head += [f"{PRINTS[m]}: paper" for m in PRINTS if m == method] + [short(method)]
    lines = []
    for row in summary.rows:
        line = [ROWS[row].printed.name]
        for method in methods:
            if method in PRINTS:
                line.append(ROWS[row].printed.times[PRINTED_AS[method]])
            line.append(seconds(summary.scores[row, method], unit))
        lines.append(line)
    return table(head, lines)


def gaps(summary: Summary) -> str:
    """How near to the optimum each solver ended."""
    methods = ("s-fw", "s", "h-fw", "h")
    lines = []
    for row in summary.rows:
        scores = [summary.scores[row, m] for m in methods]
        found = [f"{max(c['gap'] for c in s.ok):.0e}" if s.ok else NONE for s in scores]
        lines.append([ROWS[row].printed.name, *found])
    return table(["largest relative gap", *map(short, methods)], lines)
