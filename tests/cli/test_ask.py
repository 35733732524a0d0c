"""`sdpmetric ask`: bad input ends before the server starts; good input starts it."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sdpmetric.cli import main
from sdpmetric.page.serve import Address
from sdpmetric.page.store import Store

ASK = ["ask", "shapes.csv", "--id", "shape", "--image", "file", "--no-browser", "--port", "0"]
OTHER = "name,size\na,1\nb,2\nc,3\n"


@pytest.fixture
def shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    done = CliRunner().invoke(main, ["demo", "ask", str(tmp_path / "demo")])
    assert done.exit_code == 0, done.output
    monkeypatch.chdir(tmp_path / "demo")
    return tmp_path / "demo"


def fails(*arguments: str) -> str:
    """The one sentence with which a command ends; a server would not end."""
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code in (1, 2), done.output
    return done.output.strip().splitlines()[-1].removeprefix("Error: ")


def test_the_demo_has_pictures_made_by_rule(shapes: Path) -> None:
    pictures = sorted((shapes / "pictures").iterdir())
    assert len(pictures) == 48
    for picture in pictures:
        assert ET.parse(picture).getroot().tag.endswith("svg")
    assert len({picture.read_text() for picture in pictures}) == 48
    assert "is there already" in fails("demo", "ask", str(shapes))
    assert "expected one" in fails("demo", "ask", "a", "b")


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


BAD: dict[str, tuple[Callable[[Path], object], list[str], str]] = {
    "fewer than three items": (
        lambda p: write(p / "t.csv", "name,size\na,1\nb,2\n"),
        ["ask", "t.csv", "--id", "name"],
        "The study has 2 items, expected at least three.",
    ),
    "duplicate ids": (
        lambda p: write(p / "t.csv", "name,size\na,1\nb,2\na,3\n"),
        ["ask", "t.csv", "--id", "name"],
        "t.csv, line 4: 'name' is 'a' again, expected a name of its own for each row.",
    ),
    "missing pictures": (
        lambda p: [(p / f"pictures/shape-0{i}.svg").rename(p / f"old-{i}") for i in (3, 4)],
        ASK,
        "2 of 48 files are missing; the first is pictures/shape-03.svg.",
    ),
    "pictures of another type": (
        lambda p: write(p / "t.csv", "name,size,file\na,1,a.txt\nb,2,b.txt\nc,3,c.txt\n"),
        ["ask", "t.csv", "--id", "name", "--image", "file"],
        "a.txt cannot be shown as image; the extension must be one of .avif,",
    ),
    "no numeric column": (
        lambda p: write(p / "t.csv", "name,kind\na,x\nb,y\nc,z\n"),
        ["ask", "t.csv", "--id", "name"],
        "t.csv has no numeric column, expected features of the items, or --vectors.",
    ),
    "a cell that is no number": (
        lambda p: write(p / "t.csv", "name,size\na,1\nb,large\nc,3\n"),
        ["ask", "t.csv", "--id", "name"],
        "t.csv, line 3: 'size' is 'large', expected a number (--drop leaves a column out).",
    ),
    "items that do not differ": (
        lambda p: write(p / "t.csv", "name,size\na,1\nb,1\nc,1\n"),
        ["ask", "t.csv", "--id", "name"],
        "Fewer than three items have features of their own, expected items that differ.",
    ),
    "no file": (lambda p: None, ["ask", "no.csv", "--id", "name"], "There is no file 'no.csv'."),
    "no text": (
        lambda p: (p / "t.csv").write_bytes(b"\xff\xfe\x00"),
        ["ask", "t.csv", "--id", "name"],
        "t.csv is not UTF-8 text",
    ),
    "no column of this name": (
        lambda p: write(p / "t.csv", OTHER),
        ["ask", "t.csv", "--id", "name", "--text", "words"],
        "t.csv has no column 'words'",
    ),
    "nothing to show": (
        lambda p: write(p / "t.csv", OTHER),
        ["ask", "t.csv"],
        "Missing option '--id', '--image', '--audio', '--video' or '--text'.",
    ),
    "two things to show": (
        lambda p: None,
        [*ASK, "--text", "shape"],
        "Got --image and --text, expected one of them.",
    ),
    "vectors of other rows": (
        lambda p: np.save(p / "v.npy", np.eye(4)),
        [*ASK, "--vectors", "v.npy"],
        "v.npy has 4 rows, expected 48, as many as shapes.csv.",
    ),
    "another extension": (
        lambda p: None,
        [*ASK, "-o", "answers.csv"],
        "answers.csv: the extension must be one of .db.",
    ),
    "a file that is no database": (
        lambda p: write(p / "answers.db", "notes"),
        ASK,
        "answers.db is not a database.",
    ),
    "a database of another study": (
        lambda p: Store(p / "answers.db", "odd-one-out", ["a", "b", "c"]).close(),
        ASK,
        "answers.db belongs to another study: it has 3 items, this study 48,",
    ),
    "a database of a newer version": (
        lambda p: sqlite3.connect(_made(p)).execute("PRAGMA user_version=99").connection.close(),
        ASK,
        "answers.db has format 99, but this version of sdpmetric reads up to",
    ),
    "answers of another kind": (
        lambda p: _made(p),
        [*ASK, "--ask", "2afc"],
        "answers.db holds answers of kind 'odd-one-out', this study asks '2afc';",
    ),
    "an address that is none": (
        lambda p: None,
        [*ASK, "--public-url", "lab.example.org"],
        "--public-url must be an address with http:// or https://, got 'lab.example.org'.",
    ),
    "a participant whose name cannot be in a link": (
        lambda p: write(p / "names.txt", "ada\nJörg K\n"),
        [*ASK, "--participants", "names.txt"],
        "The participant 'Jörg K' cannot have a link:",
    ),
    "a participant of a reserved name": (
        lambda p: write(p / "names.txt", "guest.x\n"),
        [*ASK, "--participants", "names.txt"],
        "The participant 'guest.x' cannot have a link:",
    ),
    "a participant twice": (
        lambda p: write(p / "names.txt", "ada\nbo\nada\n"),
        [*ASK, "--participants", "names.txt"],
        "The participant 'ada' is listed twice, expected once.",
    ),
    "no participant": (
        lambda p: write(p / "names.txt", "\n"),
        [*ASK, "--participants", "names.txt"],
        "names.txt holds no name, expected one in each line.",
    ),
    "a catch question about unknown items": (
        lambda p: write(p / "c.csv", "a,b,c,odd\nshape-01,shape-02,x,x\n"),
        [*ASK, "--catch", "c.csv"],
        "c.csv, line 2: 'c' is 'x'",
    ),
    "a catch question with another answer": (
        lambda p: write(p / "c.csv", "a,b,c,odd\nshape-01,shape-02,shape-03,shape-04\n"),
        [*ASK, "--catch", "c.csv"],
        "c.csv, line 2: found 'shape-01', 'shape-02', 'shape-03', 'shape-04'; expected three",
    ),
    "no consent": (
        lambda p: None,
        [*ASK, "--consent", "consent.md"],
        "There is no file 'consent.md'.",
    ),
}


def _made(folder: Path) -> Path:
    ids = [f"shape-{i:02}" for i in range(1, 49)]
    Store(folder / "answers.db", "odd-one-out", ids).close()
    return folder / "answers.db"


@pytest.mark.parametrize("name", BAD)
def test_bad_input(shapes: Path, name: str) -> None:
    prepare, arguments, expected = BAD[name]
    prepare(shapes)
    there = {file.name for file in shapes.iterdir()}
    assert fails(*arguments).startswith(expected)
    assert {f.name for f in shapes.iterdir()} - {"answers.db-wal", "answers.db-shm"} == there


def test_a_port_in_use(shapes: Path) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = fails(*ASK[:-1], str(port))
    assert said.startswith(f"Port {port} of 127.0.0.1 cannot be used: ")
    assert said.endswith("try --port 0, which takes a free one.")
    assert not (shapes / "answers.db").exists()


def test_addresses_in_links() -> None:
    assert Address().url(8765) == "http://127.0.0.1:8765"
    assert Address("::1").url(80) == "http://[::1]:80"
    assert Address("0.0.0.0").url(80) == f"http://{socket.gethostname()}:80"
    assert Address(public_url="https://a.example/x/").url(80) == "https://a.example/x"
    assert [Address(host).local for host in ("localhost", "::1", "0.0.0.0")] == [True, True, False]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_the_server_starts_and_stops(shapes: Path) -> None:
    """One line with the links, a page, Ctrl-C, and the file can be read."""
    write(shapes / "names.txt", "ada\nbo\n")
    invited = ["--participants", "names.txt"]
    cases: tuple[tuple[list[str], list[str]], ...]
    cases = ([], ["participants", "dashboard"]), (invited, ["ada", "bo", "dashboard"])
    for options, expected in cases:
        command = [sys.executable, "-m", "sdpmetric", *ASK, "--json", *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=shapes) as server:
            assert server.stdout is not None
            said = json.loads(server.stdout.readline())
            assert said["n_items"] == 48
            assert list(said["links"]) == expected
            with urllib.request.urlopen(next(iter(said["links"].values()))) as page:
                assert b"Which one does not belong?" in page.read()
            server.send_signal(signal.SIGINT)
            assert server.wait(30) == 0
    done = CliRunner().invoke(main, ["triplets", "odd-one-out", str(shapes / "answers.db")])
    assert "holds no rows" in done.output


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_what_people_read(shapes: Path) -> None:
    command = [sys.executable, "-m", "sdpmetric", *ASK, "--host", "0.0.0.0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=shapes) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        first, second = server.stdout.readline(), server.stdout.readline()
        assert first.startswith("participants  http://")
        assert second.startswith("dashboard     http://")
        assert "/dashboard?token=" in second
        assert "Answers go to answers.db." in server.stdout.readline()
        assert "lets every computer in the network reach this page" in server.stderr.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0
        assert server.stdout.read() == "Stopped. The answers are in answers.db.\n"
