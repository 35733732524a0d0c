"""The table of exports, which the library and the command line share.

To add an export, write a function ``write(metric, path, *, option=default, ...)`` in a module of
this folder and add an entry to `TARGETS`. The command line takes its choices and options from here;
it must start at once, so that this module imports no other package and names writers by text.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Option:
    """A keyword argument of a writer, and the option of the command line for it.

    ``reads_rows``: the argument is an array of rows; the command line reads it from a file.
    """

    name: str
    help: str
    reads_rows: bool = False


@dataclass(frozen=True)
class Target:
    """One export.

    Attributes
    ----------
    suffix : extension of the file; None: the export is a folder
    result : the content of the file, in a few words
    writer : "module:function" in this folder
    options : keyword arguments of the writer
    """

    suffix: str | None
    result: str
    writer: str
    options: tuple[Option, ...] = ()

    def write(self, metric: Any, path: Path, **options: Any) -> None:
        """Import the writer and call it."""
        module, _, function = self.writer.partition(":")
        getattr(import_module(f".{module}", __package__), function)(metric, path, **options)


TARGETS: dict[str, Target] = {
    "numpy": Target(".npy", "the linear map as an array", "to_arrays:write_npy"),
    "json": Target(".json", "the linear map as numbers", "to_arrays:write_json"),
    "faiss": Target(
        ".faiss",
        "an index that takes raw rows",
        "to_faiss:write_faiss",
        (
            Option("rows", "rows to put into the index.", reads_rows=True),
            Option("factory", "kind of index.  [default: Flat]"),
        ),
    ),
    "onnx": Target(".onnx", "a network of one layer", "to_onnx:write_onnx"),
    "torch": Target(".safetensors", "weights of a torch Linear", "to_torch:write_linear"),
    "sentence-transformers": Target(
        None,
        "a Dense module, or a whole model",
        "to_torch:write_dense",
        (Option("base", "folder of the model whose vectors the metric maps: write both as one."),),
    ),
    "pgvector": Target(
        ".sql",
        "a function for pgvector",
        "to_pgvector:write_pgvector",
        (
            Option("name", "name of the function.  [default: sdpmetric]"),
            Option("table", "table to which a mapped column is added."),
            Option("column", "its column of vectors.  [default: embedding]"),
        ),
    ),
}
SUFFIXES = {target.suffix: name for name, target in TARGETS.items() if target.suffix is not None}
