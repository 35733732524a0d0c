"""Read the sizes in the footer of a .parquet file.

pyarrow offers them too, but a damaged footer makes its accessors end the whole process. The footer
is in Thrift's compact protocol; the numbers of fields are those of ``parquet.thrift``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MAGIC = b"PAR1"
_DEEPEST = 16  # structures inside of structures; the format needs eight
# Numbers of types in Thrift's compact protocol.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_INTEGERS = (4, 5, 6)
_TYPES = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "TEXT", "BYTES")


@dataclass(frozen=True)
class Chunk:
    """A column within a group of rows.

    Attributes
    ----------
    kind : physical type of the values
    nested : whether the column is part of a list or of another structure
    n_values : number of values, of which runs of the same one take next to no bytes in the file
    n_bytes : bytes of the column once they are unpacked
    """

    kind: str
    nested: bool
    n_values: int
    n_bytes: int


def read_chunks(path: Path) -> list[Chunk]:
    """The columns of all groups of rows, as the footer describes them."""
    with open(path, "rb") as file:
        size = path.stat().st_size
        file.seek(max(0, size - 8))
        end = file.read(8)
        length = int.from_bytes(end[:4], "little")
        if end[4:] != _MAGIC or length > size - 12:
            raise ValueError("is not complete: it has no footer.")
        file.seek(size - 8 - length)
        footer = _Reader(file.read(length)).structure()
    return list(_chunks(footer))


def _chunks(footer: dict[int, Any]) -> Iterator[Chunk]:
    for group in _field(footer, 4, list):
        n_rows = _field(group, 3, int)
        for column in _field(group, 1, list):
            about = _field(column, 3, dict)
            kind, n_values, n_bytes = (_field(about, number, int) for number in (1, 5, 6))
            if min(n_rows, n_values, n_bytes, kind) < 0 or kind >= len(_TYPES):
                raise ValueError("has a footer with sizes that are none.")
            nested = len(_field(about, 3, list)) > 1
            yield Chunk(_TYPES[kind], nested, max(n_rows, n_values), n_bytes)


def _field(structure: Any, number: int, kind: type) -> Any:
    value = structure.get(number) if isinstance(structure, dict) else None
    if type(value) is not kind:
        raise ValueError("has a footer that lacks sizes.")
    return value


class _Reader:
    """Values in Thrift's compact protocol, one after another."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Fields by their number."""
        fields: dict[int, Any] = {}
        number = 0
        while kind := self._byte():
            # The upper half is the distance from the number of the field before.
            number = number + (kind >> 4) if kind >> 4 else self._integer()
            kind &= 15
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("has a footer that is nested too deeply.")
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind in _INTEGERS:
            return self._integer()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            return [self._value(head & 15, depth + 1) for _ in range(self._checked(count))]
        if kind == _STRUCT:
            return self.structure(depth + 1)
        # Maps, too: no structure of a footer has one.
        raise ValueError("has a footer with values of unknown type.")

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, count: int) -> bytes:
        found = self.data[self.at : self.at + self._checked(count)]
        self.at += count
        return found

    def _checked(self, count: int) -> int:
        # Every value takes a byte at least.
        if count > len(self.data) - self.at:
            raise ValueError("is not complete: its footer ends too early.")
        return count

    def _unsigned(self) -> int:
        value = shift = 0
        while shift < 70:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise ValueError("has a footer with a number that does not end.")

    def _integer(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
