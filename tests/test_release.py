"""Version, changelog, citation, metadata and workflows agree with each other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import sdpmetric

ROOT = Path(__file__).parent.parent
WORKFLOWS = ROOT / ".github" / "workflows"


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_version_of_the_citation() -> None:
    [expected] = re.findall(r"^version: (\S+)", text("CITATION.cff"), re.MULTILINE)
    assert sdpmetric.__version__ == expected
    released = "date-released:" in text("CITATION.cff")
    assert released is (".dev" not in sdpmetric.__version__)


def test_changelog_has_a_dated_section_for_each_release() -> None:
    headings = re.findall(r"^## (.*)$", text("CHANGELOG.md"), re.MULTILINE)
    releases = [heading for heading in headings if heading != "[Unreleased]"]
    for heading in releases:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", heading)
    if ".dev" in sdpmetric.__version__:
        assert headings == ["[Unreleased]", *releases]
    else:
        assert headings[0].startswith(f"[{sdpmetric.__version__}] - ")


def test_dev_group_includes_all_others() -> None:
    groups = tomllib.loads(text("pyproject.toml"))["dependency-groups"]
    included = {entry["include-group"] for entry in groups["dev"]}
    assert included == set(groups) - {"dev"}


def test_workflows_call_targets_that_exist() -> None:
    if not WORKFLOWS.exists():
        pytest.skip("the workflows are not part of an sdist")
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), re.MULTILINE))
    called: set[str] = set()
    for workflow in WORKFLOWS.glob("*.yml"):
        called |= set(re.findall(r"run: make ([\w-]+)", workflow.read_text(encoding="utf-8")))
    assert {"test", "test-oldest", "test-wheel", "test-sdist", "docs"} <= called <= targets
