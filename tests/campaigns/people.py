"""Fuzz what comes from people: files of other programs, requests to the page, files of a study."""

from __future__ import annotations

import json
import re
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
from click.testing import CliRunner

from sdpmetric import Responses
from sdpmetric.cli import main
from sdpmetric.cli.demo_pictures import files
from tests.campaigns.mutation import NUMBERS, WORDS, changed_json, mutated, odd_value

__all__ = ["UnclearError", "ask", "programs", "request", "study_line", "study_request"]

# The sentences of Python and NumPy about their own insides: no user can act on them.
_INSIDE = re.compile(
    r"Exceeds the limit|could not convert|setting an array|invalid literal|truth value|"
    r"cannot convert|too large to convert|inhomogeneous|must be a cell|unhashable"
)


class UnclearError(AssertionError):
    """An error that is no clear sentence."""


def clearly(call: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    """Call, and let a documented error pass if it speaks of what was given."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(*arguments, **named)
    except ValueError as error:
        if _INSIDE.search(str(error)):
            raise UnclearError(str(error)[:500]) from error


# Answers in the files of other programs.

_SALMON = ["head", "winner", "loser", "puid"]
_SALMON_NAMED = ["head_filename", "winner_filename", "loser_filename", "puid"]
_JSPSYCH = ["a", "b", "c", "response", "trial_type"]
_THINGS = ["image1", "image2", "image3", "choice", "subject_id"]
_CELLS: list[Any] = [0, 1, 2, 3, -1, 1.0, 2.0, 1.5, "0", "1", "2", "3", "a", "b", "c", "", "null"]
_CELLS += [None, np.nan, True, "٣", "²", "9" * 5000, 10**30, 2**63, 1e308, [1], {}, b"1", 1j]
_CELLS += ["\x1b[31m", "=1+1", " 1", "1\n", np.int64(2), np.float32(1.0), np.datetime64("NaT")]


def _program_table(rng: Random, names: list[str]) -> Any:
    """A table with the columns of a program, most of whose cells are as they should be."""
    n, odd = rng.randrange(1, 5), rng.choice((0.0, 0.05, 0.3))
    names = [name for name in names if rng.random() > 0.03]
    rows = []
    for _ in range(n):
        items = rng.sample([1, 2, 3, 4], 3)
        cells = [*items, rng.choice((1, 2)), "p"]
        rows.append([rng.choice(_CELLS) if rng.random() < odd else cell for cell in cells])
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=False))
    records = [dict(zip(names, row, strict=False)) for row in rows]
    if rng.random() < 0.1:
        records.append({"trial_type": "instructions"})
    return rng.choice([columns, records, json.loads(_as_json(records)), odd_value(rng)])


def _as_json(records: Any) -> str:
    return json.dumps(records, default=str)


def programs(path: Path) -> None:
    """Read tables of salmon, jsPsych and THINGS."""
    rng = Random(path.read_text())
    ids = rng.choice([None, None, [0, 1, 2, 3, 4], ["a", "b", "c", "1", "2"], odd_value(rng)])
    names = rng.choice([_SALMON, _SALMON_NAMED])
    clearly(Responses.from_salmon, _program_table(rng, names), ids=ids)
    ask = rng.choice(["odd-one-out", "2afc", "triplet"])
    first = rng.choice([0, 1, 2**62, odd_value(rng)])
    trials = _program_table(rng, _JSPSYCH)
    clearly(Responses.from_jspsych, trials, ask=ask, first=first, ids=ids)
    clearly(Responses.from_jspsych, trials, participants="trial_type")
    table = _program_table(rng, _THINGS)
    clearly(Responses.from_things, table, ids=ids, participants=rng.choice([None, "subject_id"]))
    clearly(Responses.from_things, table, columns=odd_value(rng))


# Requests to the page.


@cache
def _server() -> tuple[Any, Any]:
    from tests.support.pages import client_of, new_study

    study = new_study(Path(tempfile.mkdtemp()), catch=())
    return study, client_of(study)


def study_request(rng: Random) -> bytes:
    """A request as JSON: method, address, headers and body."""
    from sdpmetric.page.links import path_of

    mine = path_of(_server()[0].store.secret, "guest.ada")
    addresses = ["/", mine, f"{mine}/events", f"{mine}/withdraw", f"{mine}/media/0", "/dashboard"]
    addresses += ["/dashboard/data", "/dashboard/download/answers.csv", "/dashboard/media/1"]
    addresses += ["/static/../store.py", "/p/a/b/events", f"{mine}/media/99999999999999999999"]
    trial, attempt = rng.choice([1, 2, 3, *NUMBERS[:6]]), rng.choice([1, 2, 0])
    event: Any = {"key": f"answer:{trial}:{attempt}", "kind": "answer", "trial": trial}
    event |= {"attempt": attempt, "choice": rng.choice([0, 1, None, 10**30]), "seconds": 1.5}
    if rng.random() < 0.3:
        event = {"key": "k", "kind": rng.choice(["consent", "undo", "finished", "x"])} | event
    body = {"events": [event] * rng.choice([1, 1, 2])}
    text = json.dumps(changed_json(body, rng) if rng.random() < 0.6 else body)
    if rng.random() < 0.2:
        text = mutated(text.encode(), rng, [text.encode()], ".json").decode("latin-1")
    address = addresses[2] if rng.random() < 0.7 else rng.choice(addresses)
    if rng.random() < 0.2:
        address += (
            rng.choice(["?token=", "?known=", "?PROLIFIC_PID=", "/"]) + rng.choice(WORDS)[:80]
        )
    method = "POST" if address.startswith(addresses[2]) else rng.choice(["GET", "POST", "PUT"])
    return json.dumps([method, address, text]).encode()


def request(path: Path) -> None:
    """Send a request; no answer may be an error of the server's own."""
    client = _server()[1]
    method, address, body = json.loads(path.read_bytes())
    try:
        address.encode("ascii")
    except UnicodeEncodeError:
        address = address.encode("utf-8", "surrogatepass").decode("latin-1")
    address = "".join(c for c in address if c.isprintable() and ord(c) < 127)
    address = "/" + address.lstrip("/")  # two slashes would name another server
    content = body.encode("utf-8", "surrogatepass")
    reply = client.request(method, address, content=content)
    if reply.status_code >= 500:
        raise UnclearError(f"status {reply.status_code}")
    if "text/html" not in reply.headers.get("content-type", "") and len(reply.text) > 100_000:
        raise UnclearError("an answer of more than 100 kB")


# The files of a study.

_TEXT = "# Hello\n\n*You* [may](https://a.example) stop <script>alert(1)</script>.\n"
_CATCH = "a,b,c,odd\ncircle-1,circle-2,circle-3,circle-1\n"
_OPTIONS = [
    "--consent",
    "--instructions",
    "--practice",
    "--debriefing",
    "--participants",
    "--catch",
]
_OPTIONS += ["--vectors", "--image", "--audio", "--text", "--describe", "--id", "--title"]
_OPTIONS += ["--prompt", "--target", "--public-url", "--completion-url", "--drop", "--host"]


def study_line(rng: Random) -> bytes:
    """The options of `sdpmetric ask` and its files, as JSON."""
    table = files()["shapes.csv"]
    names = list(table)
    lines = [
        ",".join(names),
        *(",".join(map(str, row)) for row in zip(*table.values(), strict=True)),
    ]
    made = {
        "items.csv": "\n".join(lines[:8]) + "\n",
        "text.md": _TEXT,
        "people.txt": "ada\nbo\n",
        "catch.csv": _CATCH,
    }
    spoilt = rng.choice(list(made))
    if rng.random() < 0.7:
        data = made[spoilt].encode()
        suffix = Path(spoilt).suffix if spoilt.endswith(".csv") else ".csv"
        made[spoilt] = mutated(data, rng, [data], suffix).decode("latin-1")
    line = ["--id", "shape", "--text", "shape"]
    for _ in range(rng.randrange(4)):
        option = rng.choice(_OPTIONS)
        values = [*made, *names, *WORDS[:20], *map(str, NUMBERS[:10]), "https://a.example/x"]
        fitting = {"--participants": "people.txt", "--catch": "catch.csv"}.get(option, "text.md")
        line += [option, fitting if rng.random() < 0.5 else rng.choice(values)[:200]]
    return json.dumps([made, [w.replace("\0", "") for w in line]]).encode()


def ask(path: Path) -> None:
    """Make a study from its files; the server itself is not started."""
    made, line = json.loads(path.read_bytes())
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for name, text in made.items():
            (Path(folder) / name).write_bytes(text.encode("latin-1", "replace"))
        line = [str(Path(folder) / word) if word in made else word for word in line]
        given = ["ask", str(Path(folder) / "items.csv"), *line, "--no-browser", "--port", "0"]
        with patch("sdpmetric.page.serve.serve", _opened):
            result = CliRunner().invoke(main, [*given, "-o", str(Path(folder) / "a.db")])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    hidden = [c for c in result.output if not c.isprintable() and c != "\n"]
    if hidden:
        raise UnclearError(f"prints {hidden[0]!r}")
    said = [text for text in result.stderr.splitlines() if not text.startswith("Warning:")]
    if result.exit_code == 1 and (len(said) != 1 or not said[0].startswith("Error: ")):
        raise UnclearError(f"is no single sentence: {result.stderr}")


def _opened(study: Any, address: Any, taken: Any, **_: Any) -> None:
    """Look at the page of a study once, as a participant and as the researcher."""
    from sdpmetric.page.links import path_of
    from tests.support.pages import client_of

    taken.close()
    try:
        client = client_of(study)
        name = next(iter(study.settings.participants), "guest.ada")
        reply = client.get(path_of(study.store.secret, name))
        if reply.status_code != 200 or "<script>alert(1)" in reply.text:
            raise UnclearError(f"status {reply.status_code}, or a script of a text is there")
        client.get("/dashboard", params={"token": study.store.token})
        if client.get("/dashboard/data").status_code != 200:
            raise UnclearError("the dashboard has no data")
    finally:
        study.close()
