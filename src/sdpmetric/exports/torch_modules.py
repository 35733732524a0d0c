"""Weights for torch and sentence-transformers, written as safetensors: torch is not needed here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from ..files import replacing, replacing_folder
from .target import components_of

__all__ = ["write_dense", "write_linear"]


def write_linear(metric: Any, path: Path) -> None:
    """The state dict of ``torch.nn.Linear(D, k, bias=False)``.

    ``linear.load_state_dict(safetensors.torch.load_file(path))`` reads it.
    """
    data = _weight("weight", metric)
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def write_dense(metric: Any, path: Path) -> None:
    """The folder of a ``Dense`` module of sentence-transformers.

    Put it behind the modules that made the vectors the metric was learned from, and compare by
    Euclidean distance: ``SentenceTransformer(modules=[*model, Dense.load(path)],
    similarity_fn_name="euclidean")``.
    """
    components = components_of(metric)
    config = {
        "in_features": components.shape[1],
        "out_features": components.shape[0],
        "bias": False,
        "activation_function": "torch.nn.modules.linear.Identity",
    }
    data = _weight("linear.weight", metric)
    with replacing_folder(path, ("config.json", "model.safetensors")) as temporary:
        (temporary / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
        (temporary / "model.safetensors").write_bytes(data)


def _weight(name: str, metric: Any) -> bytes:
    weight = np.ascontiguousarray(components_of(metric), dtype=np.float32)
    return safetensors.numpy.save({name: weight}, metadata={"format": "pt"})
