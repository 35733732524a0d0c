"""The command line: one module per command.

A module in ``commands`` imports click and light tables alone. It imports the library inside the
function of the command, so that ``--help`` starts at once.
"""

from __future__ import annotations

import click

from .._version import __version__
from .commands.adapt import adapt
from .commands.ask import ask
from .commands.demo import demo
from .commands.evaluate import evaluate
from .commands.export import export
from .commands.fit import fit
from .commands.inspect import inspect
from .commands.pack import pack
from .commands.suggest import suggest
from .commands.transform import transform
from .commands.triplets import triplets
from .errors import Group

__all__ = ["main"]


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sdpmetric")
def main() -> None:
    """Learn a distance from labels or comparisons, and prove that no better one exists.

    New here: "sdpmetric demo" writes example files and prints commands to try on them.

    The extension of a file is its format: .csv .npy .npz .parquet .jsonl .svmlight;
    "-" is standard input or output, as CSV.

    Every command takes --json and then prints one line for programs: to standard output, or, if a
    table goes there, as the last line to standard error.

    \b
    Exit codes: 0 success          2 wrong usage
                1 bad input        3 not converged, with --strict
                130 interrupted by Ctrl-C (143 by SIGTERM, 129 by SIGHUP)
    """


for command in (
    fit,
    adapt,
    transform,
    evaluate,
    inspect,
    export,
    pack,
    triplets,
    suggest,
    ask,
    demo,
):
    main.add_command(command)
