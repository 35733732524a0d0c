"""The README's code runs as printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_block_runs_to_a_certified_metric(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(compile(block, str(README), "exec"), names)
    metric = names["search"].best_estimator_[-1] if "search" in names else names["metric"]
    assert metric.converged_
    assert len(capsys.readouterr().out.splitlines()) >= 2


def test_readme_has_its_stories() -> None:
    assert len(BLOCKS) == 7
