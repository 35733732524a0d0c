"""The components alone, for any program: ``.npy`` and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..files import replacing
from .target import components_of

__all__ = ["write_json", "write_npy"]


def write_npy(metric: Any, path: Path) -> None:
    """The (k, D) components L as float64; distances are those between the rows of ``X @ L.T``."""
    components = components_of(metric)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.save(file, components)


def write_json(metric: Any, path: Path) -> None:
    """The same as rows of numbers under ``components``, with ``feature_names`` or null."""
    names = getattr(metric, "feature_names_in_", None)
    document = {
        "components": components_of(metric).tolist(),
        "feature_names": None if names is None else names.tolist(),
    }
    text = json.dumps(document, allow_nan=False, ensure_ascii=False)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
