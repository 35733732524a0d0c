"""The code of the README and of every page runs as printed, and links and names lead somewhere."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import sdpmetric
from sdpmetric import datasets, deployment, displays

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
GENERATED = DOCS / "gallery", DOCS / "api"
UNPACKED = (ROOT / "PKG-INFO").exists()  # the tree of an sdist, which leaves pictures out
FILES = {
    str(path.relative_to(ROOT)): path
    for path in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
    if not any(path.is_relative_to(folder) for folder in GENERATED)
}
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([\w./-]+\.\w+)(?:#[^)\s]*)?\)")


class Block(NamedTuple):
    language: str
    text: str


def blocks(page: str) -> list[Block]:
    return [Block(*found) for found in FENCE.findall(FILES[page].read_text(encoding="utf-8"))]


RUN = [page for page in FILES if {"python", "sh"} & {block.language for block in blocks(page)}]


@pytest.mark.parametrize("page", FILES)
def test_blocks_are_run_or_plain(page: str) -> None:
    plain = {"", "text"}  # what to type, what is printed
    unknown = {b.language for b in blocks(page)} - {"python", "sh"} - plain
    assert not [language for language in unknown if not language.startswith("{")]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Runs a script in an empty folder, with the command on its path."""
    command = tmp_path / "bin" / "sdpmetric"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sdpmetric "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=os.pathsep)

    def run(script: str) -> str:
        done = subprocess.run(
            ["sh", "-e"], input=script, capture_output=True, text=True, cwd=tmp_path
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_page_runs_as_printed(
    page: str,
    shell: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From the top, in one folder and one namespace; every fit of it is certified."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    said = ""
    for block in blocks(page):
        if block.language == "python":
            exec(compile(block.text, page, "exec"), names)
            assert capsys.readouterr().out
            assert_certified(names)
        elif block.language == "sh" and os.name != "nt":
            said = shell(block.text)
        elif block.language == "text" and os.name != "nt":
            assert_table(said, block.text)


def assert_certified(names: dict[str, Any]) -> None:
    fits = [value for value in names.values() if hasattr(value, "converged_")]
    assert fits
    assert all(fit.converged_ for fit in fits)


def assert_table(said: str, expected: str) -> None:
    """The same header, the same names, numbers that agree to the last but one digit."""
    header, *rows = expected.splitlines()
    assert header in said.splitlines()
    for row in rows:
        name, values = re.split(r"\s{3,}", row, maxsplit=1)
        [found] = [line for line in said.splitlines() if re.match(rf"{name}   ", line)]
        numbers = [float(cell) for cell in found[len(name) :].split()]
        assert numbers == pytest.approx([float(cell) for cell in values.split()], abs=0.02)


@pytest.mark.skipif(os.name == "nt", reason="a Unix shell")
@pytest.mark.slow
def test_demo_prints_the_commands_of_the_guide(shell: Callable[[str], str]) -> None:
    stories = [
        block.text.splitlines()[1:]
        for page in ("docs/guide/tables.md", "docs/guide/people.md")
        for block in blocks(page)
        if block.language == "sh"
    ]
    expected = json.loads(shell("sdpmetric demo files --json"))["commands"]
    assert [line for story in stories for line in story] == expected


def test_pages_have_their_code() -> None:
    guide = "tables comparisons people embeddings model-selection deployment scale"
    pages = {f"docs/guide/{name}.md" for name in guide.split()}
    pages |= {f"docs/{name}.md" for name in ("index", "how-it-works", "add-a-loss", "add-a-solver")}
    assert {"README.md", *pages} <= set(RUN)


@pytest.mark.parametrize("page", FILES)
def test_links_lead_somewhere(page: str) -> None:
    file = FILES[page]
    text = file.read_text(encoding="utf-8")
    for target in LINK.findall(FENCE.sub("", text)):
        path = (file.parent / target).resolve()
        made = any(path.is_relative_to(folder) for folder in GENERATED)
        assert path.exists() or made or (UNPACKED and path.suffix == ".png")
    for name in re.findall(r"gallery/(?:images/sphx_glr_)?(\w+?)(?:_\d{3}\.png|\.rst)", text):
        assert name == "index" or (ROOT / "examples" / "gallery" / f"{name}.py").exists()


@pytest.mark.parametrize("module", [sdpmetric, datasets, deployment, displays])
def test_reference_names_everything_public(module: Any) -> None:
    listed = re.findall(r"^   (\w+)$", (DOCS / "api.rst").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(module.__all__) <= set(listed)


GLOSSARY = [
    line
    for line in (DOCS / "glossary.md").read_text(encoding="utf-8").splitlines()
    if re.search(r"`[\w/]+/\w+\.py`", line)
]


@pytest.mark.parametrize("row", GLOSSARY, ids=[row.split("|")[1].strip() for row in GLOSSARY])
def test_glossary_names_files_and_what_they_hold(row: str) -> None:
    """A row of the table: word or symbol | names in the code | meaning | reference."""
    code = row.split("|")[2]
    paths = [Path(sdpmetric.__file__).parent / name for name in re.findall(r"`([\w/]+\.py)`", code)]
    assert all(path.exists() for path in paths)
    held = " ".join(path.read_text(encoding="utf-8") for path in paths)
    for name in re.findall(r"`(\w+)(?:\(\))?`", code):
        assert re.search(rf"\b{name}\b", held)


def test_glossary_is_long() -> None:
    assert len(GLOSSARY) >= 30


def test_the_reference_of_the_command_line_is_up_to_date() -> None:
    """``python docs/command_reference.py`` writes it again."""
    spec = importlib.util.spec_from_file_location("reference", DOCS / "command_reference.py")
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    # Word by word: versions of click break lines differently.
    assert FILES["docs/guide/commands.md"].read_text(encoding="utf-8").split() == (
        reference.page().split()
    )
