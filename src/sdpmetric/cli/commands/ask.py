"""`sdpmetric ask`: a page on which people answer, while the metric learns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click

from ..given_once import Command
from ..options import as_json, drop, id_column, max_bytes, output

_COUNT = click.IntRange(1)


@dataclass(frozen=True)
class AskOptions:
    """The options of `sdpmetric ask`, with the names that click passes them by."""

    data: str
    id_: str | None
    image: str | None
    audio: str | None
    video: str | None
    text: str | None
    describe: str | None
    vectors: str | None
    drop: tuple[str, ...]
    ask: str
    target: int
    random: bool
    title: str
    prompt: str
    consent: str | None
    instructions: str | None
    practice: str | None
    practice_trials: int
    debriefing: str | None
    catch: str | None
    participants: str | None
    completion_url: str
    output: str
    host: str
    port: int
    public_url: str
    no_browser: bool
    as_json: bool


def _file(name: str, help: str) -> Callable[[Any], Any]:
    return click.option(name, metavar="FILE", help=help)


def _column(name: str, help: str) -> Callable[[Any], Any]:
    return click.option(name, metavar="COLUMN", help=help)


def _together(command: Callable[[AskOptions], None]) -> Callable[..., None]:
    """Pass all options as one `AskOptions`."""

    @wraps(command)
    def run(**given: Any) -> None:
        command(AskOptions(**{field.name: given[field.name] for field in fields(AskOptions)}))

    return run


@click.command(cls=Command)
@click.argument("data")
@id_column
@_column("--image", "Column with the files of pictures.")
@_column("--audio", "Column with the files of sounds.")
@_column("--video", "Column with the files of films.")
@_column("--text", "Column with texts; default: the names of the rows.")
@_column("--describe", "Column with descriptions for people who hear the page.")
@_file("--vectors", "Features of the rows, such as .npy; default: the numeric columns.")
@drop
@click.option(
    "--ask",
    type=click.Choice(["odd-one-out", "2afc"]),
    default="odd-one-out",
    show_default=True,
    help="Which of three does not belong, or which of two is closer to the first?",
)
@click.option(
    "--target", default=100, show_default=True, type=_COUNT, help="Questions for each participant."
)
@click.option("--random", is_flag=True, help="Ask random questions only.")
@click.option("--title", default="", help="Name of the study.")
@click.option("--prompt", default="", help="Sentence above the items.")
@_file("--consent", "Markdown that participants agree to first.")
@_file("--instructions", "Markdown before the questions.")
@_file("--practice", "Markdown before practice questions.")
@click.option(
    "--practice-trials", default=3, show_default=True, type=_COUNT, help="With --practice."
)
@_file("--debriefing", "Markdown after the last question.")
@_file("--catch", "Table of questions with known answers; columns as in the answers.")
@_file("--participants", "Names, one in a line: each gets a signed link, no one else may answer.")
@click.option("--completion-url", default="", metavar="URL", help="Where to go at the end.")
@output("Study file with the answers (.db); an existing one is continued.", "answers.db")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Another one lets other computers in."
)
@click.option(
    "--port", default=8765, show_default=True, type=click.IntRange(0, 65535), help="0: a free one."
)
@click.option(
    "--public-url", default="", metavar="URL", help="Address of a proxy before this server."
)
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@max_bytes
@as_json
@_together
def ask(options: AskOptions) -> None:
    """Open a page on which people answer, while the metric learns.

    The page shows three items of DATA and asks which one does not belong. Most questions are those
    that the metric learned so far is least sure of. Answers go to a file that "sdpmetric triplets"
    reads, also while people answer. A dashboard shows what is learned.

    \b
    sdpmetric demo ask && cd ask
    sdpmetric ask shapes.csv --id shape --image file -o answers.db
    """
    from ..asking import run

    run(options)
