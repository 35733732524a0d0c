"""The memory that the contents of a file may take; a small file can unpack to a huge table."""

from __future__ import annotations

import re
from typing import Any

import click

MAX_BYTES = 2_000_000_000  # unless --max-bytes says otherwise
# Memory of a Python object, with the place in a list that points to it; texts have their
# characters besides.
OBJECT = 64
_KEY = "sdpmetric.max_bytes"
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"(\d{1,30}(?:\.\d{1,30})?)\s*([kmgt]?)b?", re.IGNORECASE | re.ASCII)


def keep_max_bytes(ctx: click.Context, param: Any, value: str | None) -> None:
    """Let all readers of this command find the limit that was given: 500MB, 8GB, 2000000."""
    if value is None:
        return
    found = _SIZE.fullmatch(value.strip())
    if found is None:
        raise click.BadParameter(f"{value!r} is no size such as 500MB or 8GB.", ctx, param)
    # In the context, not as an argument: a dozen functions stand between a command and its readers.
    ctx.meta[_KEY] = int(float(found[1]) * _UNITS[found[2].lower()])


def max_bytes() -> int:
    """The limit of the running command."""
    ctx = click.get_current_context(silent=True)
    limit: int = MAX_BYTES if ctx is None else ctx.meta.get(_KEY, MAX_BYTES)
    return limit


def check_size(size: int, before: str = "holds", after: str = " once it is unpacked") -> None:
    """Raise ValueError if contents of this size, in bytes, are more than the limit.

    ``before`` and ``after`` stand around the size in the message.
    """
    limit = max_bytes()
    if size > limit:
        raise ValueError(
            f"{before} {in_words(size)}{after}, expected at most {in_words(limit)} (--max-bytes "
            "raises this)."
        )


def in_words(size: int) -> str:
    """A number of bytes for people.

    >>> in_words(2_000_000_000), in_words(999)
    ('2 GB', '999 bytes')
    """
    for unit in ("T", "G", "M", "k"):
        count = size / _UNITS[unit.lower()]
        if count >= 1.0:
            return f"{count:,.3g} {unit}B" if count < 1000.0 else f"{count:,.0f} {unit}B"
    return f"{size} bytes"
