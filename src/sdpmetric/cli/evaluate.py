"""`sdpmetric evaluate`: is the learned metric better than Euclidean distance?"""

from __future__ import annotations

from typing import Any

import click

from .options import as_json, drop, id_column, label, say_json

__all__ = ["evaluate"]


@click.command()
@click.argument("model")
@click.argument("data")
@label("Column with the class of each row: nearest neighbours are scored.")
@click.option("-g", "--gallery", metavar="DATA", help="Rows to search neighbours in.")
@click.option("-k", default=3, show_default=True, type=click.IntRange(1), help="Neighbours.")
@click.option("-t", "--triplets", metavar="FILE", help="Comparisons: right answers are counted.")
@id_column
@drop
@click.option("--report", metavar="FILE", help="Write a page with pictures, .html.")
@as_json
def evaluate(
    model: str, data: str, drop: tuple[str, ...], report: str | None, as_json: bool, **how: Any
) -> None:
    """Compare a model with Euclidean distance.

    Best on DATA that the model was not fitted to.

    \b
    sdpmetric evaluate wine.safetensors test.csv --label cultivar --gallery train.csv
    sdpmetric evaluate songs.safetensors songs.csv --id song --triplets new-triplets.csv

    Without --gallery each row searches the others.
    """
    if (how["label"] is None) == (how["triplets"] is None):
        raise click.UsageError("Give either --label or --triplets.")
    if how["gallery"] is not None and how["label"] is None:
        raise click.UsageError("--gallery goes with --label.")
    from .judgement import by_labels, by_triplets
    from .rows import open_model
    from .writing import check_writable

    if report is not None:
        check_writable(report, (".html",))
    metric, names = open_model(model)
    if how["label"] is not None:
        judged = by_labels(metric, names, data, how["label"], how["gallery"], how["k"], drop)
    else:
        judged = by_triplets(metric, names, data, how["triplets"], how["id_"], drop)
    if report is not None:
        from .report import write_report

        write_report(report, model, metric, names, judged)
    if as_json:
        say_json({"model": model, **judged.facts, "scores": judged.scores})
    else:
        click.echo(judged.text())
    if report is not None:
        click.echo(f"Report: {report}", err=True)
