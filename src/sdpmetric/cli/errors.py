"""Errors and warnings of all commands: one sentence and an exit code, without a traceback."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from .._support.text import shorten, visible
from .interrupts import interrupt_code, signals_as_interrupts
from .printing import say

NOT_CONVERGED = 3  # 1 and 2 are click's own: bad input and wrong usage
_ARGUMENTS = "sdpmetric.arguments"
_LONGEST = 1_000  # characters of a message: text from a file may be of any length


class Group(click.Group):
    """A group of commands that turns exceptions into one sentence each."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which they were added; click would sort them."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options of the group, and remember the whole command for `called`."""
        ctx.meta[_ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the options of the group."""
        with _visible_usage():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an exception of the library becomes one sentence and an exit code."""
        with warnings.catch_warnings(), _visible_usage(), signals_as_interrupts(ctx):
            warnings.showwarning = _show
            try:
                return super().invoke(ctx)
            except BrokenPipeError:
                raise  # the reader of our output stopped reading; click ends without a message
            except (ValueError, OSError, ImportError) as error:
                raise click.ClickException(_sentence(error)) from None
            except RecursionError:
                raise click.ClickException("The input is nested too deeply.") from None
            except MemoryError as error:
                text = f"There is not enough memory for this. {error}".strip()
                raise click.ClickException(text) from None
            except KeyboardInterrupt:
                say("Interrupted: nothing was written.", err=True)
                ctx.exit(interrupt_code(ctx))


def called() -> str:
    """The command that runs, as one would type it."""
    return shlex.join(["sdpmetric", *click.get_current_context().meta[_ARGUMENTS]])


@contextmanager
def _visible_usage() -> Iterator[None]:
    """Let click's own messages show control characters of arguments as escapes, too.

    An argument may come from a file as well: the shell turns ``*`` into names of files.
    """
    try:
        yield
    except click.ClickException as error:
        # Through vars: click declares it final.
        vars(error)["message"] = visible(shorten(error.message, _LONGEST))
        raise


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, UnicodeEncodeError):
        text = error.object[error.start : error.end]
        return f"{text!r} cannot be written as {error.encoding}: it is no complete character."
    text = " ".join(str(error).split()) or type(error).__name__
    # The library names its argument `path`; on the command line it is the path that was typed.
    return f"The {text}" if text.startswith("path must") else text


def _show(message: Warning | str, *_: Any, **__: Any) -> None:
    # Without the file and line of our source, which say nothing to a user of the command line.
    say(f"Warning: {shorten(_sentence(Warning(str(message))), _LONGEST)}", err=True)
