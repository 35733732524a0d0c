"""`sdpmetric pack`: rows of a Parquet or Zarr file as a .npy file, which a fit reads from disk."""

from __future__ import annotations

import click

from ..given_once import Command
from ..options import as_json, drop, output
from ..printing import print_json, say


@click.command(cls=Command)
@click.argument("data")
@drop
@output("File to write, .npy.", default=None)
@click.option("--float32", "single", is_flag=True, help="Round to float32: half the bytes.")
@as_json
def pack(data: str, drop: tuple[str, ...], output: str, single: bool, as_json: bool) -> None:
    """Stream Parquet or Zarr rows into a .npy file.

    \b
    sdpmetric pack rows.parquet --drop id -o rows.npy
    sdpmetric fit rows.npy --triplets triplets.npy -o model.safetensors

    Other commands read a .npy file where it lies, so that rows may exceed memory. All columns must
    hold numbers; --drop leaves others out.
    """
    from ..packing import pack_rows
    from ..tables.writing import check_writable

    check_writable(output, (".npy",))
    rows, columns = pack_rows(data, output, drop, single)
    if as_json:
        print_json({"file": output, "rows": rows, "columns": columns})
    else:
        say(f"{output}: {rows:,} rows of {columns:,} columns")
