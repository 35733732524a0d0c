"""Public names that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module


def load_name(package: str, homes: Mapping[str, str], name: str) -> object:
    """Import a public name of a package; for the package's ``__getattr__`` (PEP 562).

    scikit-learn and Numba take a second or more to import. `sdpmetric --help`, and modules that
    only need a table of the package, should not wait for them.

    Parameters
    ----------
    package : name of the package
    homes : the module below the package that defines each public name
    name : the name that was asked for
    """
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value: object = getattr(import_module(f".{homes[name]}", package), name)
    setattr(sys.modules[package], name, value)  # so that Python does not ask again
    return value
