"""The part of a report about people: accuracy per participant, answers at odds with the metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .evaluation import LEARNED, STANDARD, Evaluation

_PEOPLE = 30  # participants that a page lists: those whom the metric predicts worst

Escape = Callable[[str], str]


def people_sections(evaluation: Evaluation, escape: Escape) -> list[str]:
    """Sections about participants and answers; none where there are no answers of people."""
    sections = []
    if evaluation.people:
        shown, hidden = evaluation.people[:_PEOPLE], len(evaluation.people) - _PEOPLE
        rest = f" {hidden} others are predicted better." if hidden > 0 else ""
        rows = [
            [p.name, f"{p.n_comparisons:,}", *(f"{p.accuracy[n]:.3f}" for n in (STANDARD, LEARNED))]
            for p in shown
        ]
        sections.append(
            "<h2>Each participant</h2>\n<p>The share of a participant's comparisons that is "
            f"predicted, least first.{rest} One far below the others may have answered at random, "
            "or attends to something else.</p>\n"
            + _table(["participant", "comparisons", STANDARD, LEARNED], rows, escape)
        )
    if evaluation.odds:
        rows = [
            [
                o.participant or "",
                o.anchor,
                f"{o.near} ({o.near_distance:.3g})",
                f"{o.far} ({o.far_distance:.3g})",
            ]
            for o in evaluation.odds
        ]
        head = ["participant", "item", "said to be nearer (distance)", "said to be farther"]
        sections.append(
            "<h2>Answers most at odds with the metric</h2>\n<p>The metric says the contrary most "
            "clearly. Look at them: a slip, or something that the features do not have.</p>\n"
            + _table(head, rows, escape)
        )
    return sections


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], escape: Escape) -> str:
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    for first, *others in rows:
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in others)
        lines.append(f"<th>{escape(first)}</th>{cells}")
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="scores"><table>\n{body}\n</table></div>'
