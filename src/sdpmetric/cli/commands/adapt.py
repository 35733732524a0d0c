"""`sdpmetric adapt`: learn a linear adapter for stored embeddings from queries and positives."""

from __future__ import annotations

from typing import Any

import click

from ..given_once import Command
from ..interrupts import interrupt_code
from ..options import as_json, max_bytes, output
from ..printing import print_json, say


@click.command(cls=Command)
@click.argument("vectors")
@click.option(
    "--pairs",
    metavar="FILE",
    required=True,
    multiple=True,
    help="Table with columns query (or anchor), positive and, if known, negative; may be repeated.",
)
@click.option("--ids", metavar="FILE", help="The id of each row of VECTORS: a file of one column.")
@click.option("--queries", metavar="FILE", help="Vectors of the queries, if not rows of VECTORS.")
@click.option("--query-ids", metavar="FILE", help="The id of each row of --queries.")
@output("Model file to write, .safetensors or .json.", default=None)
@click.option("--scoring", help="Score to choose by, such as mrr or hit@5.  [default: ndcg]")
@click.option("--components", "n_components", type=int, help="Numbers of an adapted vector.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="Stop after that time.")
@click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help="Other parameters.")
@max_bytes
@as_json
@click.pass_context
def adapt(
    ctx: click.Context,
    /,
    vectors: str,
    pairs: tuple[str, ...],
    ids: str | None,
    queries: str | None,
    query_ids: str | None,
    output: str,
    settings: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Learn an adapter for stored embeddings.

    The tables of --pairs say which rows each query should find, from clicks for example. A fifth of
    the queries is kept apart for the report of scores before and after.

    \b
    sdpmetric adapt vectors.npy --pairs clicks.csv -o adapter.safetensors
    sdpmetric transform adapter.safetensors vectors.npy -o adapted.npy
    """
    if query_ids is not None and queries is None:
        raise click.UsageError("--query-ids goes with --queries.")
    from ...persistence.model_file import SUFFIXES
    from ..adapting import adapted
    from ..tables.writing import check_writable

    check_writable(output, SUFFIXES)
    given = {name: value for name, value in options.items() if value is not None}
    adapter = adapted(vectors, pairs, ids, queries, query_ids, settings, given)
    adapter.save(output)
    report = adapter.report_
    if as_json:
        summary: dict[str, Any] = {"model": output, "chosen": adapter.best_params_}
        summary |= {"n_comparisons": adapter.n_triplets_, "gap": adapter.gap_}
        print_json(summary | {"report": None if report is None else report.to_dict()})
    else:
        say(f"{output}: {adapter.n_features_in_} numbers to {len(adapter.components_)}")
        if adapter.best_params_["prior_weight"] == 1.0:
            say("The vectors stay as they are: no adapter was reliably better on held-out queries.")
        if report is not None:
            say(f"\n{report}")
    # The adapter is saved and valid, but a script must see that Ctrl-C ended the command.
    if "interrupted" in (str(adapter.status_), adapter.search_ended_):
        say(f"Interrupted: {output} is the best that was found so far.", err=True)
        ctx.exit(interrupt_code(ctx))
