"""Write guide/commands.md, the reference of the command line, from the help of its commands.

``python docs/command_reference.py`` writes it; tests/test_docs.py looks that it is up to date.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from sdpmetric.cli import main

PAGE = Path(__file__).parent / "guide" / "commands.md"
_WIDTH = 96
_HEAD = """\
# Commands and options

What `sdpmetric --help` and `sdpmetric COMMAND --help` print. How the commands go together, and what
the files and exit codes are, is on the page [The command line](command-line.md).
"""


def page() -> str:
    """The whole page, as Markdown."""
    return _HEAD + "".join(_sections(main, "sdpmetric", None))


def _sections(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    settings = command.context_settings if parent is None else {}
    ctx = click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=_WIDTH,
        max_content_width=_WIDTH,
        **settings,
    )
    text = "\n".join(line.rstrip() for line in command.get_help(ctx).splitlines())
    yield f"\n## {ctx.command_path}\n\n```text\n{text}\n```\n"
    if isinstance(command, click.Group):
        for sub in command.list_commands(ctx):
            found = command.get_command(ctx, sub)
            assert found is not None
            yield from _sections(found, sub, ctx)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
