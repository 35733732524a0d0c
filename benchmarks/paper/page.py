from __future__ import annotations
from dataclasses import dataclass
from pathlib import Path
@dataclass(frozen=True)
class Place:
    markdown: Path
    html: Path
    pictures: Path
    quick: bool = False
def write(cells, place): print(len(cells))
