"""Weights for torch and sentence-transformers, as safetensors, so that torch is not imported."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from ..._support.files import replace_bytes, replacing_folder
from ...learning.estimators.metric import components_of

_FILES = ("config.json", "model.safetensors")  # of a module
_LIST, _MODEL = "modules.json", "config_sentence_transformers.json"  # of a model
_DENSE = "sentence_transformers.models.Dense"


def write_linear(metric: Any, path: Path) -> None:
    """Write the state dict of ``torch.nn.Linear(D, k, bias=False)``.

    ``linear.load_state_dict(safetensors.torch.load_file(path))`` reads it.
    """
    replace_bytes(path, _weight("weight", metric))


def write_dense(metric: Any, path: Path, base: Any = None) -> None:
    """Write the folder of a ``Dense`` module for sentence-transformers, or of a whole model.

    Append the module to those that make the vectors, and compare by Euclidean distance:
    ``SentenceTransformer(modules=[*model, Dense.load(path)],
    similarity_fn_name="euclidean")``. With ``base``, the folder of a saved model whose vectors the
    metric maps, all of that is done: ``SentenceTransformer(path)`` loads the result.
    """
    if base is None:
        with replacing_folder(path, _FILES) as temporary:
            _write_module(metric, temporary)
        return
    modules = _modules(Path(base))
    if os.path.realpath(base) == os.path.realpath(path):
        raise ValueError(f"path must not be base itself, got {str(path)!r} for both.")
    own = f"{len(modules)}_Dense"
    known = (*(entry.name for entry in Path(base).iterdir()), own, _MODEL)
    with replacing_folder(path, known, folders=True) as temporary:
        # Without modes: a cache of models may be read-only.
        shutil.copytree(base, temporary, copy_function=shutil.copyfile, dirs_exist_ok=True)
        (temporary / own).mkdir()
        _write_module(metric, temporary / own)
        entry = {"idx": len(modules), "name": str(len(modules)), "path": own, "type": _DENSE}
        _write_json(temporary / _LIST, [*modules, entry])
        settings = json.loads(_text(Path(base) / _MODEL)) if (Path(base) / _MODEL).exists() else {}
        _write_json(temporary / _MODEL, settings | {"similarity_fn_name": "euclidean"})


def _modules(base: Path) -> list[Any]:
    """The modules of a saved model."""
    try:
        modules = json.loads(_text(base / _LIST))
    except (OSError, ValueError):
        modules = None
    if not isinstance(modules, list):
        raise ValueError(
            f"base must be a folder that SentenceTransformer.save wrote, with a file {_LIST}, got "
            f"{str(base)!r}."
        )
    return modules


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")


def _write_module(metric: Any, folder: Path) -> None:
    components = components_of(metric)
    config = {
        "in_features": components.shape[1],
        "out_features": components.shape[0],
        "bias": False,
        # The default of Dense is tanh, which would change all distances.
        "activation_function": "torch.nn.modules.linear.Identity",
    }
    _write_json(folder / _FILES[0], config)
    (folder / _FILES[1]).write_bytes(_weight("linear.weight", metric))


def _weight(name: str, metric: Any) -> bytes:
    weight = np.ascontiguousarray(components_of(metric), dtype=np.float32)
    # The mark of files for torch: Hugging Face transformers refuses files without a format.
    return safetensors.numpy.save({name: weight}, metadata={"format": "pt"})
