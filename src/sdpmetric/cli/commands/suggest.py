"""`sdpmetric suggest`: choose the comparisons to ask next."""

from __future__ import annotations

import click

from ..given_once import Command
from ..options import as_json, drop, id_column, max_bytes, output
from ..printing import print_json


@click.command(cls=Command)
@click.argument("data")
@click.option(
    "-n", default=20, show_default=True, type=click.IntRange(1), help="Number of questions."
)
@click.option(
    "-m", "--model", metavar="MODEL", help="The metric so far; default: Euclidean distance."
)
@click.option(
    "--asked",
    metavar="FILE",
    multiple=True,
    help="Triplets that have been answered; may be repeated.",
)
@click.option(
    "--ask",
    type=click.Choice(["2afc", "odd-one-out"]),
    default="2afc",
    show_default=True,
    help="Is a or b nearer to the anchor, or which of a, b, c does not belong?",
)
@id_column
@drop
@click.option("--seed", type=int, help="Another seed gives other questions.")
@output("Table to write, with columns anchor, a, b, or a, b, c.")
@max_bytes
@as_json
def suggest(
    data: str,
    n: int,
    model: str | None,
    asked: tuple[str, ...],
    ask: str,
    id_: str | None,
    drop: tuple[str, ...],
    seed: int | None,
    output: str,
    as_json: bool,
) -> None:
    """Choose which comparisons to ask next.

    The questions are those that MODEL is least sure about.

    Add the answers as a column "chosen" ("odd" with --ask odd-one-out). Then read them, learn from
    all answers so far, and ask again:

    \b
    sdpmetric suggest songs.csv --id song -m songs.safetensors --asked a.csv -o questions.csv
    sdpmetric triplets 2afc questions.csv -o b.csv
    sdpmetric fit songs.csv --id song -t a.csv -t b.csv -o songs.safetensors
    sdpmetric suggest songs.csv --id song -m songs.safetensors --asked a.csv --asked b.csv
    """
    from ...responses.suggest import suggest_triplets
    from ..tables.answers import read_all_answers
    from ..tables.model_rows import open_model
    from ..tables.reading import read
    from ..tables.writing import check_target, write

    check_target(output)
    table = read(data)
    without = (id_, *drop)
    ids = table.ids(id_) if id_ else None
    opened = None if model is None else open_model(model)
    if opened is None:
        X, metric = table.features(without=without)[0], None
    else:
        X, metric = opened.rows(table, without), opened.metric
    known = read_all_answers(asked, ids, len(table)).triplets if asked else None
    found = suggest_triplets(X, metric, n, asked=known, ask=ask, random_state=seed)
    names = list(range(len(table))) if ids is None else ids
    roles = ("a", "b", "c") if ask == "odd-one-out" else ("anchor", "a", "b")
    columns = zip(roles, found.T.tolist(), strict=True)
    write(output, {role: [names[i] for i in column] for role, column in columns})
    if as_json:
        summary = {"data": data, "model": model, "output": output, "n_questions": len(found)}
        print_json(summary | {"n_asked": 0 if known is None else len(known)}, output=output)
