"""`sdpmetric triplets`: turn labels or answers of many kinds into one table of comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import Any

import click

from ..given_once import CommandGroup
from ..options import as_json, drop, id_column, label, max_bytes, output
from ..printing import print_json

_COUNT = click.IntRange(1)
_CLICKS = "query,clicked,skipped"


@dataclass(frozen=True)
class AnswerOptions:
    """The options that all kinds of answers share, with the names that click passes them by."""

    answers: str
    columns: str
    participant: str | None
    weight: str | None
    count: str | None
    items: str | None
    id_: str | None
    skip_empty: bool
    output: str
    as_json: bool


@click.group(cls=CommandGroup)
def triplets() -> None:
    """Make comparisons from labels or from people's answers.

    The output has the columns anchor, positive, negative and, where known, weight, participant and
    answer. "sdpmetric fit --triplets" and "evaluate --triplets" read it.
    """


def _answers(columns: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command with the shared options; it gets them as one `AnswerOptions`."""
    default = "Default: the column of that name, if there is one."
    names = "Columns of ANSWERS, with commas between."
    options = [  # in the order of the help
        click.argument("answers"),
        click.option(
            "--columns", default=columns, show_default=bool(columns), metavar="NAMES", help=names
        ),
        click.option("--participant", metavar="COLUMN", help=f"Who answered. {default}"),
        click.option("--weight", metavar="COLUMN", help=f"Weight of the answer. {default}"),
        click.option("--count", metavar="COLUMN", help=f"How often it was given. {default}"),
        click.option("--items", metavar="DATA", help="Check that all items are rows of DATA."),
        click.option("--id", "id_", metavar="COLUMN", help="Column of DATA that names its rows."),
        click.option("--skip-empty", is_flag=True, help="Leave out empty answers, and count them."),
        output("Table to write."),
        max_bytes,
        as_json,
    ]

    def add(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            shared = {field.name: given.pop(field.name) for field in fields(AnswerOptions)}
            command(AnswerOptions(**shared), **given)

        decorated: Callable[..., None] = run
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return add


@triplets.command()
@click.argument("data")
@label("Column with the class of each row.")
@click.option(
    "--neighbors", default=3, show_default=True, type=_COUNT, help="Near rows of the same class."
)
@click.option(
    "--impostors", default=3, show_default=True, type=_COUNT, help="Near rows of other classes."
)
@id_column
@drop
@output("Table to write.")
@max_bytes
@as_json
def labels(
    data: str,
    label: str | None,
    neighbors: int,
    impostors: int,
    id_: str | None,
    drop: tuple[str, ...],
    output: str,
    as_json: bool,
) -> None:
    """From classes: rows of one class are nearer.

    For each row, its nearest rows of the same class are compared with its nearest rows of other
    classes. The output holds row numbers, or names with --id.
    """
    if label is None:
        raise click.UsageError("Missing option '--label'.")
    from ...triplets.knn import knn_triplets
    from ..tables.model_rows import classes_of
    from ..tables.reading import read
    from ..tables.writing import check_target, write

    check_target(output)
    table = read(data)
    y = classes_of(table, label)
    own = label if label in table.columns else None
    X, _ = table.features(without=(own, id_, *drop))
    found = knn_triplets(X, y, neighbors, impostors)
    ids: list[Any] = table.ids(id_) if id_ else list(range(len(table)))
    names = ("anchor", "positive", "negative")
    write(output, {n: [ids[i] for i in c] for n, c in zip(names, found.T.tolist(), strict=True)})
    if as_json:
        summary = {"data": data, "output": output, "n_rows": len(ids), "n_triplets": len(found)}
        print_json(summary, output=output)


@triplets.command("odd-one-out")
@_answers("a,b,c")
@click.option("--odd", default="odd", show_default=True, metavar="COLUMN", help="Item chosen.")
def odd_one_out(options: AnswerOptions, odd: str) -> None:
    """Which of three does not belong?

    Columns a, b, c and odd, the item that was chosen, or its column, or its place from 1 to 3. Each
    answer gives two triplets.
    """
    from ..conversion import Choice, convert

    convert(options, "from_odd_one_out", choice=Choice("odd", odd, 0))


@triplets.command("2afc")
@_answers("anchor,a,b")
@click.option(
    "--chosen", default="chosen", show_default=True, metavar="COLUMN", help="Item chosen."
)
def two_afc(options: AnswerOptions, chosen: str) -> None:
    """Is a or b nearer to the anchor?

    Columns anchor, a, b and chosen, the item that is nearer, or its column, or its place, 1 or 2.
    """
    from ..conversion import Choice, convert

    convert(options, "from_2afc", choice=Choice("chosen", chosen, 1))


@triplets.command()
@_answers("anchor,ranking")
@click.option("--separator", default="|", show_default=True, help="Text between ranked items.")
@click.option("--adjacent", is_flag=True, help="Compare only neighbours in a ranking.")
def rankings(options: AnswerOptions, separator: str, adjacent: bool) -> None:
    """An anchor and other items, nearest first.

    Columns anchor and ranking, such as "b|d|c".
    """
    from ..conversion import convert

    pairs = "adjacent" if adjacent else "all"
    convert(options, "from_rankings", separator=separator, lists=(1,), pairs=pairs)


@triplets.command()
@_answers(_CLICKS)
@click.option("--separator", default="|", show_default=True, help="Text between listed items.")
@click.option("--skip-above", is_flag=True, help="The last column lists all items shown, in order.")
def clicks(options: AnswerOptions, separator: str, skip_above: bool) -> None:
    """A query, items clicked, items skipped.

    Columns query, clicked and skipped; the last two may list items: "b|d|c".

    With --skip-above the columns are query, clicked and shown, all results in order: a clicked item
    is nearer than the items above it that were not clicked.
    """
    from ..conversion import convert

    # The default of --columns is that of the other rule.
    if skip_above and options.columns == _CLICKS:
        options = replace(options, columns="query,clicked,shown")
    rule = "skip-above" if skip_above else "skipped"
    convert(options, "from_clicks", separator=separator, lists=(1, 2), rule=rule)


@triplets.command()
@_answers("")
def columns(options: AnswerOptions) -> None:
    """Columns named anchor, positive, negative.

    Or query instead of anchor, and several negatives: negative_1, negative_2, ...
    """
    from ..conversion import convert

    convert(options, "from_triplets")
