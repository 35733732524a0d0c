"""`save` and `load`: a fitted metric as one file that any language reads and that runs no code.

``.safetensors`` holds arrays and a header of strings; ``.json`` holds the same as one document. The
header's ``class``, ``params`` and ``fitted`` are what is loaded. The rest of it tells readers that
do not know the library what this is: format and library version, feature names, certificate.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._typing import Dense
from ..files import as_path, check_suffix, readable, replacing
from ..metric import MetricMixin
from ..result import Status
from .json_arrays import arrays_from_json, arrays_to_json
from .plain import ESTIMATORS, Arrays, estimator_from_plain, estimator_to_plain, to_plain

__all__ = ["FORMAT_VERSION", "load", "read_header", "save"]

FORMAT_VERSION = 1
SUFFIXES = (".safetensors", ".json")

_FORMAT = "sdpmetric"
_CERTIFICATE = ("status", "objective", "upper_bound", "gap", "rho", "scale")
_TEXTS = ("format", "library_version", "class", "status")  # the other entries are JSON
_BROKEN = (ValueError, TypeError, AttributeError, IndexError, OverflowError, RecursionError)
_METRICS = tuple(kind.__name__ for kind in ESTIMATORS if issubclass(kind, MetricMixin))


def save(metric: Any, path: Any) -> None:
    """Write a fitted metric to a file; an existing one is replaced.

    The file is complete or not there at all. Parameters that are objects of the user's own (a loss,
    a splitter) are kept as text: the metric is the same, but fitting it again asks for them.

    Parameters
    ----------
    metric : a fitted metric of ours: `SDPMetric`, `EmbeddingAdapter` or one of the others
    path : file name that ends in ``.safetensors``, or in ``.json`` for a small metric
    """
    target = as_path(path)
    suffix = check_suffix(target, SUFFIXES)
    if type(metric) not in ESTIMATORS or type(metric).__name__ not in _METRICS:
        raise ValueError(f"metric must be one of {_METRICS}, got {type(metric).__name__}.")
    check_is_fitted(metric)
    arrays: Arrays = {}
    header = _header(metric, arrays)
    if suffix == ".json":
        document = header | {"arrays": arrays_to_json(arrays)}
        data = json.dumps(document, allow_nan=False, ensure_ascii=False).encode()
    else:
        data = safetensors.numpy.save(arrays, metadata=_as_strings(header))
    with replacing(target) as temporary:
        temporary.write_bytes(data)


def load(path: Any) -> Any:
    """Read a metric that `save` wrote: the same class, parameters and attributes, to the bit.

    No code of the file's is run. (``set_output`` is not part of it.)

    Parameters
    ----------
    path : file name that ends in ``.safetensors`` or ``.json``

    Returns
    -------
    A fitted metric.

    Raises
    ------
    ValueError
        The file is no model, not complete, or of a newer format than this version reads.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import sdpmetric
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    >>> metric = sdpmetric.SDPMetric(C=2.0, tol=1e-2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     metric.save(f"{folder}/m.safetensors")
    ...     again = sdpmetric.load(f"{folder}/m.safetensors")
    >>> again.C, str(again.status_), np.array_equal(again.transform(X), metric.transform(X))
    (2.0, 'converged', True)
    """
    header, arrays = _read(as_path(path))
    with _whole(path):
        if header["class"] not in _METRICS:
            raise ValueError(f"its class is {header['class']!r}")
        metric = estimator_from_plain(header, arrays)
        _check(metric)
    return metric


def read_header(path: Any) -> dict[str, Any]:
    """What a model file says of itself, without its arrays.

    Keys: ``format_version``, ``library_version``, ``class``, ``params``, ``n_features``,
    ``feature_names``, and the certificate: ``status``, ``objective``, ``upper_bound``, ``gap``,
    ``rho`` and ``scale``.
    """
    header = _read(as_path(path))[0]
    return {name: value for name, value in header.items() if name not in ("format", "fitted")}


def _header(metric: Any, arrays: Arrays) -> dict[str, Any]:
    from .. import __version__

    held = estimator_to_plain(metric, arrays)
    last = _last_fit(metric)
    names = getattr(metric, "feature_names_in_", None)
    return {
        "format": _FORMAT,
        "format_version": FORMAT_VERSION,
        "library_version": __version__,
        "n_features": int(metric.n_features_in_),
        "feature_names": None if names is None else names.tolist(),
        **{name: _number(getattr(last, f"{name}_")) for name in _CERTIFICATE},
        **held,
    }


def _last_fit(metric: Any) -> Any:
    """Whose certificate it is: a search made many fits."""
    last = getattr(metric, "best_estimator_", metric)
    return last[-1] if isinstance(last, Pipeline) else last


def _number(value: Any) -> Any:
    return str(value) if isinstance(value, str) else to_plain(float(value), {})


def _as_strings(header: dict[str, Any]) -> dict[str, str]:
    dumped = {k: json.dumps(v, allow_nan=False) for k, v in header.items() if k not in _TEXTS}
    return {name: header[name] for name in _TEXTS} | dumped


def _read(path: Path) -> tuple[dict[str, Any], Arrays]:
    """The header, known to be of a format that we read, and the arrays."""
    with readable(path):
        suffix = check_suffix(path, SUFFIXES)
        data = path.read_bytes()
    with _whole(path):
        header, arrays = _split_json(data) if suffix == ".json" else _split_tensors(data)
        if header.get("format") != _FORMAT:
            raise ValueError(f"its header does not say format={_FORMAT!r}")
        version = header["format_version"]
        if not isinstance(version, int) or version < 1:
            raise ValueError(f"its format_version is {version!r}")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"{str(path)!r} is of format version {version} (sdpmetric {header['library_version']}) "
            f"and this sdpmetric reads versions up to {FORMAT_VERSION}: upgrade sdpmetric."
        )
    return header, arrays


def _split_json(data: bytes) -> tuple[dict[str, Any], Arrays]:
    header = json.loads(data)
    if not isinstance(header, dict):
        raise ValueError("it is no JSON object")
    return header, arrays_from_json(header.pop("arrays", {}))


def _split_tensors(data: bytes) -> tuple[dict[str, Any], Arrays]:
    arrays = safetensors.numpy.load(data)
    size = int.from_bytes(data[:8], "little")  # safetensors gives metadata of files only
    strings = json.loads(data[8 : 8 + size]).get("__metadata__", {})
    header = {k: v if k in _TEXTS else json.loads(v) for k, v in strings.items()}
    return header, arrays


@contextmanager
def _whole(path: Any) -> Iterator[None]:
    """Whatever a broken file makes go wrong is one error with one message."""
    try:
        yield
    except KeyError as error:
        reason = f"it lacks {error}"
    except (*_BROKEN, safetensors.SafetensorError) as error:
        reason = str(error)
    else:
        return
    raise ValueError(f"{str(path)!r} is not a complete sdpmetric model: {reason.rstrip('.')}.")


def _check(metric: Any) -> None:
    """Whether what was loaded can do what a metric does."""
    components: Dense = metric.components_
    if components.ndim != 2 or components.dtype != np.float64 or components.size == 0:
        raise ValueError("its components_ are not a table of float64")
    if not np.isfinite(components).all():
        raise ValueError("its components_ are not finite")
    names = getattr(metric, "feature_names_in_", None)
    widths = {metric.n_features_in_, components.shape[1]}
    if len(widths) > 1 or (names is not None and {len(names)} != widths):
        raise ValueError("its components_ do not match its features")
    last = _last_fit(metric)
    if not isinstance(last.status_, Status):
        raise ValueError("its status_ is none")
    for name in _CERTIFICATE[1:]:
        float(getattr(last, f"{name}_"))
