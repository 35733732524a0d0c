"""`sdpmetric evaluate`: is the learned metric better than Euclidean distance?"""

from __future__ import annotations

import click

from ..errors import called
from ..given_once import Command
from ..options import as_json, drop, id_column, label, max_bytes, triplet_files
from ..printing import print_json, say


@click.command(cls=Command)
@click.argument("model")
@click.argument("data")
@label("Column with the class of each row: scores nearest neighbours.")
@click.option(
    "-g",
    "--gallery",
    metavar="DATA",
    multiple=True,
    help="Rows to search neighbours in; may be repeated.",
)
@click.option("-k", default=3, show_default=True, type=click.IntRange(1), help="Neighbours.")
@triplet_files("Comparisons: scores correct answers; may be repeated.")
@id_column
@drop
@click.option("--report", metavar="FILE", help="Write a page with pictures, .html.")
@max_bytes
@as_json
def evaluate(
    model: str,
    data: str,
    label: str | None,
    gallery: tuple[str, ...],
    k: int,
    triplets: tuple[str, ...],
    id_: str | None,
    drop: tuple[str, ...],
    report: str | None,
    as_json: bool,
) -> None:
    """Compare a model with Euclidean distance.

    Use DATA that the model was not fitted to.

    \b
    sdpmetric evaluate wine.safetensors test.csv --label cultivar --gallery train.csv
    sdpmetric evaluate songs.safetensors songs.csv --id song --triplets new-triplets.csv

    Without --gallery, each row is searched among the other rows.
    """
    if (label is None) == (not triplets):
        raise click.UsageError("Give either --label or --triplets.")
    if gallery and label is None:
        raise click.UsageError("--gallery goes with --label.")
    from ..evaluation import by_labels, by_triplets
    from ..tables.model_rows import open_model
    from ..tables.writing import check_writable

    if report is not None:
        check_writable(report, (".html",))
    opened = open_model(model)
    if label is not None:
        evaluation = by_labels(opened, data, label, gallery, k, drop)
    else:
        evaluation = by_triplets(opened, data, triplets, id_, drop)
    if report is not None:
        from ..report import write_report

        write_report(report, model, opened, evaluation, called())
    if as_json:
        print_json({"model": model, **evaluation.facts, "scores": evaluation.scores})
    else:
        say(evaluation.text())
    if report is not None:
        say(f"Report: {report}", err=True)
