"""Model files: one file per fitted metric, without code, that any language can read.

A ``.safetensors`` file holds arrays and a header of strings; a ``.json`` file holds the same in one
document. `read` needs ``class``, ``params`` and ``fitted`` of the header. The other entries are for
readers without this library: format and library version, feature names, certificate.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import safetensors
import safetensors.numpy
from sklearn.utils.validation import check_is_fitted

from .._support.files import as_path, check_suffix, readable, replace_bytes
from .._support.registry import METRICS
from .._version import __version__
from .certificate import last_fit
from .checks import NUMBERS, check_header, check_metric
from .json_arrays import JSON_BYTES, arrays_from_json, arrays_to_json
from .plain import Arrays, estimator_from_plain, estimator_to_plain, from_plain, to_plain

FORMAT_VERSION = 2
SUFFIXES = (".safetensors", ".json")

_FORMAT = "sdpmetric"
_CERTIFICATE = ("status", *NUMBERS)
_TEXTS = ("format", "library_version", "class", "status")  # the other entries are JSON
# Errors that a damaged file can raise; each becomes one ValueError that names the file.
_BROKEN = (ValueError, TypeError, AttributeError, IndexError, OverflowError, RecursionError)


def save(metric: Any, path: Any) -> None:
    """Write a fitted metric to a model file; an existing file is replaced.

    The file is written completely or not at all. A parameter that is the user's own object (a loss,
    a splitter) is stored as text. The loaded metric maps rows as before, but it must be given the
    object again before it can be fitted again.

    Parameters
    ----------
    metric : a fitted `SDPMetric`, `EmbeddingAdapter` or another metric of this library
    path : str or path
        File name that ends in ``.safetensors``, or in ``.json`` for a small metric.
    """
    target = as_path(path)
    suffix = check_suffix(target, SUFFIXES)
    if METRICS.get(type(metric).__name__) is not type(metric):
        raise ValueError(f"metric must be one of {tuple(METRICS)}, got {type(metric).__name__}.")
    check_is_fitted(metric)
    arrays: Arrays = {}
    header = _header(metric, arrays)
    if suffix == ".json":
        document = header | {"arrays": arrays_to_json(arrays)}
        data = json.dumps(document, allow_nan=False, ensure_ascii=False).encode()
        if len(data) > JSON_BYTES:
            raise ValueError(f"path must end in .safetensors for {len(data):,} bytes.")
    else:
        data = safetensors.numpy.save(arrays, metadata=_as_strings(header))
    replace_bytes(target, data)


def read(path: Any) -> Any:
    """Read a metric from a model file. Its class must have been imported; `load` imports all."""
    header, arrays = _read(as_path(path))
    with _whole(path):
        if header["class"] not in METRICS:
            raise ValueError(f"its class is {header['class']!r}")
        metric = estimator_from_plain(header, arrays)
        check_metric(metric, header)
    return metric


def read_header(path: Any) -> dict[str, Any]:
    """Read the header of a model file: its class, parameters, features and certificate.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    dict with ``format_version``, ``library_version``, ``class``, ``params``, ``n_features``,
    ``feature_names``, and the certificate: ``status``, ``objective``, ``upper_bound``, ``gap``,
    ``rho`` and ``scale``
    """
    header = _read(as_path(path))[0]
    return {name: value for name, value in header.items() if name not in ("format", "fitted")}


def _header(metric: Any, arrays: Arrays) -> dict[str, Any]:
    held = estimator_to_plain(metric, arrays)
    last = last_fit(metric)[1]
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


def _number(value: Any) -> Any:
    return str(value) if isinstance(value, str) else to_plain(float(value), {})


def _as_strings(header: dict[str, Any]) -> dict[str, str]:
    dumped = {k: json.dumps(v, allow_nan=False) for k, v in header.items() if k not in _TEXTS}
    return {name: header[name] for name in _TEXTS} | dumped


def _read(path: Path) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a model file of a format that this version reads."""
    with readable(path):
        suffix = check_suffix(path, SUFFIXES)
        if suffix == ".json" and path.stat().st_size > JSON_BYTES:
            raise ValueError(
                f"{str(path)!r} is no sdpmetric model: .json is for up to {JSON_BYTES:,} bytes."
            )
        data = path.read_bytes()
    with _whole(path):
        header, arrays = _split_json(data) if suffix == ".json" else _split_tensors(data)
        if header.get("format") != _FORMAT:
            raise ValueError(f"its header does not say format={_FORMAT!r}")
        version = header["format_version"]
        if type(version) is not int or version < 1:
            raise ValueError(f"its format_version is {version!r}")
        if version <= FORMAT_VERSION:
            for name in NUMBERS:  # infinity is no JSON, and stands there as text
                header[name] = from_plain(header[name], {})
            check_header(header)
    if version > FORMAT_VERSION:
        by = header.get("library_version", "of unknown version")
        raise ValueError(
            f"{str(path)!r} is of format version {version} (sdpmetric {by}) and this sdpmetric "
            f"reads versions up to {FORMAT_VERSION}: upgrade sdpmetric."
        )
    return header, arrays


def _split_json(data: bytes) -> tuple[dict[str, Any], Arrays]:
    header = json.loads(data)
    if not isinstance(header, dict):
        raise ValueError("it is not a JSON object")
    return header, arrays_from_json(header.pop("arrays", {}))


def _split_tensors(data: bytes) -> tuple[dict[str, Any], Arrays]:
    arrays = safetensors.numpy.load(data)
    # safetensors.numpy.load drops the metadata, so that the header is read once more: eight bytes
    # hold its length, then follows JSON.
    size = int.from_bytes(data[:8], "little")
    strings = json.loads(data[8 : 8 + size]).get("__metadata__", {})
    header = {k: v if k in _TEXTS else json.loads(v) for k, v in strings.items()}
    return header, arrays


@contextmanager
def _whole(path: Any) -> Iterator[None]:
    """Turn any error that a damaged file causes into one ValueError that names the file."""
    try:
        yield
    except KeyError as error:
        reason = f"it lacks {error}"
    except (*_BROKEN, safetensors.SafetensorError) as error:
        reason = str(error)
    else:
        return
    raise ValueError(f"{str(path)!r} is not a complete sdpmetric model: {reason.rstrip('.')}.")
