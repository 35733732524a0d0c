"""`sdpmetric fit`: learn a metric and write it to a model file."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import click

from ...problem.loss_names import LOSSES
from ..errors import NOT_CONVERGED
from ..given_once import Command
from ..interrupts import interrupt_code
from ..options import as_json, drop, id_column, label, max_bytes, output, triplet_files
from ..printing import print_json, say


@dataclass(frozen=True)
class FitOptions:
    """The options of the data and of the fit, under the names that click uses."""

    data: str
    label: str | None
    triplets: tuple[str, ...]
    id_: str | None
    drop: tuple[str, ...]
    search: bool
    start: str | None
    pairs: tuple[str, ...]  # NAME=VALUE
    C: float | None
    loss: str | None
    n_components: int | None
    tol: float | None
    time_limit: float | None
    checkpoint: str | None

    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator whose own option was given."""
        # None is "not given": the defaults stay those of the estimator, or of the model of --start.
        own = ("C", "loss", "n_components", "tol", "time_limit", "checkpoint")
        given = {name: getattr(self, name) for name in own}
        return {name: value for name, value in given.items() if value is not None}


@click.command(cls=Command)
@click.argument("data")
@label("Column with the class of each row, or a file of labels beside a .npy file.")
@triplet_files("Comparisons, see 'sdpmetric triplets'; may be repeated.")
@id_column
@drop
@output("Model file to write, .safetensors or .json.", default=None)
@click.option("--search", is_flag=True, help="Choose the settings by cross-validation.")
@click.option("-C", "C", type=float, help="Weight of errors against the margin.  [default: 7]")
@click.option(
    "--loss", type=click.Choice(tuple(LOSSES)), help="Penalty of a margin that is too small."
)
@click.option("--components", "n_components", type=int, help="Directions to keep.")
@click.option("--tol", type=float, help="Relative gap at which to stop.  [default: 0.0001]")
@click.option("--time-limit", type=float, metavar="SECONDS", help="Stop after that time.")
@click.option(
    "--checkpoint",
    metavar="FOLDER",
    help="Keep there how far the fit is: after a crash, the same command goes on.",
)
@click.option("--set", "pairs", metavar="NAME=VALUE", multiple=True, help="Any other parameter.")
@click.option("--start", metavar="MODEL", help="Continue from a model file, with its settings.")
@click.option("--strict", is_flag=True, help="Exit with code 3 if the fit did not converge.")
@max_bytes
@as_json
@click.pass_context
def fit(ctx: click.Context, /, output: str, strict: bool, as_json: bool, **given: Any) -> None:
    """Learn a metric from labelled rows, or from comparisons.

    \b
    sdpmetric fit wine.csv --label cultivar -o wine.safetensors
    sdpmetric fit songs.csv --id song --triplets triplets.csv -o songs.safetensors

    Columns are standardised where that clearly helps; --set coordinates=raw keeps them as they are,
    and --search tries more settings. Ctrl-C saves the last certified metric; the same command with
    --start continues from it. In a search, Ctrl-C chooses among the settings tried so far, if there
    are any, and fits them to all data. So does --time-limit, which counts for the search and the
    last fit together.
    """
    options = FitOptions(**given)
    if (options.label is None) == (not options.triplets):
        raise click.UsageError("Give either --label or --triplets.")
    if options.search and options.start is not None:
        raise click.UsageError("--search cannot start from a model.")
    from ...persistence.model_file import SUFFIXES
    from ..fitting import fit_model
    from ..tables.writing import check_writable

    # Before the fit: a wrong name must not cost an hour of work.
    check_writable(output, SUFFIXES)
    began = time.perf_counter()
    model = fit_model(options)
    model.save(output)
    summary = _summary(model.metric, output, time.perf_counter() - began)
    if as_json:
        print_json(summary)
    else:
        say(_text(summary))
    advice = _advice(summary, output)
    if advice:
        say(advice, err=True)
    # The model is saved and valid, but a script must see that Ctrl-C ended the command.
    if "interrupted" in (summary["status"], summary.get("search_ended")):
        ctx.exit(interrupt_code(ctx))
    ctx.exit(NOT_CONVERGED if strict and not summary["converged"] else 0)


def _summary(metric: Any, output: str, seconds: float) -> dict[str, Any]:
    from ...learning.fitted import fitted
    from ...learning.selection.score_name import score_name

    last = fitted(metric).learner
    summary = {
        "model": output,
        "class": type(metric).__name__,
        "n_features": metric.components_.shape[1],
        "n_components": len(metric.components_),
        "n_comparisons": last.n_triplets_,
        "coordinates": last.coordinates_.kind,
        "status": str(last.status_),
        "converged": bool(last.converged_),
        "gap": last.gap_,
        "tol": last.tol,
        "n_iter": last.n_iter_,
        "seconds": round(seconds, 3),
    }
    if hasattr(metric, "best_params_"):
        summary |= {"chosen": metric.best_params_, "held_out_score": metric.best_score_}
        summary["held_out_score_of"] = score_name(metric)
        summary["search_ended"] = metric.search_ended_
    return summary


def _text(summary: dict[str, Any]) -> str:
    lines = [
        f"{summary['model']}: {summary['n_features']} features, {summary['n_components']} "
        f"directions, learned from {summary['n_comparisons']:,} comparisons in "
        f"{summary['coordinates']} coordinates",
        f"{summary['status']}: gap {summary['gap']:.1e} after {summary['n_iter']} iterations, "
        f"{summary['seconds']:.1f} s",
    ]
    if "chosen" in summary:
        chosen = ", ".join(f"{name} {_digits(value)}" for name, value in summary["chosen"].items())
        lines.append(f"chosen: {chosen}")
        lines.append(f"{summary['held_out_score_of']}: {summary['held_out_score']:.3f}")
        if summary["chosen"]["prior_weight"] == 1.0:  # the prior alone: C and loss had no say
            what = "learned" if summary["search_ended"] is None else "tried so far"
            lines.append(f"(prior_weight 1: nothing that was {what} did reliably better than that)")
    return "\n".join(lines)


def _digits(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _advice(summary: dict[str, Any], output: str) -> str:
    """A sentence about a fit or a search that ended early; empty if none did."""
    ended = summary.get("search_ended")
    more = "with a larger --time-limit" if ended == "time limit" else "again"
    go_on = f" To try all settings: the same command {more}." if ended else ""
    if "chosen" not in summary:
        go_on = f" To go on: the same command with --start {output}"
    if not summary["converged"]:
        return (
            f"Warning: not converged ({summary['status']}): the gap is {summary['gap']:.2g}, the "
            f"aim was {summary['tol']:.2g}. The saved metric is valid and its gap is certified."
            f"{go_on}"
        )
    return f"Warning: {output} is the best of the settings that were tried.{go_on}" if ended else ""
