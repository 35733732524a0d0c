"""Exports of the components alone, for any program: ``.npy`` and JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from ..._support.files import replace_bytes
from ...learning.estimators.metric import components_of


def write_npy(metric: Any, path: Path) -> None:
    """Write the (k, D) components L as float64; ``X @ L.T`` maps rows."""
    data = io.BytesIO()
    np.save(data, components_of(metric))
    replace_bytes(path, data.getbuffer())


def write_json(metric: Any, path: Path) -> None:
    """Write the components as rows of numbers, with ``feature_names`` or null beside them."""
    names = getattr(metric, "feature_names_in_", None)
    document = {
        "components": components_of(metric).tolist(),
        "feature_names": None if names is None else names.tolist(),
    }
    text = json.dumps(document, allow_nan=False, ensure_ascii=False)
    replace_bytes(path, text.encode())
