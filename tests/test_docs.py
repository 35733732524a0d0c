"""The pages' code runs as printed, and the site names everything that is public."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import sdpmetric
from sdpmetric import datasets, deployment, displays

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BLOCKS = {
    page.name: re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for page in sorted(DOCS.glob("*.md"))
}
PAGES = [page for page, blocks in BLOCKS.items() if blocks]


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run_to_a_certified_metric(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for block in BLOCKS[page]:  # a page is read from the top
        exec(compile(block, page, "exec"), names)
    assert names["metric"].converged_
    assert capsys.readouterr().out


def test_pages_have_their_stories() -> None:
    assert {"index.md", "how-it-works.md", "add-a-loss.md", "add-a-solver.md"} <= set(PAGES)


@pytest.mark.parametrize("module", [sdpmetric, datasets, deployment, displays])
def test_reference_names_everything_public(module: Any) -> None:
    listed = re.findall(r"^   (\w+)$", (DOCS / "api.rst").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(module.__all__) <= set(listed)


@pytest.mark.parametrize("page", [page.name for page in DOCS.glob("*.md")])
def test_links_to_examples_lead_somewhere(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for name in re.findall(r"gallery/(?:images/sphx_glr_)?(\w+?)(?:_\d{3}\.png|\.rst)", text):
        assert name == "index" or (ROOT / "examples" / "gallery" / f"{name}.py").exists()
