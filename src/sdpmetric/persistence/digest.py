"""A key for a problem: a digest of its parameters and data, the same in every process."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from ..linalg.fingerprints import array_digest
from .plain import Arrays, to_plain

__all__ = ["digest"]


def digest(parts: dict[str, Any]) -> str:
    """Return a digest of named values: parameters, arrays, and bytes that are digests themselves.

    A user's own object counts by its class and its attributes: its ``repr`` may hold an address,
    which is another one in the next process.
    """
    arrays: Arrays = {}
    plain = {name: to_plain(_described(value), arrays, name) for name, value in parts.items()}
    whole = blake2b(json.dumps(plain, sort_keys=True).encode(), digest_size=20)
    for name in sorted(arrays):
        whole.update(name.encode() + array_digest(arrays[name]))
    return whole.hexdigest()


def _described(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    plain = to_plain(value, {})
    if not (isinstance(plain, dict) and "$text" in plain):
        return value
    kind = value if isinstance(value, type) or callable(value) else type(value)
    name = f"{kind.__module__}.{getattr(kind, '__qualname__', type(kind).__qualname__)}"
    held = {n: _described(v) for n, v in getattr(value, "__dict__", {}).items()}
    return [name, held]
