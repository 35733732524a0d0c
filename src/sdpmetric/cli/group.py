"""What all commands share: bad input ends in one sentence and an exit code, without a traceback."""

from __future__ import annotations

import warnings
from typing import Any

import click

__all__ = ["INTERRUPTED", "NOT_CONVERGED", "Group"]

NOT_CONVERGED = 3
INTERRUPTED = 130  # what shells expect of a program that Ctrl-C ended


class Group(click.Group):
    """Commands in the order in which they are added, with errors for people."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        with warnings.catch_warnings():
            warnings.showwarning = _show
            try:
                return super().invoke(ctx)
            except BrokenPipeError:
                raise  # the reader of our output had enough; click ends quietly
            except (ValueError, OSError, ImportError) as error:
                raise click.ClickException(_sentence(error)) from None
            except MemoryError:
                raise click.ClickException("There is not enough memory for this.") from None
            except KeyboardInterrupt:
                click.echo("Interrupted: nothing was written.", err=True)
                ctx.exit(INTERRUPTED)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}."
    text = " ".join(str(error).split()) or type(error).__name__
    # In Python `path` is an argument; here it is what was typed.
    return f"The {text}" if text.startswith("path must") else text


def _show(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"Warning: {_sentence(Warning(str(message)))}", err=True)
