"""`export`: write a fitted metric for another program; one module for each target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._support.lazy import load_name
from .targets import SUFFIXES, TARGETS

if TYPE_CHECKING:
    from .to_faiss import faiss_index
    from .to_onnx import onnx_model
    from .to_pgvector import pgvector_sql

__all__ = ["SUFFIXES", "TARGETS", "export", "faiss_index", "onnx_model", "pgvector_sql"]

_HOMES = {
    "faiss_index": "to_faiss",
    "onnx_model": "to_onnx",
    "pgvector_sql": "to_pgvector",
}


def __getattr__(name: str) -> object:
    return load_name(__name__, _HOMES, name)


def export(metric: Any, path: Any, to: str | None = None, **options: Any) -> Path:
    """Write a fitted metric for another program; an existing file is replaced.

    The exported map takes the rows that ``metric.transform`` takes, to rows whose Euclidean
    distances are those of the metric. It computes in float32; "numpy" and "json" hold float64.
    (To keep the metric itself, use ``metric.save``.)

    ======================= ================ ====================================================
    to                      path             content
    ======================= ================ ====================================================
    "numpy"                 ``.npy``         the (k, D) components, float64
    "json"                  ``.json``        the same as text, with feature names
    "faiss"                 ``.faiss``       ``IndexPreTransform`` (options ``rows, factory``)
    "onnx"                  ``.onnx``        one Gemm node; or a whole Pipeline, with skl2onnx
    "torch"                 ``.safetensors`` state dict of ``Linear(D, k, bias=False)``
    "sentence-transformers" a folder         a ``Dense`` module; a whole model (option ``base``)
    "pgvector"              ``.sql``         a function (options ``name, table, column``)
    ======================= ================ ====================================================

    Parameters
    ----------
    metric : a fitted metric; for ONNX also a fitted Pipeline
    path : str or path
        The file, or for "sentence-transformers" the folder, to write.
    to : str, default=None
        One of the targets above; None: by the extension of ``path``.
    **options : options of the target, as listed above

    Returns
    -------
    pathlib.Path
        The path that was written.

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
    # Here, since the command line imports this package for its table alone: shutil and tempfile
    # would add a fifth to the time in which ``--help`` starts.
    from ..._support.files import as_path, as_target

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
    # A name that promises another format would mislead the program that opens it.
    if known not in (None, kind):
        raise ValueError(f"path must not end in {target.suffix} for to={to!r}: that is {known!r}.")
    # Before the work: to build an index can take hours.
    as_target(target, "folder" if TARGETS[kind].suffix is None else "file")
    known_options = [option.name for option in TARGETS[kind].options]
    unknown = [name for name in options if name not in known_options]
    if unknown:
        raise ValueError(
            f"{unknown[0]} is no option of to={kind!r}, which takes "
            f"{', '.join(known_options) or 'none'}."
        )
    TARGETS[kind].write(metric, target, **options)
    return target
