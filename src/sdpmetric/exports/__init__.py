"""`export`: a fitted metric in the form that another program wants; one file for each target."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..files import as_path
from .arrays import write_json, write_npy
from .faiss_index import faiss_index, write_faiss
from .onnx_model import onnx_model, write_onnx
from .pgvector import pgvector_sql, write_pgvector
from .torch_modules import write_dense, write_linear

__all__ = ["SUFFIXES", "TARGETS", "export", "faiss_index", "onnx_model", "pgvector_sql"]

TARGETS: dict[str, Callable[..., None]] = {
    "numpy": write_npy,
    "json": write_json,
    "faiss": write_faiss,
    "onnx": write_onnx,
    "torch": write_linear,
    "sentence-transformers": write_dense,
    "pgvector": write_pgvector,
}
SUFFIXES = {
    ".npy": "numpy",
    ".json": "json",
    ".faiss": "faiss",
    ".onnx": "onnx",
    ".safetensors": "torch",
    ".sql": "pgvector",
}


def export(metric: Any, path: Any, to: str | None = None, **options: Any) -> Path:
    """Write a fitted metric for another program; an existing file is replaced.

    What is written maps the rows that ``metric.transform`` maps, in float32 but for "numpy" and
    "json", to rows whose Euclidean distances are those of the metric. (To keep the metric itself:
    ``metric.save``.)

    ======================= ================ ==================================================
    to                      path             what it is
    ======================= ================ ==================================================
    "numpy"                 ``.npy``         the (k, D) components, float64
    "json"                  ``.json``        the same as text, with feature names
    "faiss"                 ``.faiss``       ``IndexPreTransform`` (options ``rows, factory``)
    "onnx"                  ``.onnx``        one Gemm node; or a whole Pipeline, with skl2onnx
    "torch"                 ``.safetensors`` state dict of ``Linear(D, k, bias=False)``
    "sentence-transformers" a folder         a ``Dense`` module
    "pgvector"              ``.sql``         a function (options ``name, table, column``)
    ======================= ================ ==================================================

    Parameters
    ----------
    metric : a fitted metric; for ONNX also a fitted Pipeline
    path : where to write
    to : str, default=None
        One of the above; None goes by the extension of ``path``.
    **options : of the target

    Returns
    -------
    The path.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import sdpmetric
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    >>> metric = sdpmetric.SDPMetric(tol=1e-2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     L = np.load(sdpmetric.export(metric, f"{folder}/metric.npy"))
    >>> np.array_equal(X @ L.T, metric.transform(X))
    True
    """
    target = as_path(path)
    known = SUFFIXES.get(target.suffix.lower())
    if to is None and known is None:
        raise ValueError(
            f"path must end in one of {', '.join(SUFFIXES)} unless to is given, got "
            f"{str(target)!r}."
        )
    kind = known if to is None else to
    if not isinstance(kind, str) or kind not in TARGETS:
        raise ValueError(f"to must be one of {tuple(TARGETS)}, got {to!r}.")
    if known not in (None, kind):
        raise ValueError(f"path must not end in {target.suffix} for to={to!r}: that is {known!r}.")
    TARGETS[kind](metric, target, **options)
    return target
