"""`sdpmetric inspect`: what a model file holds."""

from __future__ import annotations

from typing import Any

import click

from .options import as_json, say_json

__all__ = ["inspect"]

_TOP = 10


@click.command()
@click.argument("model")
@click.option("--data", metavar="DATA", help="Rows: features weigh by how much they vary there.")
@as_json
def inspect(model: str, data: str | None, as_json: bool) -> None:
    """Show certificate, features and parameters."""
    from ..models import read_header

    said = read_header(model) | _measured(model, data)
    if as_json:
        say_json(said)
    else:
        units = "units" if data is None else "deviations"
        click.echo(_text(model, said, units))


def _measured(model: str, data: str | None) -> dict[str, Any]:
    import numpy as np

    from ..displays import FeaturesDisplay, SpectrumDisplay
    from .reading import read
    from .rows import open_model, rows_for

    metric, names = open_model(model)
    spectrum = SpectrumDisplay.from_estimator(metric)
    X = None if data is None else rows_for(metric, names, read(data))
    features = FeaturesDisplay.from_estimator(metric, X, feature_names=names)
    order = np.argsort(-features.weights, kind="stable")[:_TOP]
    chosen = getattr(metric, "best_params_", None)
    return {
        "params": metric.get_params(),
        **({} if chosen is None else {"chosen": chosen}),
        "n_components": len(metric.components_),
        "effective_rank": spectrum.effective_rank,
        "eigenvalues": spectrum.eigenvalues,
        "heaviest_features": {features.names[i]: float(features.weights[i]) for i in order},
    }


def _text(model: str, said: dict[str, Any], units: str) -> str:
    lines = [
        f"{model}: {said['class']}, written by sdpmetric {said['library_version']}",
        "",
        f"features        {said['n_features']}",
        f"directions      {said['n_components']} (effective rank {said['effective_rank']:.1f})",
        f"status          {said['status']}",
    ]
    for name in ("gap", "objective", "upper_bound", "rho"):
        value = said[name]
        lines.append(f"{name:16}{value:.6g}" if isinstance(value, float) else f"{name:16}{value}")
    lines += ["", f"heaviest features (in {units} of the columns)"]
    width = max(len(name) for name in said["heaviest_features"])
    for name, weight in said["heaviest_features"].items():
        lines.append(f"  {name:{width}}  {weight:6.1%}  {'#' * round(40 * weight)}")
    for name in ("chosen", "params"):
        given = {n: v for n, v in said.get(name, {}).items() if v is not None}
        lines += ["", name, *(f"  {n} = {v}" for n, v in given.items())] if given else []
    return "\n".join(lines)
