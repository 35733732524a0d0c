from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from sdpmetric import Huber
from sdpmetric.persistence.digest import digest


class OwnLoss:
    def __init__(self, h: float) -> None:
        self.h = h


VALUES: list[Any] = [
    1,
    1.0,
    "1",
    None,
    [1],
    b"1",
    {"a": 1},
    np.arange(3),
    np.arange(3.0),
    np.array(["a", "b"]),
    Huber(0.5),
    Huber(0.1),
    KNeighborsClassifier(3),
    KNeighborsClassifier(5),
    OwnLoss(0.5),
    OwnLoss(0.1),
    OwnLoss,
    [(np.array([0, 1]), np.array([2])), (np.array([2]), np.array([0, 1]))],
]


def test_values_are_told_apart() -> None:
    assert len({digest({"value": value}) for value in VALUES}) == len(VALUES)
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest({"a": 1}) != digest({"b": 1})


@pytest.mark.slow
def test_another_process_finds_the_same_digest() -> None:
    """The repr of a user's own object holds an address, which is another one there."""
    code = "from tests.persistence.test_digest import *; print(*[digest({'v': v}) for v in VALUES])"
    path = ":".join(filter(None, sys.path))
    found = subprocess.check_output(
        [sys.executable, "-c", code], text=True, env={"PYTHONPATH": path, "PYTHONHASHSEED": "7"}
    )
    assert found.split() == [digest({"v": value}) for value in VALUES]
