"""`sdpmetric transform`: map rows with a model, or write the distances between them."""

from __future__ import annotations

from typing import Any

import click

from ..given_once import Command
from ..options import as_json, drop, id_column, max_bytes, output
from ..printing import print_json


@click.command(cls=Command)
@click.argument("model")
@click.argument("data")
@id_column
@click.option("--keep", metavar="COLUMN", multiple=True, help="Column to copy to the output.")
@click.option("--distances", is_flag=True, help="Write all pairwise distances instead.")
@click.option("--nearest", type=click.IntRange(1), metavar="K", help="Write each row's K nearest.")
@drop
@output("Table to write.")
@max_bytes
@as_json
def transform(
    model: str,
    data: str,
    id_: str | None,
    keep: tuple[str, ...],
    distances: bool,
    nearest: int | None,
    drop: tuple[str, ...],
    output: str,
    as_json: bool,
) -> None:
    """Map rows with a model, or write distances.

    Euclidean distances between mapped rows are the distances of MODEL.

    Features are found by the names in the model; other columns are ignored.

    \b
    sdpmetric transform wine.safetensors new.csv --keep cultivar -o mapped.csv
    sdpmetric transform songs.safetensors songs.csv --id song --distances
    sdpmetric transform songs.safetensors songs.csv --id song --nearest 3
    """
    if distances and nearest is not None:
        raise click.UsageError("Give either --distances or --nearest.")
    from ..tables.model_rows import open_model
    from ..tables.reading import read
    from ..tables.writing import check_target, write

    check_target(output)
    opened = open_model(model)
    metric = opened.metric
    table = read(data)
    first = [id_] if id_ else []
    X = opened.rows(table, (*first, *keep, *drop))
    ids = table.ids(id_) if id_ else [str(i) for i in range(len(table))]
    head: dict[str, Any] = {name: list(table.column(name)) for name in [*first, *keep]}
    if nearest is not None:
        what, columns = "nearest", _nearest(metric, X, ids, nearest, id_ or "row")
    elif distances:
        D = metric.pairwise_distances(X)
        what, columns = "distances", {id_ or "row": ids} | dict(zip(ids, D.T, strict=True))
    else:
        mapped = zip(metric.get_feature_names_out(), metric.transform(X).T, strict=True)
        what, columns = "mapped", head | dict(mapped)
    write(output, columns)
    if as_json:
        sizes = {"n_rows": len(ids), "n_features": X.shape[1], "n_columns": len(columns)}
        summary = {"model": model, "data": data, "output": output, "wrote": what, **sizes}
        print_json(summary, output=output)


def _nearest(metric: Any, X: Any, ids: list[str], k: int, name: str) -> dict[str, Any]:
    """A row per pair of a row and one of its k nearest, for databases and joins."""
    import numpy as np
    from sklearn.neighbors import NearestNeighbors

    if k >= len(ids):
        raise ValueError(f"--nearest is {k}, but each row has only {len(ids) - 1} others.")
    # In float64, as an array, whatever the output setting of the metric is.
    search = NearestNeighbors(n_neighbors=k).fit(metric.transform_array(X))
    distances, rows = search.kneighbors()
    names = np.array(ids, dtype=object)
    return {
        name: np.repeat(names, k),
        "rank": np.tile(np.arange(1, k + 1), len(ids)),
        "neighbor": names[rows].ravel(),
        "distance": distances.ravel(),
    }
