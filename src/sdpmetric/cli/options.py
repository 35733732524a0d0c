"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from .tables.limits import MAX_BYTES, in_words, keep_max_bytes

F = TypeVar("F", bound=Callable[..., Any])


def label(help: str) -> Callable[[F], F]:
    """``--label``."""
    return click.option("-l", "--label", metavar="COLUMN", help=help)


def triplet_files(help: str) -> Callable[[F], F]:
    """``--triplets``: all files that are named, as a tuple."""
    return click.option("-t", "--triplets", metavar="FILE", multiple=True, help=help)


def id_column(f: F) -> F:
    """``--id``, passed as ``id_`` because ``id`` is a builtin."""
    text = "Column of DATA with the name of each row; default: rows are numbered 0, 1, ..."
    return click.option("--id", "id_", metavar="COLUMN", help=text)(f)


def drop(f: F) -> F:
    """``--drop``."""
    text = "Column of DATA that is not a feature; may be repeated."
    return click.option("--drop", metavar="COLUMN", multiple=True, help=text)(f)


def max_bytes(f: F) -> F:
    """``--max-bytes``; readers ask for it themselves (`tables.limits`)."""
    text = f"Refuse a file that unpacks to more, such as 8GB.  [default: {in_words(MAX_BYTES)}]"
    return click.option(
        "--max-bytes",
        metavar="SIZE",
        expose_value=False,
        callback=keep_max_bytes,
        help=text,
    )(f)


def as_json(f: F) -> F:
    """``--json``, passed as ``as_json``."""
    text = "Print one line of JSON, for programs."
    return click.option("--json", "as_json", is_flag=True, help=text)(f)


def output(help: str, default: str | None = "-") -> Callable[[F], F]:
    """``--output``; ``default=None`` makes it required."""
    if default is None:
        return click.option("-o", "--output", metavar="FILE", help=help, required=True)
    return click.option(
        "-o", "--output", metavar="FILE", help=help, default=default, show_default=True
    )
