"""`sdpmetric triplets`: answers of many kinds as one table of comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from .options import as_json, drop, id_column, label, output, say_json

__all__ = ["triplets"]

F = TypeVar("F", bound=Callable[..., Any])

_CLICKS = "query,clicked,skipped"


@click.group()
def triplets() -> None:
    """Make comparisons from labels or from people's answers.

    The output has the columns anchor, positive, negative and, where known, weight, participant and
    answer: what "sdpmetric fit --triplets" and "evaluate --triplets" read.
    """


def _answers(columns: str) -> Callable[[F], F]:
    """What all kinds of answers take; options are listed in the order of the help."""
    who = "Default: the column of that name, if there is one."
    options = [
        click.argument("answers"),
        click.option("--columns", default=columns, show_default=bool(columns), metavar="NAMES"),
        click.option("--participant", metavar="COLUMN", help=f"Who answered. {who}"),
        click.option("--weight", metavar="COLUMN", help=f"How much it counts. {who}"),
        click.option("--count", metavar="COLUMN", help=f"How often it was given. {who}"),
        click.option("--items", metavar="DATA", help="Check that all items are rows of DATA."),
        click.option("--id", "id_", metavar="COLUMN", help="Column of DATA that names its rows."),
        output("Table to write."),
        as_json,
    ]

    def add(f: F) -> F:
        for option in reversed(options):
            f = option(f)
        return f

    return add


@triplets.command()
@click.argument("data")
@label("Column with the class of each row.")
@click.option("--neighbors", default=3, show_default=True, help="Near rows of the same class.")
@click.option("--impostors", default=3, show_default=True, help="Near rows of other classes.")
@id_column
@drop
@output("Table to write.")
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
    """From classes: near rows of the same one are closer.

    Than near rows of other classes; numbers of rows, or names with --id.
    """
    if label is None:
        raise click.UsageError("Missing option '--label'.")
    from ..mining import knn_triplets
    from .reading import read
    from .rows import labels_of
    from .writing import check_target, write

    check_target(output)
    table = read(data)
    y = labels_of(table, label)
    own = [label] if label in table.columns else []
    X, _ = table.features(without={*own, *drop, *([id_] if id_ else [])})
    found = knn_triplets(X, y, neighbors, impostors)
    ids: list[Any] = table.ids(id_) if id_ else list(range(len(table)))
    names = ("anchor", "positive", "negative")
    write(output, {n: [ids[i] for i in c] for n, c in zip(names, found.T.tolist(), strict=True)})
    if as_json:
        said = {"data": data, "output": output, "n_rows": len(ids), "n_triplets": len(found)}
        say_json(said, output=output)


@triplets.command("odd-one-out")
@_answers("a,b,c")
@click.option("--odd", default="odd", show_default=True, metavar="COLUMN", help="What was chosen.")
def odd_one_out(answers: str, odd: str, **shared: Any) -> None:
    """Which of three does not belong?

    Columns a, b, c and odd, the item that was chosen; each answer gives two triplets.
    """
    from .conversion import convert

    convert("from_odd_one_out", answers, choice=("odd", odd), **shared)


@triplets.command("2afc")
@_answers("anchor,a,b")
@click.option("--chosen", default="chosen", show_default=True, metavar="COLUMN", help="Which.")
def two_afc(answers: str, chosen: str, **shared: Any) -> None:
    """Is a or b nearer to the anchor?

    Columns anchor, a, b and chosen, the item that is nearer.
    """
    from .conversion import convert

    convert("from_2afc", answers, choice=("chosen", chosen), **shared)


@triplets.command()
@_answers("anchor,ranking")
@click.option("--separator", default="|", show_default=True, help="Between ranked items.")
@click.option("--adjacent", is_flag=True, help="Compare only neighbours in a ranking.")
def rankings(answers: str, separator: str, adjacent: bool, **shared: Any) -> None:
    """An anchor and other items, nearest first.

    Columns anchor and ranking, such as "b|d|c".
    """
    from .conversion import convert

    pairs = "adjacent" if adjacent else "all"
    convert("from_rankings", answers, separator=separator, lists=(1,), pairs=pairs, **shared)


@triplets.command()
@_answers(_CLICKS)
@click.option("--separator", default="|", show_default=True, help="Between items of a list.")
@click.option("--skip-above", is_flag=True, help="The last column lists all shown, in order.")
def clicks(answers: str, separator: str, skip_above: bool, columns: str, **shared: Any) -> None:
    """A query, items clicked, items skipped.

    Columns query, clicked and skipped; the last two may list items: "b|d|c".

    With --skip-above columns query, clicked and shown, all results in order: a clicked one is
    nearer than those above it that were not clicked.
    """
    from .conversion import convert

    if skip_above and columns == _CLICKS:
        columns = "query,clicked,shown"
    rule = "skip-above" if skip_above else "skipped"
    shared |= {"columns": columns, "separator": separator, "rule": rule}
    convert("from_clicks", answers, lists=(1, 2), **shared)


@triplets.command()
@_answers("")
def columns(answers: str, columns: str, **shared: Any) -> None:
    """Columns that say anchor, positive, negative.

    Or query instead of anchor, and several negatives: negative_1, negative_2, ...
    """
    from .conversion import convert

    convert("from_triplets", answers, columns=columns, **shared)
