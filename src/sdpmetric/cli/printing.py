"""What commands print: text for people, one line of JSON for programs."""

from __future__ import annotations

import json
import math
from typing import Any

import click

from .._support.text import visible


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text for people; characters that a terminal would obey are shown as escapes."""
    click.echo(visible(text, keep="\n"), err=err, nl=nl)


def one_line(value: Any) -> str:
    """A value from a file as one line: it can neither forge a line nor move the cursor."""
    return visible(" ".join(str(value).split()))


def print_json(document: Any, *, output: str | None = None) -> None:
    """Print one line of JSON.

    The line goes to standard output. If ``output`` is "-", a table goes there, and the line goes to
    standard error.
    """
    text = json.dumps(_json_value(document), ensure_ascii=False, allow_nan=False)
    # JSON itself escapes only some of the characters that a terminal would obey.
    safe = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    click.echo(safe, err=output == "-")


def _json_value(value: Any) -> Any:
    """A value that JSON can hold: it has no infinity and no NumPy types."""
    if isinstance(value, dict):
        return {str(k): _json_value(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(v) for v in value]
    if hasattr(value, "tolist"):
        return _json_value(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    # Enums and paths as text; bool and int stay, and str() leaves text as it is.
    return value if value is None or isinstance(value, (bool, int)) else str(value)
