"""`sdpmetric fit`: learn a metric and write it to a model file."""

from __future__ import annotations

import time
from typing import Any

import click

from .group import INTERRUPTED, NOT_CONVERGED
from .options import as_json, drop, id_column, label, output, say_json

__all__ = ["fit"]


@click.command()
@click.argument("data")
@label("Column with the class of each row, or a file of labels beside a .npy file.")
@click.option("-t", "--triplets", metavar="FILE", help="Comparisons, see 'sdpmetric triplets'.")
@id_column
@drop
@output("Model file to write, .safetensors or .json.", default=None)
@click.option("--search", is_flag=True, help="Choose the settings by cross-validation.")
@click.option("-C", "C", type=float, help="Weight of errors against the margin.  [default: 10]")
@click.option("--loss", type=click.Choice(["huber", "squared_hinge", "logistic", "hinge"]))
@click.option("--components", "n_components", type=int, help="Directions to keep.")
@click.option("--tol", type=float, help="Relative gap at which to stop.  [default: 0.0001]")
@click.option("--time-limit", type=float, metavar="SECONDS")
@click.option("--set", "pairs", metavar="NAME=VALUE", multiple=True, help="Any other parameter.")
@click.option("--start", metavar="MODEL", help="Go on from a model file, with its settings.")
@click.option("--strict", is_flag=True, help="Exit with code 3 if the fit did not converge.")
@as_json
@click.pass_context
def fit(
    ctx: click.Context, /, data: str, output: str, strict: bool, as_json: bool, **how: Any
) -> None:
    """Learn a metric from labelled rows, or from comparisons.

    \b
    sdpmetric fit wine.csv --label cultivar -o wine.safetensors
    sdpmetric fit songs.csv --id song --triplets triplets.csv -o songs.safetensors

    Columns in different units: --search tries them standardised, too. Ctrl-C saves what is
    certified by then; the same command with --start goes on from there. In a search it chooses
    among the settings tried by then, if there are any, and makes the last fit.
    """
    if (how["label"] is None) == (how["triplets"] is None):
        raise click.UsageError("Give either --label or --triplets.")
    if how["search"] and how["start"] is not None:
        raise click.UsageError("--search cannot start from a model.")
    from ..models.files import SUFFIXES
    from .writing import check_writable

    check_writable(output, SUFFIXES)
    began = time.perf_counter()
    metric = _learned(data, **how)
    metric.save(output)
    said = _summary(metric, output, time.perf_counter() - began)
    if as_json:
        say_json(said)
    else:
        click.echo(_text(said))
    advice = _advice(said, output)
    if advice:
        click.echo(advice, err=True)
    if "interrupted" in (said["status"], said.get("search_ended")):
        ctx.exit(INTERRUPTED)
    ctx.exit(NOT_CONVERGED if strict and not said["converged"] else 0)


def _learned(
    data: str,
    *,
    label: str | None,
    triplets: str | None,
    id_: str | None,
    drop: tuple[str, ...],
    search: bool,
    start: str | None,
    pairs: tuple[str, ...],
    **named: Any,
) -> Any:
    import numpy as np

    from .answers import read_answers
    from .learning import fitted_to, learner_of, searched, settings_of, warn_of_units
    from .reading import read
    from .rows import labels_of

    settings = settings_of(named, pairs)
    learner = learner_of(settings, labels=label is not None, search=search, start=start)
    table = read(data)
    extra: dict[str, Any] = {}
    if label is not None:
        y: Any = np.array(labels_of(table, label))
    own = [label] if label is not None and label in table.columns else []
    X, names = table.features(without={*own, *drop, *([id_] if id_ else [])})
    if label is None:
        answers = read_answers(str(triplets), table.ids(id_) if id_ else None, len(table))
        y, extra["sample_weight"] = answers.triplets, answers.weights
        if settings.get("folds") == "group":
            extra["groups"] = answers.participants
    if not search:
        warn_of_units(X, names)
    metric = (searched if search else fitted_to)(learner, X, y, **extra)
    if names is not None:
        metric.feature_names_in_ = np.array(names, dtype=object)
    return metric


def _summary(metric: Any, output: str, seconds: float) -> dict[str, Any]:
    from ..displays.fitted import fitted

    last = fitted(metric).learner
    found = {
        "model": output,
        "class": type(metric).__name__,
        "n_features": metric.components_.shape[1],
        "n_components": len(metric.components_),
        "n_comparisons": last.n_triplets_,
        "status": str(last.status_),
        "converged": bool(last.converged_),
        "gap": last.gap_,
        "tol": last.tol,
        "n_iter": last.n_iter_,
        "seconds": round(seconds, 3),
    }
    if hasattr(metric, "best_params_"):
        found |= {"chosen": metric.best_params_, "held_out_score": metric.best_score_}
        found["search_ended"] = metric.search_ended_
    return found


def _text(said: dict[str, Any]) -> str:
    lines = [
        f"{said['model']}: {said['n_features']} features, {said['n_components']} directions, "
        f"learned from {said['n_comparisons']:,} comparisons",
        f"{said['status']}: gap {said['gap']:.1e} after {said['n_iter']} iterations, "
        f"{said['seconds']:.1f} s",
    ]
    if "chosen" in said:
        given = ", ".join(f"{name} {_short(value)}" for name, value in said["chosen"].items())
        lines.append(f"chosen: {given}")
        lines.append(f"held-out score: {said['held_out_score']:.3f}")
        if said["chosen"]["prior_weight"] == 1.0:
            lines.append("(prior_weight 1: nothing that was learned did reliably better than that)")
    return "\n".join(lines)


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _advice(said: dict[str, Any], output: str) -> str:
    ended = said.get("search_ended") is not None
    go_on = " To try all settings: the same command again." if ended else ""
    if "chosen" not in said:
        go_on = f" To go on: the same command with --start {output}"
    if not said["converged"]:
        return (
            f"Warning: not converged ({said['status']}): the gap is {said['gap']:.2g}, the aim was "
            f"{said['tol']:.2g}. What is saved is valid and its gap certified.{go_on}"
        )
    return f"Warning: {output} is the best of the settings that were tried.{go_on}" if ended else ""
