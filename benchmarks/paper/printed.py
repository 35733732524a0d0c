"""printed.toml as objects: what the paper prints about each of its thirteen rows."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Printed:
    name: str
    sizes: tuple[int, int, int]  # training, validation, test
    dimension: int
    classes: int
    runs: int
    triplets: int
    errors: dict[str, list[float]]  # method -> mean, and the deviation where there are runs
    times: dict[str, str]
    pca: int | None = None


def read() -> dict[str, Printed]:
    text = Path(__file__).with_name("printed.toml").read_text()
    return {key: Printed(**entry) for key, entry in tomllib.loads(text).items()}


PRINTED = read()
