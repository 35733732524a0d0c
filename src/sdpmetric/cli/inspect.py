"""`sdpmetric inspect`: what a model file holds."""

from __future__ import annotations

from typing import Any

import click

from .options import as_json, say_json

__all__ = ["inspect"]

_TOP = 10


@click.command()
@click.argument("model")
@as_json
def inspect(model: str, as_json: bool) -> None:
    """Show certificate, features and parameters."""
    from ..model_file import read_header

    said = read_header(model) | _measured(model)
    if as_json:
        say_json(said)
    else:
        click.echo(_text(model, said))


def _measured(model: str) -> dict[str, Any]:
    import numpy as np

    from ..displays.fitted import fitted
    from .rows import open_model

    metric, names = open_model(model)
    L = metric.components_
    trace = np.square(L).sum()
    values = np.square(np.linalg.svd(L, compute_uv=False)) / trace
    shares = values[values > 0.0]
    weights = np.square(L).sum(axis=0) / trace
    order = np.argsort(-weights, kind="stable")[:_TOP]
    known = fitted(metric).names(names)
    return {
        "n_components": len(L),
        "effective_rank": float(np.exp(-np.sum(shares * np.log(shares)))),
        "eigenvalues": values.tolist(),
        "heaviest_features": {known[i]: float(weights[i]) for i in order},
    }


def _text(model: str, said: dict[str, Any]) -> str:
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
    lines += ["", "heaviest features (share of the trace, in the units of the columns)"]
    width = max(len(name) for name in said["heaviest_features"])
    for name, weight in said["heaviest_features"].items():
        lines.append(f"  {name:{width}}  {weight:6.1%}  {'#' * round(40 * weight)}")
    lines += ["", "parameters"]
    given = {name: value for name, value in said["params"].items() if value is not None}
    lines += [f"  {name} = {value}" for name, value in given.items()]
    return "\n".join(lines)
