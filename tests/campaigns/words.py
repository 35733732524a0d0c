"""Command lines of `sdpmetric`: whole ones with a few words replaced, added or left out."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from random import Random

import click
import numpy as np
from click.testing import CliRunner

from sdpmetric.cli import main
from tests.campaigns.mutation import NUMBERS, WORDS, mutated
from tests.campaigns.seeds import seeds

_SUFFIXES = [".csv", ".npy", ".npz", ".parquet", ".jsonl", ".svmlight", ".db"]
_SUFFIXES += [".json", ".safetensors"]
_LINES = """\
fit items.csv --id name --triplets triplets.csv -o out/m.json --tol 0.1
fit items.csv --id name --triplets triplets.csv -o out/m.safetensors --start m.json --tol 0.1
fit labels.csv -l kind -o out/m.json --set h=0.1 --set n_rounds=2 --tol 0.1
fit labels.csv -l kind -o out/m.json --start s.json --set warm_start=true
fit dense.npy -l y.csv -o out/m.json --components 1 --loss hinge --time-limit 5
fit labels.csv -l kind --search --set cv=2 --set Cs=1 --tol 0.1 -o out/m.safetensors
transform m.json items.csv --id name -o out/t.csv
transform m.json items.csv --id name --nearest 2 -o out/t.npz
transform s.json labels.csv --keep kind --json
transform m.json items.csv --distances -o out/t.parquet
evaluate s.json labels.csv -l kind -k 1
evaluate s.json labels.csv -l kind -g labels.csv --json
evaluate m.json items.csv --id name -t triplets.csv
inspect m.json --data items.csv
inspect s.json --json
export m.json out/m.onnx
export s.json out/m.npy --json
export m.json out/m.sql --table t
export m.json out/i.faiss --rows items.csv
export m.json out/torch.safetensors
triplets odd-one-out odd.csv -o out/t.csv
triplets odd-one-out odd.csv --items items.csv --id name --json
triplets 2afc odd.csv --columns a,b,c --chosen c
triplets rankings ranks.csv --columns a,b --separator |
triplets clicks ranks.csv --columns a,c,b --skip-above
triplets columns triplets.csv -o out/t.jsonl
triplets labels labels.csv -l kind --neighbors 1 --impostors 2
adapt dense.npy --pairs pairs.csv -o out/m.json --set cv=2 --set Cs=1 --set test_size=0
adapt dense.npy --pairs pairs.csv --ids y.csv --queries dense.npy --query-ids y.csv -o out/m.json
suggest items.csv --id name -n 3 --model m.json --asked triplets.csv --seed 1
demo out/demo --json
"""
_COLUMNS = ["name", "x", "y", "kind", "anchor", "positive", "negative", "a", "b", "c", "label"]
_COLUMNS += ["a,b,c", "query,clicked,shown", "$\\frac{$", "\x1b[31mred"]
_FILES = ["items.csv", "labels.csv", "triplets.csv", "odd.csv", "ranks.csv", "dense.npy", "y.csv"]
_FILES += [
    "pairs.csv",
    "m.json",
    "s.json",
    *(f"bad{suffix}" for suffix in _SUFFIXES),
    "missing.csv",
    "out",
    "-",
]
_OUTPUTS = [f"out/t{suffix}" for suffix in (*_SUFFIXES, ".html", ".onnx", ".sql", ".xyz")]
_OUTPUTS += ["-", "out", "nowhere/t.csv", "out/folder"]
_SETTINGS = ["C", "h", "tol", "loss", "n_neighbors", "n_impostors", "n_rounds", "triplets", "prior"]
_SETTINGS += ["prior_weight", "solver", "solver_options", "max_iter", "time_limit", "warm_start"]
_SETTINGS += ["random_state", "n_jobs", "class_weight", "neighbors", "Cs", "cv", "folds", "x"]
_VALUES = ["true", "false", "null", "1", "-1", "0", "[]", "{}", "[1,2]", "1e-3", '"huber"', "group"]
_VALUES += ["hinge", "identity", "all", "balanced", '{"rank":2}', "[[1,0],[0,1]]", "frank-wolfe"]
_TEXTS = {
    "items.csv": "name,x,y\na,1,2\nb,3,4\nc,5,1\nd,2,2\n'=e,0,1\nf,4,4\n",
    "labels.csv": "kind,x,$\\frac{$,\x1b[31mred\n"
    + "".join(f"{'uv'[i % 2]}\x1b,{i % 5},{i * i % 7},{i}\n" for i in range(12)),
    "triplets.csv": "anchor,positive,negative\na,b,c\nb,a,d\nc,d,a\n",
    "odd.csv": "a,b,c,odd,chosen\na,b,c,b,b\n",
    "pairs.csv": "query,positive\n0,1\n1,0\n2,3\n3,2\n4,5\n5,4\n",
    "ranks.csv": "a,b,c\na,b|c|d,c\nb,c|a,a\n",
    "y.csv": "label\nu\nv\nu\nv\nu\nv\n",
}
_KEPT: dict[str, bytes] = {}  # the files that command lines name, as they were


def prepare(folder: Path) -> None:
    """Make the files that command lines name, whole and damaged."""
    rng = Random(0)
    os.chdir(folder)
    for name, text in _TEXTS.items():
        Path(name).write_text(text)
    np.save("dense.npy", np.arange(12.0).reshape(6, 2) % 5)
    for line in (_LINES.splitlines()[0], _LINES.splitlines()[2]):
        name = "s.json" if "labels" in line else "m.json"
        result = CliRunner().invoke(main, line.replace("out/m.json", name).split())
        if result.exit_code:
            raise RuntimeError(result.output)
    for suffix in _SUFFIXES:
        made = seeds(suffix)
        Path(f"bad{suffix}").write_bytes(mutated(rng.choice(made), rng, made, suffix))
    _KEPT.update({path.name: path.read_bytes() for path in folder.iterdir()})


def restore(folder: Path, current: Path) -> None:
    """Undo what an earlier command line wrote."""
    os.chdir(folder)
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in _KEPT and path.suffix not in (current.suffix, ".new", ""):
            path.unlink()
    for name, data in _KEPT.items():
        if not Path(name).is_file() or Path(name).read_bytes() != data:
            Path(name).write_bytes(data)
    Path("out").mkdir()


def command_line(rng: Random) -> bytes:
    """The arguments of a command, as JSON."""
    line = rng.choice(_LINES.splitlines()).split()
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        how, at = rng.random(), rng.randrange(len(line))
        if how < 0.4:
            line[at] = _similar(line[at], rng)
        elif how < 0.5:
            del line[at]
        else:
            line += _option(line, rng)
        if not line:
            break
    # A command line holds no NUL, and no text of more than about a hundred thousand bytes.
    return json.dumps([word.replace("\0", "")[:5000] for word in line]).encode()


def _similar(word: str, rng: Random) -> str:
    """Another word of the same kind, or of none."""
    kinds = [_FILES, _OUTPUTS, _COLUMNS, [*map(str, NUMBERS), "0.5", "3"]]
    fitting = [kind for kind in kinds if word in kind]
    return rng.choice(rng.choice(fitting or kinds) if rng.random() < 0.8 else WORDS)


def _option(line: list[str], rng: Random) -> list[str]:
    """An option of the command with a value."""
    command: click.Command = main
    for name in line[:2]:
        if isinstance(command, click.Group) and name in command.commands:
            command = command.commands[name]
    known = [one for one in command.params if isinstance(one, click.Option)]
    if not known:
        return ["--json"]
    option = rng.choice(known)
    given = [rng.choice(option.opts)]
    return given if option.is_flag else [*given, _value(option, rng)]


def _value(option: click.Option, rng: Random) -> str:
    if rng.random() < 0.1:
        return rng.choice(WORDS)
    if option.name == "pairs":
        value = rng.choice([*_VALUES, *map(str, NUMBERS), *WORDS])
        return f"{rng.choice(_SETTINGS)}={value}"
    if isinstance(option.type, click.Choice):
        return str(rng.choice(list(option.type.choices)))
    if option.name in ("output", "report"):
        return rng.choice(_OUTPUTS)
    if option.metavar == "COLUMN" or option.name == "columns":
        return rng.choice(_COLUMNS)
    if option.metavar in ("FILE", "DATA", "MODEL"):
        return rng.choice(_FILES)
    return str(rng.choice([1, 2, 3, 0.1, *NUMBERS]))
