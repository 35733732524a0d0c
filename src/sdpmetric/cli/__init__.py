"""The command line: one file per command.

Modules with a command import nothing but click: what is heavy is imported when a command runs.
"""

from __future__ import annotations

import click

from .. import __version__
from .demo import demo
from .evaluate import evaluate
from .export import export
from .fit import fit
from .group import Group
from .inspect import inspect
from .suggest import suggest
from .transform import transform
from .triplets import triplets

__all__ = ["main"]


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sdpmetric")
def main() -> None:
    """Learn a distance from labels or comparisons, and prove that no better one exists.

    New here: "sdpmetric demo" writes example files and prints commands to try on them.

    Files are read and written by extension: .csv .npy .npz .parquet .jsonl .svmlight;
    "-" is standard input or output, as CSV.

    Every command takes --json and then prints one line for programs: to standard output, or last
    to standard error where the table goes to standard output.

    \b
    Exit codes: 0 all went well    2 wrong usage
                1 bad input        3 not converged, with --strict
                130 interrupted by Ctrl-C
    """


for command in (fit, transform, evaluate, inspect, export, triplets, suggest, demo):
    main.add_command(command)
