"""Study files: what is read from them, and which files are refused."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdpmetric import Responses
from sdpmetric.cli import main
from sdpmetric.page.store import Store, append
from sdpmetric.responses.study_files import VERSION, read_study

IDS = ["a1", "b2", "c3", "d4"]


def ask(store: Store, trial: int, rows: tuple[str, str, str], source: str = "active") -> None:
    a, b, c = rows
    with store.transaction() as connection:
        append(connection, "s", "asked", trial, a=a, b=b, c=c, source=source)


def say(store: Store, trial: int, choice: str | None, attempt: int = 1) -> None:
    with store.transaction() as connection:
        append(connection, "s", "answer", trial, attempt, choice=choice)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "answers.db", "odd-one-out", IDS)
    made.enrol("s", "Ada", {})
    return made


def test_the_answers_that_count(store: Store) -> None:
    """Not: cannot tell, taken back, practice, catch. The answer after an undo counts."""
    ask(store, 1, ("a1", "b2", "c3"))
    say(store, 1, "a1")
    with store.transaction() as connection:
        append(connection, "s", "undo", 1, 1)
    say(store, 1, "c3", 2)
    ask(store, 2, ("a1", "b2", "d4"))
    say(store, 2, None)
    ask(store, 3, ("a1", "c3", "d4"), "practice")
    say(store, 3, "a1")
    ask(store, 4, ("b2", "c3", "d4"), "catch")
    say(store, 4, "d4")
    ask(store, 5, ("d4", "c3", "b2"), "random")
    say(store, 5, "c3")
    ask(store, 6, ("a1", "b2", "d4"))
    kind, columns = read_study(store.path)
    assert kind == "odd-one-out"
    assert columns == {
        "participant": ["Ada", "Ada"],
        "a": ["a1", "d4"],
        "b": ["b2", "c3"],
        "c": ["c3", "b2"],
        "odd": ["c3", "c3"],
    }
    found = Responses.from_study(store.path, ids=IDS)
    expected = Responses.from_odd_one_out(columns, "odd", ids=IDS, participants="participant")
    assert (
        found.triplets.tolist()
        == expected.triplets.tolist()
        == [
            [0, 1, 2],
            [1, 0, 2],
            [3, 1, 2],
            [1, 3, 2],
        ]
    )
    assert found.participants is not None
    assert found.participants.tolist() == ["Ada"] * 4


def test_2afc(tmp_path: Path) -> None:
    store = Store(tmp_path / "two.db", "2afc", IDS)
    store.enrol("s", "Bo", {})
    ask(store, 1, ("d4", "b2", "c3"))
    say(store, 1, "c3")
    assert Responses.from_study(store.path, ids=IDS).triplets.tolist() == [[3, 2, 1]]
    done = CliRunner().invoke(main, ["triplets", "2afc", str(store.path)])
    assert done.output.splitlines() == [
        "anchor,positive,negative,participant,answer",
        "d4,c3,b2,Bo,0",
    ]


def test_the_command_line_reads_a_study(store: Store) -> None:
    ask(store, 1, ("a1", "b2", "c3"))
    say(store, 1, "b2")
    done = CliRunner().invoke(main, ["triplets", "odd-one-out", str(store.path)])
    assert done.exit_code == 0, done.output
    assert done.output.splitlines() == [
        "anchor,positive,negative,participant,answer",
        "a1,c3,b2,Ada,0",
        "c3,a1,b2,Ada,0",
    ]


def test_no_answer_yet(store: Store) -> None:
    with pytest.raises(ValueError, match="holds no answer yet"):
        Responses.from_study(store.path, ids=IDS)


def test_other_files_are_refused(tmp_path: Path) -> None:
    text, other, newer = (tmp_path / name for name in ("text.db", "other.db", "newer.db"))
    text.write_text("a,b,c\n" * 100)
    with pytest.raises(ValueError, match="is not a database"):
        read_study(text)
    sqlite3.connect(other).execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(ValueError, match="not one of 'sdpmetric ask'"):
        read_study(other)
    store = Store(newer, "2afc", IDS)
    with store.transaction() as connection:
        connection.execute(f"PRAGMA user_version={VERSION + 1}")
    store.close()
    with pytest.raises(ValueError, match=f"has format {VERSION + 1}"):
        read_study(newer)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_study(tmp_path / "missing.db")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only(store: Store) -> None:
    ask(store, 1, ("a1", "b2", "c3"))
    say(store, 1, "b2")
    store.close()
    store.path.parent.chmod(0o500)
    try:
        assert read_study(store.path)[1]["odd"] == ["b2"]
    finally:
        store.path.parent.chmod(0o700)


EVIL = {
    "answers without end": (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT i AS id, 'p' AS participant, 'a' AS a, 'b' AS b, 'c' AS c, 'a' AS choice, "
        "'active' AS source FROM n",
        "cannot be read",
    ),
    "a huge value": (
        "SELECT 1 AS id, hex(zeroblob(500000000)) AS participant, 'a' AS a, 'b' AS b, 'c' AS c, "
        "'a' AS choice, 'active' AS source",
        "cannot be read",
    ),
    "an extension": (
        "SELECT 1 AS id, load_extension('x') AS participant, 'a' AS a, 'b' AS b, 'c' AS c, "
        "'a' AS choice, 'active' AS source",
        "cannot be read",
    ),
    "numbers": (
        "SELECT 1 AS id, 7 AS participant, x'00' AS a, NULL AS b, 'c' AS c, 'a' AS choice, "
        "'active' AS source",
        "holds more than texts",
    ),
    "no columns": ("SELECT 1 AS id", "cannot be read"),
}


@pytest.mark.parametrize("name", EVIL)
def test_a_view_of_somebody_elses(store: Store, name: str) -> None:
    """A study file defines the view that is read: it may neither hang, nor fill the memory."""
    view, words = EVIL[name]
    store.close()
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("DROP VIEW answers")
        connection.execute(f"CREATE VIEW answers AS {view}")
        connection.commit()
    with pytest.raises(ValueError, match=words):
        read_study(store.path)
    done = CliRunner().invoke(main, ["triplets", "odd-one-out", str(store.path)])
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM study",
        "UPDATE study SET value = 'other' WHERE name = 'kind'",
        "DROP TABLE sessions",
        "DROP TABLE study",
    ],
)
def test_a_damaged_study(store: Store, change: str) -> None:
    store.close()
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute(change)
        connection.commit()
    with pytest.raises(ValueError, match=r"answers\.db is a study file that cannot be read"):
        read_study(store.path)
