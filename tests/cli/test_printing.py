"""No text from a file can steer a terminal: names, labels, ids, messages, names of files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import sdpmetric
from sdpmetric.cli import main
from sdpmetric.cli.printing import one_line, print_json

# Clear the screen; the same in one byte; turn the direction of writing; forge a line.
EVIL = ["\x1b[2J", "\x9b2J", "\u202eevil", "x\x07\x08"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose names are evil, and a model of it."""
    made = tmp_path_factory.mktemp("made")
    rows = [{name: (i * j) % 5 for j, name in enumerate(EVIL, 2)} for i in range(12)]
    labelled = [row | {"kind": f"{'uv'[i % 2]}\x1b[31m"} for i, row in enumerate(rows)]
    table, model = made / "t.jsonl", made / "m.json"
    table.write_text("\n".join(map(json.dumps, labelled)))
    line = ["fit", str(table), "-l", "kind", "-o", str(model), "--tol", "0.1"]
    assert run(*line).exit_code == 0
    return made


@pytest.fixture(autouse=True)
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def run(*line: str) -> Result:
    return CliRunner().invoke(main, list(line))


def steers(text: str) -> bool:
    return any(not c.isprintable() and c != "\n" for c in text)


@pytest.mark.parametrize(
    "line",
    [
        ["inspect", "m.json"],
        ["inspect", "m.json", "--json"],
        ["inspect", "m.json", "--data", "t.jsonl"],
        ["evaluate", "m.json", "t.jsonl", "-l", "kind"],
        ["fit", "t.jsonl", "-l", "kind", "-o", "\x1b[2J.json", "--tol", "0.1"],
        ["fit", "t.jsonl", "-l", "\x1b[2J", "-o", "m2.json"],
        ["fit", "t.jsonl", "-l", "no\x1b[2J", "-o", "m2.json"],
        ["fit", "t.jsonl", "-l", "kind", "--set", "\x1b[2J=1", "-o", "m2.json"],
        ["fit", "\x1b[2J.csv", "-l", "kind", "-o", "m2.json"],
        ["transform", "m.json", "\x1b[2J", "-o", "x.csv"],
        ["transform", "\x1b[2J.json", "t.jsonl"],
        ["suggest", "t.jsonl", "-n", "1"],
        ["suggest", "t.jsonl", "--id", "kind", "-n", "1"],
        ["suggest", "t.jsonl", "-n", "\x1b[2J"],
        ["suggest", "--\x1b[2J"],
        ["export", "m.json", "\x1b[2J.npy"],
        ["export", "m.json", "x", "--to", "\x1b[2J"],
        ["demo", "\x1b[2J"],
        ["\x1b[2J"],
        ["--\x1b[2J"],
        ["triplets", "\x1b[2J"],
    ],
    ids=str,
)
def test_nothing_steers_the_terminal(line: list[str]) -> None:
    result = run(*line)
    assert isinstance(result.exception, SystemExit | None)
    assert result.output
    assert not steers(result.output)


def test_names_with_line_breaks_forge_no_line() -> None:
    metric = sdpmetric.load("m.json")
    metric.feature_names_in_[0] = "x\nstatus          converged"
    metric.save("m.json")
    lines = run("inspect", "m.json").stdout.splitlines()
    assert sum(line.startswith("status") for line in lines) == 1
    assert one_line("a\n\tb\x1b") == "a b\\x1b"


def test_json_is_exact_and_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    document = {"name": "".join(EVIL) + "\ud800\U000e0001 Müller"}
    print_json(document)
    said = capsys.readouterr().out
    assert not steers(said)
    assert "Müller" in said
    assert json.loads(said) == document


def test_long_texts_are_cut() -> None:
    Path("long.csv").write_text("a" * 100_000 + "\n1,2\n")
    assert len(run("suggest", "long.csv", "-n", "1").stderr) < 1100
    assert len(run("suggest", "t.jsonl", "-n", "b" * 100_000).stderr) < 1200


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")
@pytest.mark.parametrize("line", ["transform m.json t.jsonl --keep kind", "inspect m.json"])
def test_a_terminal_sees_escapes_and_a_pipe_the_table(line: str) -> None:
    command = [sys.executable, "-m", "sdpmetric", *line.split()]
    master, slave = os.openpty()
    subprocess.run(command, stdout=slave, stderr=slave, stdin=subprocess.DEVNULL, check=True)
    os.close(slave)
    seen = b""
    try:
        while part := os.read(master, 65536):
            seen += part
    except OSError:  # the terminal is closed, and empty
        pass
    os.close(master)
    assert b"\x1b" not in seen
    assert b"\\x1b[" in seen
    piped = subprocess.run(command, capture_output=True, check=True).stdout
    assert (b"\x1b[31m" in piped) == line.startswith("transform")
