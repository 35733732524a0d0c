"""One page, in Markdown and as a single HTML file: printed, ours and the peers' side by side."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import announce
from benchmarks.paper import pictures, tables
from benchmarks.paper.cells import Cell
from benchmarks.paper.html import html
from benchmarks.paper.methods import CV, METHODS
from benchmarks.paper.rows import RAW, ROWS, STANDARDISED
from benchmarks.paper.summary import BEST, Summary, difference


@dataclass(frozen=True)
class Place:
    """Where the page goes."""

    markdown: Path
    html: Path
    pictures: Path
    quick: bool = False


TITLE = "# The paper's tables and figures, run again\n"
QUICK = """**A quick look, not the result**: a few small rows, {runs} runs at most instead of ten,
few methods and short limits. `make reproduce` without `QUICK=1` does the rest.
"""
MADE = """Written by `make reproduce` (`benchmarks/paper/`); every number comes from the cells in
`benchmarks/results/paper/cells`, except those in the columns "paper" and in the rules, which quote
facts about the data.
"""
RULES = """## The rules

- The split sizes are the paper's, the splits are ours (its own were never published): split r is
  drawn with seed r, and is the same for every method. USPS and Letter keep their own test rows.
- Every metric is learned from the training rows, and the training rows alone vote. SDPMetric-S and
  -H choose C and h on the validation rows, from 4 and 9 candidates; their seconds are those of the
  fit that was chosen. `frank-wolfe` is the paper's algorithm on the same problem with the same C
  and h, until a gap of 1e-3, 1,000 steps or 300 s. SDPMetricCV has its own folds inside the
  training rows and never sees the validation rows; its seconds are those of the whole search. It
  may also choose to standardise or to whiten, on raw inputs too.
