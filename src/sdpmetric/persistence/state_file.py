"""State files: how far a long computation is, so that the next process can go on from there.

A state is plain data in a safetensors file, like a model: to read one runs no code. It belongs to
one problem, whose digest stands in the file. The file is replaced as a whole, so a kill or a full
disk leaves the last state, complete.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import safetensors
import safetensors.numpy

from .._support.files import as_path, readable, replacing
from .._support.warnings import warn
from .plain import Arrays, from_plain, to_plain

__all__ = ["BROKEN", "StateFile", "as_folder"]

_FORMAT, _VERSION = "sdpmetric-checkpoint", "1"
_SECONDS = 5.0  # between two writes, at least
_SHARE = 0.02  # of the time that writes may take
# Errors that a damaged file can raise.
BROKEN = (
    ValueError,
    TypeError,
    AttributeError,
    KeyError,
    IndexError,
    OverflowError,
    RecursionError,
    safetensors.SafetensorError,
)


def as_folder(checkpoint: Any) -> Path:
    """Return the folder of a ``checkpoint`` parameter."""
    try:
        folder = as_path(checkpoint)
    except ValueError:
        raise ValueError(
            f"checkpoint must be None or the name of a folder, got {checkpoint!r}."
        ) from None
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"checkpoint must name a folder, got the file {str(folder)!r}.")
    return folder


class StateFile:
    """The state of one problem in a folder; the folder is made if it is missing.

    ``name`` is that of the file, ``key`` the digest of the problem.
    """

    def __init__(self, folder: Path, name: str, key: str) -> None:
        self.path, self.key = folder / f"{name}.safetensors", key
        self.next_write = 0.0

    def read(self) -> Any:
        """Return the state; None if there is none, or one of another problem that is finished.

        A state of another problem that is not finished is an error: its work would be lost.
        """
        if not self.path.exists():
            return None
        with readable(self.path):
            data = self.path.read_bytes()
        try:
            # safetensors.numpy.load drops the metadata: eight bytes hold the length of the header.
            arrays = safetensors.numpy.load(data)
            size = int.from_bytes(data[:8], "little")
            told = json.loads(data[8 : 8 + size])["__metadata__"]
            if (told["format"], told["version"]) != (_FORMAT, _VERSION):
                raise ValueError("it is of another format")
            key, done = told["key"], told["done"] == "true"
            state = from_plain(json.loads(told["state"]), arrays) if key == self.key else None
        except BROKEN as error:
            self.refuse(error)
        if state is None and not done:
            raise ValueError(
                f"checkpoint: {str(self.path)!r} belongs to a fit of other data or other "
                "parameters that is not finished; expected another folder, or the same data and "
                "parameters. Remove the file to give up that fit."
            )
        return state

    def refuse(self, error: Exception) -> NoReturn:
        """Raise ValueError that names the damaged file."""
        raise ValueError(
            f"checkpoint: {str(self.path)!r} is no complete checkpoint of this version of "
            f"sdpmetric ({str(error).rstrip('.')}); remove it to begin anew."
        ) from None

    @property
    def due(self) -> bool:
        """Whether enough time has passed since the last write."""
        return time.monotonic() >= self.next_write

    def begin(self, state: Any) -> None:
        """Write the first state; raise if the folder cannot be written to."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._write(state, done=False)

    def write(self, state: Any, *, done: bool = False) -> None:
        """Write a state. If that fails, warn and keep the last one: the work itself goes on."""
        began = time.monotonic()
        try:
            self._write(state, done=done)
        except OSError as error:
            warn(f"{error} The fit goes on; its last checkpoint stays as it was.", UserWarning)
        now = time.monotonic()
        self.next_write = now + max(_SECONDS, (now - began) / _SHARE)

    def _write(self, state: Any, *, done: bool) -> None:
        arrays: Arrays = {}
        told = {
            "format": _FORMAT,
            "version": _VERSION,
            "key": self.key,
            "done": json.dumps(done),
            "state": json.dumps(to_plain(state, arrays), allow_nan=False),
        }
        # safetensors 0.4 cannot read a file that it wrote without an array.
        arrays = arrays or {"none": np.zeros(1)}
        with replacing(self.path) as temporary:
            safetensors.numpy.save_file(arrays, temporary, told)
