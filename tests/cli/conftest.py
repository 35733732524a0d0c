"""The command line, called in a folder with the example files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sdpmetric.cli import main


@pytest.fixture
def run(folder: Path) -> Callable[..., Result]:
    """Call a line of the command line; its exit code must be ``code``."""

    def call(line: str, code: int = 0, **options: Any) -> Result:
        result = CliRunner().invoke(main, line.split(), **options)
        assert result.exit_code == code, result.output
        return result

    return call
