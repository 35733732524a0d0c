"""Options that several commands have, and how they tell what they did."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["as_json", "drop", "id_column", "label", "output", "say_json"]

F = TypeVar("F", bound=Callable[..., Any])


def label(help: str) -> Callable[[F], F]:
    return click.option("-l", "--label", metavar="COLUMN", help=help)


def id_column(f: F) -> F:
    text = "Column of DATA that names its rows; without it rows are numbered 0, 1, ..."
    return click.option("--id", "id_", metavar="COLUMN", help=text)(f)


def drop(f: F) -> F:
    text = "Column of DATA that is no feature; may be repeated."
    return click.option("--drop", metavar="COLUMN", multiple=True, help=text)(f)


def as_json(f: F) -> F:
    text = "Print a line of JSON, for programs."
    return click.option("--json", "as_json", is_flag=True, help=text)(f)


def output(help: str, default: str | None = "-") -> Callable[[F], F]:
    how: dict[str, Any] = {"default": default, "show_default": True}
    if default is None:
        how = {"required": True}
    return click.option("-o", "--output", metavar="FILE", help=help, **how)


def say_json(document: Any, *, output: str | None = None) -> None:
    """One line on standard output, or on standard error where ``output`` is "-", a table there."""
    text = json.dumps(_plain(document), ensure_ascii=False, allow_nan=False)
    click.echo(text, err=output == "-")


def _plain(value: Any) -> Any:
    """JSON has no infinity and knows no NumPy."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int)) else str(value)
