"""`sdpmetric suggest`: which comparisons to ask next."""

from __future__ import annotations

from typing import Any

import click

from .options import as_json, drop, id_column, output, say_json

__all__ = ["suggest"]


@click.command()
@click.argument("data")
@click.option("-n", default=20, show_default=True, type=click.IntRange(1), help="How many.")
@click.option("-m", "--model", metavar="MODEL", help="What is known so far; default: nothing.")
@click.option("--asked", metavar="FILE", help="Triplets that were answered already.")
@id_column
@drop
@click.option("--seed", type=int, help="Another seed gives other questions.")
@output("Table to write, with columns anchor, a, b.")
@as_json
def suggest(
    data: str,
    n: int,
    model: str | None,
    asked: str | None,
    id_: str | None,
    drop: tuple[str, ...],
    seed: int | None,
    output: str,
    as_json: bool,
) -> None:
    """Say which comparisons to ask next.

    The questions that MODEL is least sure of: is a or b nearer to the anchor?

    Add the answers as a column "chosen", then read them by "sdpmetric triplets 2afc".

    \b
    sdpmetric suggest songs.csv --id song --model songs.safetensors --asked triplets.csv -n 30
    """
    from ..responses import suggest_triplets
    from .answers import read_answers
    from .reading import read
    from .rows import open_model, rows_for
    from .writing import check_target, write

    check_target(output)
    table = read(data)
    without = {*drop, *([id_] if id_ else [])}
    ids = table.ids(id_) if id_ else None
    metric: Any = None
    if model is None:
        X = table.features(without=without)[0]
    else:
        metric, names = open_model(model)
        X = rows_for(metric, names, table, without)
    known = None if asked is None else read_answers(asked, ids, len(table)).triplets
    found = suggest_triplets(X, metric, n, asked=known, random_state=seed)
    cells = found if ids is None else [[ids[i] for i in row] for row in found.tolist()]
    columns = zip(*(cells if isinstance(cells, list) else cells.tolist()), strict=True)
    write(output, dict(zip(("anchor", "a", "b"), columns, strict=True)))
    if as_json:
        said = {"data": data, "model": model, "output": output, "n_questions": len(found)}
        say_json(said | {"n_asked": 0 if known is None else len(known)}, output=output)
