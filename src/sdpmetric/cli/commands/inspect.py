"""`sdpmetric inspect`: show the contents of a model file."""

from __future__ import annotations

from typing import Any

import click

from ..given_once import Command
from ..options import as_json, max_bytes
from ..printing import one_line, print_json, say

_TOP = 10  # features that are listed: the text should fit on a screen


@click.command(cls=Command)
@click.argument("model")
@click.option("--data", metavar="DATA", help="Rows: weights for features one deviation apart.")
@max_bytes
@as_json
def inspect(model: str, data: str | None, as_json: bool) -> None:
    """Show certificate, features and parameters."""
    from ...persistence.model_file import read_header

    summary = read_header(model) | _measured(model, data)
    if as_json:
        print_json(summary)
    else:
        units = "units" if data is None else "deviations"
        say(_text(model, summary, units))


def _measured(model: str, data: str | None) -> dict[str, Any]:
    import numpy as np

    from ...displays import FeaturesDisplay, SpectrumDisplay
    from ..tables.model_rows import open_model
    from ..tables.reading import read

    opened = open_model(model)
    metric = opened.metric
    spectrum = SpectrumDisplay.from_estimator(metric)
    X = None if data is None else opened.rows(read(data))
    features = FeaturesDisplay.from_estimator(metric, X, feature_names=opened.names)
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


def _text(model: str, summary: dict[str, Any], units: str) -> str:
    lines = [
        f"{model}: {summary['class']}, written by sdpmetric {one_line(summary['library_version'])}",
        "",
        f"features        {summary['n_features']}",
        f"directions      {summary['n_components']} "
        f"(effective rank {summary['effective_rank']:.1f})",
        f"status          {summary['status']}",
    ]
    for name in ("gap", "objective", "upper_bound", "rho"):
        value = summary[name]
        lines.append(f"{name:16}{value:.6g}" if isinstance(value, float) else f"{name:16}{value}")
    lines += ["", f"heaviest features (in {units} of the columns)"]
    weights = [(one_line(name), weight) for name, weight in summary["heaviest_features"].items()]
    width = max(len(name) for name, _ in weights)
    for name, weight in weights:
        lines.append(f"  {name:{width}}  {weight:6.1%}  {'#' * round(40 * weight)}")
    for name in ("chosen", "params"):
        given = {n: one_line(v) for n, v in summary.get(name, {}).items() if v is not None}
        lines += ["", name, *(f"  {n} = {v}" for n, v in given.items())] if given else []
    return "\n".join(lines)
