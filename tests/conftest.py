"""Shared fixtures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from sdpmetric.cli.demo_data import tables
from sdpmetric.cli.tables.writing import write
from tests.support.problems import Floats, Ints, consistent, labelled, random_triplets


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The README's blocks are slow, all of them; of the bad lines one in six stays fast."""
    lines = 0
    for item in items:
        bad_line = item.path.parts[-2:] == ("cli", "test_errors.py") and "bad_input" in item.name
        lines += bad_line
        if item.path.name == "test_readme.py" or (bad_line and lines % 6):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def blobs() -> tuple[Floats, Ints]:
    """60 rows of 5 features in 3 classes."""
    return labelled(np.random.default_rng(7), 60, 5)


@pytest.fixture
def triplets() -> tuple[Floats, Ints]:
    """40 items of 4 features, and 200 comparisons that mostly look at the first."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    return X, consistent(random_triplets(rng, 40, 200), X, np.diag([1.0, 0.1, 0.0, 0.0]))


@pytest.fixture(scope="session")
def wine() -> tuple[Floats, Ints]:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    X.setflags(write=False)
    return X, y


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where we are: a new folder with the demo's tables."""
    monkeypatch.chdir(tmp_path)
    for name, columns in tables().items():
        write(name, columns)
    return tmp_path
