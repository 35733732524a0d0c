"""`sdpmetric export`: write a model for another program."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ...deployment.exports.targets import SUFFIXES, TARGETS
from ..given_once import Command
from ..options import as_json, max_bytes
from ..printing import print_json, say

F = TypeVar("F", bound=Callable[..., Any])
_COSINE = (
    "sentence-transformers compares by cosine, and the metric is Euclidean: pass "
    'similarity_fn_name="euclidean" to SentenceTransformer, or write a whole model with --base.'
)


def _target_options(f: F) -> F:
    """Decorate a command with the options of all targets in the table."""
    # Reversed: decorators apply from the last to the first, and help lists them in that order.
    for name, target in reversed(TARGETS.items()):
        for option in reversed(target.options):
            metavar = "DATA" if option.reads_rows else "TEXT"
            f = click.option(f"--{option.name}", metavar=metavar, help=f"{name}: {option.help}")(f)
    return f


def _help() -> str:
    """The help of the command, with a line per target."""
    rows = [
        f"{target.suffix or 'a folder':15}{target.result}"
        + (f", --to {name}" if target.suffix is None else "")
        for name, target in TARGETS.items()
    ]
    return "Write a model for another program.\n\n\b\n" + "\n".join(rows)


@click.command(cls=Command, help=_help())
@click.argument("model")
@click.argument("target", required=False)
@click.option("-o", "--output", metavar="FILE", help="The same as TARGET.")
@click.option("--to", type=click.Choice(list(TARGETS)), help="Default: by extension of TARGET.")
@_target_options
@max_bytes
@as_json
def export(
    model: str,
    target: str | None,
    output: str | None,
    to: str | None,
    as_json: bool,
    **options: str | None,
) -> None:
    """Write a model for another program; users see the text of `_help`."""
    if (target is None) == (output is None):
        raise click.UsageError("Give the file to write once: as TARGET, or by -o.")
    target = output if target is None else target
    assert target is not None
    from ...deployment.exports import export as write
    from ..tables.model_rows import open_model
    from ..tables.reading import read
    from ..tables.writing import check_writable

    kind = to or SUFFIXES.get(Path(target).suffix.lower())
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    known = {} if kind is None else {option.name: option for option in TARGETS[kind].options}
    foreign = sorted(set(given) - set(known))
    if foreign:
        raise click.UsageError(f"--{foreign[0]} does not apply to {kind or target}.")
    if kind is None:
        raise ValueError(f"{target}: the extension must be one of {', '.join(SUFFIXES)}, or --to.")
    if TARGETS[kind].suffix is not None:  # a folder is checked by the writer
        check_writable(target)
    # Both may be .safetensors: an export would replace the model by bare weights.
    if os.path.realpath(target) == os.path.realpath(model):
        raise ValueError(f"{target} is the model itself, expected another name.")
    opened = open_model(model)
    for name in given:
        if known[name].reads_rows:
            given[name] = opened.rows(read(given[name]))
    written = write(opened.named(), target, to, **given)
    if as_json:
        n_components, n_features = opened.metric.components_.shape
        summary = {"model": model, "output": written, "to": kind}
        print_json(summary | {"n_features": n_features, "n_components": n_components})
    else:
        say(f"wrote {written}")
        if kind == "sentence-transformers" and "base" not in given:
            say(_COSINE)
