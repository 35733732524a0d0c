"""`sdpmetric export`: a model for another program."""

from __future__ import annotations

import os
from typing import Any

import click

from .options import as_json, say_json

__all__ = ["export"]

_TARGETS = ("numpy", "json", "faiss", "onnx", "torch", "sentence-transformers", "pgvector")


@click.command()
@click.argument("model")
@click.argument("target")
@click.option("--to", type=click.Choice(_TARGETS), help="Default: by the extension of TARGET.")
@click.option("--rows", metavar="DATA", help="Faiss: rows to put into the index.")
@click.option("--factory", help="Faiss: kind of index.  [default: Flat]")
@click.option("--name", help="pgvector: name of the function.  [default: sdpmetric]")
@click.option("--table", help="pgvector: table to which a mapped column is added.")
@click.option("--column", help="pgvector: its column of vectors.  [default: embedding]")
@as_json
def export(
    model: str, target: str, to: str | None, rows: str | None, as_json: bool, **options: Any
) -> None:
    """Write a model for another program.

    \b
    .npy  .json    the linear map as numbers
    .faiss         an index that takes raw rows
    .onnx          a network of one layer
    .safetensors   weights of a torch Linear
    .sql           a function for pgvector
    a folder       --to sentence-transformers
    """
    from ..exports import SUFFIXES
    from ..exports import export as write
    from .reading import read
    from .rows import open_model, rows_for
    from .writing import check_writable

    kind = to or next((v for k, v in SUFFIXES.items() if target.lower().endswith(k)), None)
    given = {name: value for name, value in options.items() if value is not None}
    if rows is not None:
        given["rows"] = rows
    belongs = {"faiss": {"rows", "factory"}, "pgvector": {"name", "table", "column"}}
    foreign = sorted(set(given) - belongs.get(str(kind), set()))
    if foreign:
        raise click.UsageError(f"--{foreign[0]} does not apply to {kind or target}.")
    if kind != "sentence-transformers":
        check_writable(target)
    if os.path.realpath(target) == os.path.realpath(model):
        raise ValueError(f"{target} is the model itself, expected another name.")
    metric, names = open_model(model)
    if rows is not None:
        given["rows"] = rows_for(metric, names, read(rows))
    if kind == "json" and names is not None:
        import numpy as np

        metric.feature_names_in_ = np.array(names, dtype=object)
    written = write(metric, target, to, **given)
    if as_json:
        n_components, n_features = metric.components_.shape
        said = {"model": model, "output": written, "to": kind}
        say_json(said | {"n_features": n_features, "n_components": n_components})
    else:
        click.echo(f"wrote {written}")
