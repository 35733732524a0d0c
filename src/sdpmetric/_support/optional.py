"""Optional packages: is one installed, and the error that says how to install it."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

# The extra of sdpmetric that brings a package; a package not listed here is installed by itself.
_EXTRAS = {
    "anywidget": "notebook",
    "dask": "dask",
    "distributed": "dask",
    "faiss": "faiss",
    "jinja2": "page",
    "markdown_it": "page",
    "matplotlib": "plot",
    "onnx": "onnx",
    "pyarrow": "parquet",
    "rich": "progress",
    "starlette": "page",
    "uvicorn": "page",
    "zarr": "zarr",
}


def is_installed(package: str) -> bool:
    """Whether a package can be imported, without importing it."""
    return find_spec(package) is not None


def check_installed(package: str, purpose: str, otherwise: str = "") -> None:
    """Raise ImportError unless a package can be imported.

    Parameters
    ----------
    package : str
    purpose : str
        What needs the package: the subject of the message.
    otherwise : str, default=""
        What the user can do instead of installing the package.
    """
    if not is_installed(package):
        install = f"'sdpmetric[{_EXTRAS[package]}]'" if package in _EXTRAS else package
        instead = f", or {otherwise}" if otherwise else ""
        raise ImportError(f"{purpose} needs {package}: pip install {install}{instead}.")


def require(package: str, purpose: str) -> Any:
    """Import an optional package, or raise ImportError as `check_installed` does."""
    check_installed(package, purpose)
    return import_module(package)
