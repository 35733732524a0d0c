"""Damage files: bytes, numbers, texts, and the structure of the formats that have one."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

NUMBERS = [
    *(0, -1, 1, 2, 3, 127, 128, 255, 256, 32767, 65536, 2**31 - 1, 2**31, 2**32, 2**40),
    *(-(2**31), -(2**63), 2**63 - 1, 2**64, 10**19, 10**400, 1.5, -0.0, 1e308, 1e-320, 20_000_000),
]
WORDS = [
    *("", " ", "x", "nan", "inf", "-inf", "1e999", "1_0", "0x10", "٣", "9" * 5000, "-", "+", "="),
    *(
        "\x00",
        "\x1b[2J",
        "\x9b31m",
        "\u202e",
        "\ud800",
        "\r",
        "\n",
        "\t",
        "$\\frac{$",
        "'=1",
        "<b>",
    ),
    *("null", "true", "{}", "[]", '""', "[[[[", "[" * 3000, '{"a":' * 300, "a" * 200_000),
    *("anchor", "positive", "negative", "negative_1", "weight", "participant", "answer", "label"),
    *("$array", "$estimator", "$strings", "SDPMetric", "float64", "object", "components_", "|O"),
]
_KINDS = ["f2", "f4", ">f8", "f16", "i1", "u8", "b1", "c16", "U3", "U0", "S4", "S0", "V8", "V0"]
_KINDS += ["O", "M8[s]", "m8[D]", "U99999999"]
_DIGITS = re.compile(rb"-?\d+(?:\.\d+)?(?:e-?\d+)?")

Mutator = Callable[[bytes, Random, Sequence[bytes]], bytes]


def mutated(data: bytes, rng: Random, seeds: Sequence[bytes], suffix: str) -> bytes:
    """A damaged copy of a file; the structure of its format is used in half of the cases."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        structured = _STRUCTURED.get(suffix)
        if structured is not None and rng.random() < 0.5:
            data = structured(data, rng, seeds)
        else:
            data = rng.choice(_PLAIN)(data, rng, seeds)
    return data


def _flip(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _remove(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.choice((1, 2, 4, 8, 100)) :]


def _repeat(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    part = data[at : at + rng.choice((1, 4, 16, 64, 1000))]
    return data[:at] + part * rng.choice((2, 3, 100)) + data[at:]


def _splice(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    other = rng.choice(seeds)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _integer(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    """Write an extreme number over a few bytes, as a length or an index has it."""
    width = rng.choice((1, 2, 4, 8))
    value = int(rng.choice(NUMBERS[:21])) % (1 << (8 * width))
    at = rng.randrange(len(data) + 1)
    order = "little" if rng.random() < 0.8 else "big"
    return data[:at] + value.to_bytes(width, order) + data[at + width :]  # type: ignore[arg-type]


def _digits(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    """Replace a number that is written in digits."""
    found = list(_DIGITS.finditer(data))
    if not found:
        return _flip(data, rng, seeds)
    one = rng.choice(found)
    value = str(rng.choice(NUMBERS)) if rng.random() < 0.7 else rng.choice(WORDS)
    return data[: one.start()] + value.encode(errors="surrogatepass") + data[one.end() :]


def _word(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    word = rng.choice(WORDS).encode(errors="surrogatepass")
    return data[:at] + word + data[at + rng.choice((0, 0, len(word))) :]


_PLAIN: list[Mutator] = [_flip, _cut, _remove, _repeat, _splice, _integer, _digits, _word]


def odd_value(rng: Random, depth: int = 0) -> Any:
    """A JSON value that nobody expects."""
    kind = rng.randrange(6 if depth < 3 else 3)
    if kind == 0:
        return rng.choice(NUMBERS)
    if kind == 1:
        return rng.choice(WORDS)
    if kind == 2:
        return rng.choice((None, True, False, float("nan"), float("inf")))
    values = [odd_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 3:
        return values
    return {str(rng.choice(WORDS))[:50]: value for value in values}


def changed_json(value: Any, rng: Random) -> Any:
    """A JSON value with one node replaced, removed, doubled or wrapped."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        if rng.random() < 0.15:
            return {k: v for k, v in value.items() if k != key}
        return value | {key: changed_json(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        if rng.random() < 0.2:
            return value[:at] + value[at:] * rng.choice((0, 2, 50))
        return [*value[:at], changed_json(value[at], rng), *value[at + 1 :]]
    return rng.choice((odd_value(rng), [value], {"$array": value}, {"$text": value}))


def _json(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    try:
        return json.dumps(changed_json(json.loads(data), rng)).encode()
    except (ValueError, RecursionError):
        return _digits(data, rng, seeds)


def _jsonl(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    lines[at] = _json(lines[at], rng, seeds)
    return b"\n".join(lines)


def _csv(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    cells = lines[at].split(b",")
    cells[rng.randrange(len(cells))] = rng.choice(WORDS).encode(errors="surrogatepass")
    lines[at] = b",".join(cells)
    return b"\n".join(lines * (1 if rng.random() < 0.9 else 3))


def _safetensors(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    """Change the header and pack it again, with its right length."""
    size = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + size])
        told = header.get("__metadata__", {})
        if told and rng.random() < 0.7:
            name = rng.choice(list(told))
            told[name] = _json(told[name].encode(), rng, seeds).decode(errors="replace")
        else:
            header = changed_json(header, rng)
        packed = json.dumps(header).encode()
    except (ValueError, AttributeError, TypeError, RecursionError):
        return _flip(data, rng, seeds)
    return len(packed).to_bytes(8, "little") + packed + data[8 + size :]


def _npy(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    """Change type or shape in the header of an array, and pad the header again."""
    size = int.from_bytes(data[8:10], "little")
    header = data[10 : 10 + size].rstrip()
    if rng.random() < 0.5:
        header = _digits(header, rng, seeds)
    else:
        known = re.search(rb"'[<>|=]?[a-zA-Z]\d*'", header)
        new = f"'{rng.choice(_KINDS)}'".encode()
        if rng.random() < 0.2:
            new = b"[('x', '<f8'), ('y', '<i4', (2,))]"
        header = header.replace(known[0] if known else b"8", new)
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    if len(header) >= 65536:
        return data
    return data[:8] + len(header).to_bytes(2, "little") + header + data[10 + size :]


def _npz(data: bytes, rng: Random, seeds: Sequence[bytes]) -> bytes:
    """Change one array of an archive and pack the archive again, with its right check sums."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            held = {name: archive.read(name) for name in archive.namelist()}
    except Exception:
        return _flip(data, rng, seeds)
    if not held:
        return data
    name = rng.choice(list(held))
    how = rng.random()
    if how < 0.1:
        del held[name]
    elif how < 0.2:
        word = rng.choice(WORDS).replace("\ud800", "").replace("\0", "")[:40]
        held[f"x{word}.npy"] = held.pop(name)
    else:
        held[name] = rng.choice((_npy, _npy, _flip, _cut, _integer))(held[name], rng, seeds)
    packed = io.BytesIO()
    kind = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(packed, "w", kind) as archive:
        for name, content in held.items():
            archive.writestr(name, content)
    return packed.getvalue()


_STRUCTURED: dict[str, Mutator] = {
    ".csv": _csv,
    ".json": _json,
    ".jsonl": _jsonl,
    ".npy": _npy,
    ".npz": _npz,
    ".safetensors": _safetensors,
}
