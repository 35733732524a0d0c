"""An option is given once: click would use the last value, and drop the others silently."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from sdpmetric.cli import main
from sdpmetric.cli.given_once import takes_one_value


def commands(group: click.Group, *words: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *words, name)
        else:
            yield (*words, name), command


def value(option: click.Option) -> str:
    """A value that the type of an option takes."""
    if isinstance(option.type, click.Choice):
        return str(option.type.choices[0])
    return "8" if option.name != "max_bytes" else "8GB"


ONCE = [
    (words, command, option, name)
    for words, command in commands(main)
    for option in command.params
    if isinstance(option, click.Option) and takes_one_value(option)
    for name in option.opts
]


@pytest.mark.parametrize(
    ("words", "command", "option", "name"),
    ONCE,
    ids=[f"{' '.join(words)} {name}" for words, *_, name in ONCE],
)
def test_an_option_that_is_given_twice_is_wrong_usage(
    words: tuple[str, ...], command: click.Command, option: click.Option, name: str
) -> None:
    line = [*words]
    for other in command.params:
        if isinstance(other, click.Argument) and other.required:
            line.append("x.csv")
        elif isinstance(other, click.Option) and other.required and other is not option:
            line += [other.opts[0], "x.csv"]
    result = CliRunner().invoke(main, [*line, name, value(option), name, value(option)])
    expected = f"Error: {max(option.opts, key=len)} is given twice, expected once.\n"
    assert (result.exit_code, result.stderr.endswith(expected)) == (2, True), result.stderr


def test_all_commands_are_looked_at() -> None:
    without = {("demo",)}  # it has flags alone
    assert {words for words, *_ in ONCE} | without == {words for words, _ in commands(main)}
    assert (("fit",), "--label") in {(words, name) for words, _, _, name in ONCE}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("fit x.csv -l a --label=b -o m.json", "--label is given twice"),  # both names of one
        ("fit x.csv -la -lb -lc -o m.json", "--label is given 3 times"),
        ("fit x.csv -C 2 -C 20 -l a -o m.json", "-C is given twice"),
    ],
)
def test_however_it_is_written(line: str, words: str) -> None:
    assert words in CliRunner().invoke(main, line.split()).stderr


@pytest.mark.parametrize("line", ["fit --help -l a -l b", "fit --json --json --help"])
def test_help_and_flags_are_not_counted(line: str) -> None:
    assert CliRunner().invoke(main, line.split()).exit_code == 0


@pytest.mark.parametrize(
    "settings", ["--set C=2 --set C=20", "-C 2 --set C=20", "--components 2 --set n_components=3"]
)
def test_a_parameter_is_set_once(settings: str) -> None:
    result = CliRunner().invoke(main, f"fit x.csv -l a -o m.json {settings}".split())
    assert result.exit_code == 1
    assert "is given twice, by " in result.stderr
    assert "expected once" in result.stderr
