"""The work of `sdpmetric pack`: rows of a Parquet or Zarr file, written to a .npy file."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from .._support.files import as_path, replacing
from .progress_bars import bars
from .tables.limits import in_words
from .tables.row_streams import open_rows

__all__ = ["pack_rows"]


def pack_rows(source: str, target: str, drop: tuple[str, ...], single: bool) -> tuple[int, int]:
    """Write all rows to a .npy file, complete or not at all; return its shape.

    ``single`` rounds the numbers to float32; without it they stay as they are, or become float64.
    """
    stream = open_rows(Path(source), drop)
    dtype = np.dtype(np.float32 if single or stream.single else np.float64)
    shape = stream.n_rows, len(stream.columns)
    path = as_path(target)
    needed = dtype.itemsize * shape[0] * shape[1]
    free = shutil.disk_usage(path.resolve().parent).free
    if needed > free:
        raise ValueError(
            f"{target} needs {in_words(needed)}, and the disk has {in_words(free)} left."
        )
    header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    done = 0
    with replacing(path) as temporary, bars() as stages, open(temporary, "wb") as file:
        report = None if stages is None else stages.stage("rows packed")
        npy.write_array_header_1_0(file, header)
        for block in stream.blocks:
            with np.errstate(over="ignore"):  # an entry that is too large is named below
                rows = np.ascontiguousarray(block, dtype=dtype)
            stream.check(rows, done)
            file.write(rows.data)
            done += len(rows)
            if report is not None:
                report(done, shape[0])
        if done != shape[0]:
            raise ValueError(f"{source} ends after {done} of {shape[0]} rows.")
    return shape