- The peers run with their defaults. "LMNN" is, for each row, the implementation (pylmnn,
  metric-learn, mlpack) that finished the most runs within its limit and among those has the lowest
  mean error on the validation rows of all runs (a small leak in its favour: rows of one run's
  validation may be in another's test). {limit}
- Test rows are looked at once, after everything is chosen.
- A tied vote of 3-NN goes to the smallest label, as in scikit-learn, for everybody. With 40
  classes it matters: on ORL faces, giving it to the nearest neighbour's class instead lowers the
  Euclidean error by two points (10.3 to 8.2 % over 50 splits).
- PCA and standardisation are fitted to the training rows. The pixels of MNIST and ORL are divided
  by 255. Rows of pixels (USPS, MNIST, ORL) are not standardised, to save time.
- Brackets: standard deviation over runs. Differences: mean ± standard error over runs, which share
  rows and so are not independent; with a single run, over its test rows. A method that did not
  finish all runs of a row has the last rank there.
"""
SETS = """## Table 1: the sets

S and H have as many neighbours as the paper's triplet counts say: n triplets are one neighbour of
each kind, 9 n are three; LMNN has one on Twin-Peaks and ORL, as its text says. 54,000 for MNIST-PCA
and 4,428 for Face-Background do not follow from its own sizes (63,000 and 4,248). Breast-Cancer
here has 9 columns: the tenth of LIBSVM's file is the number of the sample. 468 of the 520
background images are public, so Face-Background is divided in the paper's proportions.
"""
MACHINE = """Of the fit alone, two threads, on two cores that had other work as well: the second
table, seconds that the processors worked, is the steadier one. The paper's are from
its own machine.
"""
FIGURE_1 = "## Figure 1: the losses\n"
FIGURE_2 = """## Figure 2: time against dimension

1,000 random triplets, Huber loss, the same problem for all; from `make bench-sdp`. The paper's
rivals were SeDuMi and SDPT3, at 800 to 1,000 s for 100 dimensions on its machine.
"""
FIGURE_3 = """## Figure 3: retrieval on Face-Background

Harris-Laplace points, SIFT, a codebook of 100 words fitted to the training images of each split,
counts of words. Each face of a test subset asks the rest of the subset; mean over {runs} test
subsets, the band is a standard error. The paper has Harris-Affine points, and its numbers are only
in its picture.
"""


def write(cells: list[Cell], place: Place) -> None:
    if not cells:
        raise SystemExit("There are no results yet.")
    place.pictures.mkdir(parents=True, exist_ok=True)
    place.markdown.parent.mkdir(parents=True, exist_ok=True)
    place.html.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(sections(cells, place))
    place.markdown.write_text(text)
    place.html.write_text(html(text, place.markdown.parent))
    for path in (place.markdown, place.html):
        announce(path)


def sections(cells: list[Cell], place: Place) -> list[str]:
    raw, scaled = (Summary(tuple(cells), inputs) for inputs in (RAW, STANDARDISED))
    runs = {row: len({c["run"] for c in cells if c["row"] == row}) for row in ROWS}
    limits = sorted({c["limit"] for c in cells if METHODS[c["method"]].rival})
    limit = f"Limit: {' or '.join(f'{x:g}' for x in limits)} s a fit, 12 GB." if limits else ""
    text = [TITLE, QUICK.format(runs=max(runs.values())) if place.quick else MADE]
    text += [RULES.format(limit=limit), SETS]
    text.append(tables.sets([row for row in ROWS if runs[row]], runs))
    for summary, name in ((raw, "raw inputs"), (scaled, "standardised inputs")):
        if summary.rows:
            text += [f"## Table 2: errors, {name}\n", tables.errors(summary), verdict(summary)]
            text += ["### Differences to LMNN\n", tables.differences(summary, BEST)]
            text += ["### Differences to Euclidean\n", tables.differences(summary, "euclidean")]
            text += ["### Every method\n", tables.everyone(summary)]
    text += ["## Table 3: seconds, raw inputs\n", MACHINE, tables.times(raw)]
    text.append(tables.times(raw, "cpu_seconds"))
    text += ["How near to the optimum the fits of this table ended:\n", tables.gaps(raw)]
    text += figures(raw, place, runs["faces"])
    return [*text, "## What did not finish\n", failures(cells)]


def verdict(summary: Summary) -> str:
    """What the table says about SDPMetricCV, whatever it says."""
    lines = []
    for method in CV:
        if method not in summary.methods():
            continue
        here, everyone = (
            standing(summary, method, methods)
            for methods in (tables.columns(summary), summary.methods())
        )
        worse = [ROWS[row].printed.name for row in summary.rows if worsened(summary, row, method)]
        lines.append(
            f"- {METHODS[method].name}: in this table {here}; of all {len(summary.methods())} "
            f"methods, below, {everyone}; worse than Euclidean by more than a standard error on "
            f"{', '.join(worse) or 'none'}."
        )
    return "\n".join(lines) + "\n"


def standing(summary: Summary, method: str, methods: list[str]) -> str:
    """How a method does among others."""
    low = sum(method in summary.lowest(row, methods) for row in summary.rows)
    ranks = summary.ranks(methods)
    place = 1 + sum(r < ranks[method] for r in ranks.values())
    n = len(summary.rows)
    return f"lowest on {low} of {n} rows, mean rank {ranks[method]:.2f} (place {place})"


def worsened(summary: Summary, row: str, method: str) -> bool:
    scores = summary.scores
    pair = difference(scores[row, method], scores[row, "euclidean"], ROWS[row].parts[2])
    return pair is not None and pair[0] > pair[1]


def figures(raw: Summary, place: Place, runs: int) -> list[str]:
    folder = place.pictures
    drawn = (
        (FIGURE_1, "the losses", pictures.losses(folder / "losses.png")),
        (FIGURE_2, "time against dimension", pictures.dimension(folder / "dimension.png")),
        (
            FIGURE_3.format(runs=runs),
            "retrieval on Face-Background",
            pictures.retrieval(raw, folder / "retrieval.png"),
        ),
    )
    text = []
    for words, alt, path in drawn:
        if path is not None:
            text += [words, f"![{alt}]({os.path.relpath(path, place.markdown.parent)})\n"]
    return text


def failures(cells: list[Cell]) -> str:
    """Every cell without a number, runs with the same reason together."""
    reasons = Counter(
        (c["row"], c["inputs"], c["method"], c["status"], c.get("message", ""))
        for c in cells
        if c["status"] != "ok"
    )
    if not reasons:
        return "Every cell has a number.\n"
    head = ["set", "inputs", "method", "runs", "status", "reason"]
    lines = [
        [ROWS[r].printed.name, i, METHODS[m].name, str(n), status, message.replace("|", "/")]
        for (r, i, m, status, message), n in sorted(reasons.items())
    ]
    return tables.table(head, lines)
