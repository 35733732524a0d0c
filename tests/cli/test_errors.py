"""Bad input to every command: one sentence, exit code 1, no traceback, nothing written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

from sdpmetric.cli import main
from sdpmetric.cli.demo_data import tables
from sdpmetric.cli.tables.writing import write

ITEMS = "name,x,y\na,1,2\nb,3,4\nc,5,1\nd,2,2\n"
TRIPLETS = "anchor,positive,negative\na,b,c\nb,a,d\nc,d,a\n"
BAD = {
    "empty.csv": "",
    "header.csv": "name,x,y\n",
    "ragged.csv": "name,x,y\na,1,2\nb,3\n",
    "mixed.csv": "name,x,y\na,1,2\nb,three,4\n",
    "hole.csv": "name,x,y\na,1,2\nb,,4\n",
    "infinite.csv": "name,x,y\na,1,2\nb,inf,4\n",
    "numbers.csv": "1,2,3\n4,5,6\n",
    "twice.csv": "name,x,x\na,1,2\n",
    "same.csv": "name,x,y\na,1,2\na,3,4\n",
    "quote.csv": 'name,x,y\n"a,1,2\n',
    "narrow.csv": "name,x\na,1\n",
    "unknown.csv": "anchor,positive,negative\na,b,zebra\n",
    "number.csv": "anchor,positive,negative\n0,1,99\n",
    "words.csv": "anchor,positive,negative\na,b,c\n",
    "alike.csv": "anchor,positive,negative\na,a,b\n",
    "weights.csv": "anchor,positive,negative,weight\na,b,c,much\n",
    "odd.csv": "a,b,c,odd\na,b,c,zebra\n",
    "gaps.csv": "anchor,positive,negative\n\na,b,c\n\n\na,a,b\n",
    "several.csv": "anchor,positive,negative_1,negative_2\na,b,c,d\na,b,c,zebra\na,b,d,\n",
    "missing-id.csv": "anchor,positive,negative\na,b,c\na,,c\n",
    "minus.csv": "anchor,positive,negative,weight\na,b,c,1\na,b,d,-1\n",
    "one-class.csv": "x,y,kind\n1,2,u\n2,3,u\n3,5,u\n",
    "others.csv": "name,x,y\nv,1,2\nw,1,3\nx,1,4\n",
    "counts.csv": "a,b,c,odd,times\na,b,c,a,2\na,b,c,a,1.5\n",
    "ranks.csv": "anchor,ranking\na,b|c\n\na,b\n",
    "clicks.csv": "query,clicked,shown\na,d,b|c\n",
    "table.txt": ITEMS,
    "broken.jsonl": '{"x": 1}\n{"x": \n',
    "ragged.jsonl": '{"x": 1}\n{"y": 2}\n',
    "list.jsonl": "[1, 2]\n",
    "vectors.jsonl": '{"name": "a", "v": [1, 2]}\n{"name": "b", "v": [1]}\n',
    "broken.svmlight": "1 a:b\n",
    "digits.csv": f"anchor,positive,negative\n{'9' * 5000},1,2\n",
    "half.jsonl": '{"name": "\\ud800", "x": 1}\n{"name": "b", "x": 2}\n',
    "many.csv": "a,b,c,odd,times\na,b,c,a,2000000000\n",
    "nothing.csv": "name,x,y\na\n",
}
BINARY = {
    "latin.csv": "name,x\nM\xfcller,1\n".encode("latin-1"),
    "broken.npy": b"\x93NUMPY\x01\x00",
    "broken.npz": b"PK\x03\x04 no more",
    "broken.parquet": b"PAR1 no more",
    "text.npy": b"hello",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (BAD | {"items.csv": ITEMS, "triplets.csv": TRIPLETS}).items():
        Path(name).write_text(text)
    for name, data in BINARY.items():
        Path(name).write_bytes(data)
    write("wine.csv", tables()["wine-test.csv"])
    np.save("cube.npy", np.zeros((2, 2, 2)))
    np.save("wide.npy", np.eye(7))
    np.save("nan.npy", np.where(np.arange(9).reshape(3, 3) == 5, np.nan, 1.0))
    np.save("far.npy", np.array([[0, 1, 2], [0, 1, 9]]))
    sp.save_npz("gap.npz", sp.csr_array(np.array([[0.0, np.inf], [1.0, 0.0]])))
    write("nan.parquet", {"x": np.array([1.0, np.nan]), "y": np.array([1.0, 2.0])})
    fit = "fit items.csv --id name --triplets triplets.csv -o m.safetensors --tol 0.1"
    assert CliRunner().invoke(main, fit.split()).exit_code == 0
    Path("truncated.safetensors").write_bytes(Path("m.safetensors").read_bytes()[:-9])
    Path("truncated.json").write_text('{"format": "sdpmetric"')
    Path("list.json").write_text("[]")
    Path("a-folder.csv").mkdir()
    Path("a-folder.safetensors").mkdir()
    return tmp_path


FIT = "fit {} --id name --triplets triplets.csv -o out.safetensors"
ANSWERS = "fit items.csv --id name --triplets {} -o out.safetensors"
MODEL = "transform {} items.csv -o out.csv"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (FIT.format("missing.csv"), "no file 'missing.csv'"),
        (FIT.format("empty.csv"), "empty.csv is empty"),
        (FIT.format("header.csv"), "header.csv holds no rows"),
        (FIT.format("ragged.csv"), "ragged.csv: line 3 has 2 cells, expected 3"),
        (FIT.format("mixed.csv"), "mixed.csv, line 3: 'x' is 'three', expected a number"),
        (FIT.format("hole.csv"), "hole.csv, line 3: 'x' is empty"),
        (FIT.format("infinite.csv"), "infinite.csv, line 3: 'x' is 'inf'"),
        (FIT.format("numbers.csv"), "the first line holds numbers"),
        (FIT.format("twice.csv"), "different names"),
        (FIT.format("same.csv"), "'name' is 'a' again"),
        (FIT.format("quote.csv"), "quote.csv: line 2 is no row of a table: a quote is opened"),
        (FIT.format("latin.csv"), "latin.csv is not UTF-8"),
        (FIT.format("table.txt"), "table.txt: the extension must be one of .csv"),
        (FIT.format("a-folder.csv"), "folder 'a-folder.csv'"),
        (FIT.format("broken.npy"), "broken.npy"),
        (FIT.format("text.npy"), "text.npy"),
        (FIT.format("broken.npz"), "broken.npz"),
        (FIT.format("broken.parquet"), "broken.parquet"),
        (FIT.format("broken.jsonl"), "broken.jsonl: line 2 is not JSON"),
        (FIT.format("ragged.jsonl"), "ragged.jsonl: line 2 has ['y'], expected ['x']"),
        (FIT.format("list.jsonl"), "line 1 is not a JSON object"),
        (FIT.format("vectors.jsonl"), "vectors.jsonl, line 2: 'v' is [1], expected 2 numbers"),
        (FIT.format("broken.svmlight"), "broken.svmlight"),
        (FIT.format("cube.npy"), "shape (2, 2, 2)"),
        (FIT.format("items.csv").replace("--id name", "--id nom"), "has no column 'nom'"),
        (FIT.format("items.csv").replace("--id name", ""), "'name' is 'a', expected a number"),
        (ANSWERS.format("missing.csv"), "no file 'missing.csv'"),
        (ANSWERS.format("unknown.csv"), "unknown.csv, line 2: 'negative' is 'zebra'"),
        (ANSWERS.format("alike.csv"), "alike.csv, line 2: found 'a', 'a', 'b'"),
        (ANSWERS.format("weights.csv"), "weights.csv, line 2: 'weight' is 'much'"),
        (ANSWERS.format("items.csv"), "items.csv has the columns 'name'"),
        (
            "fit items.csv --drop name --triplets number.csv -o out.json",
            "number.csv, line 2: 'negative'",
        ),
        ("fit items.csv --drop name --triplets words.csv -o out.json", "--id"),
        (
            "fit nan.npy -t number.csv -o out.json",
            "nan.npy, row 2: column 3 is nan, expected a finite",
        ),
        (
            "fit gap.npz -t number.csv -o out.json",
            "gap.npz, row 1: column 2 is inf, expected a finite",
        ),
        ("fit wide.npy -t far.npy -o out.json", "far.npy, row 2: found [0, 1, 9], expected"),
        (ANSWERS.format("gaps.csv"), "gaps.csv, line 6: found 'a', 'a', 'b'; expected items that"),
        (ANSWERS.format("several.csv"), "several.csv, line 3: 'negative_2' is 'zebra', expected"),
        (ANSWERS.format("several.csv"), "1 of 3 names in this column are unknown"),
        (ANSWERS.format("missing-id.csv"), "missing-id.csv, line 3: 'positive' is missing"),
        (ANSWERS.format("minus.csv"), "minus.csv, line 3: 'weight' is -1.0, expected a finite"),
        (ANSWERS.format("triplets.csv --search --set folds=group"), "needs a column 'participant'"),
        ("fit one-class.csv -l kind -o out.json", "all 3 rows are of the class 'u' by 'kind'"),
        ("fit items.csv -l kind -o out.json", "items.csv has no column 'kind'"),
        ("fit items.csv -l name -o out.json", "no class has two members"),
        ("fit wine.csv -l cultivar --set size=3 -o out.json", "has no parameter 'size'"),
        ("fit wine.csv -l cultivar --set C -o out.json", "NAME=VALUE"),
        ("fit wine.csv -l cultivar -C -1 -o out.json", "C must be"),
        ("fit wine.csv -l cultivar --start m.safetensors -o out.json", "expected a SDPMetric"),
        ("fit wine.csv -l cultivar -o out.txt", "out.txt: the extension must be"),
        ("fit wine.csv -l cultivar -o a-folder.safetensors", "must name a file, got the folder"),
        ("fit wine.csv -l cultivar -o nowhere/out.json", "there is no folder 'nowhere'"),
        (MODEL.format("missing.safetensors"), "no file 'missing.safetensors'"),
        (MODEL.format("truncated.safetensors"), "is not a complete sdpmetric model"),
        (MODEL.format("truncated.json"), "is not a complete sdpmetric model"),
        (MODEL.format("a-folder.safetensors"), "folder 'a-folder.safetensors'"),
        (MODEL.format("items.csv"), ".safetensors or .json"),
        ("transform m.safetensors narrow.csv", "narrow.csv has no column 'y'"),
        ("transform m.safetensors wide.npy", "wide.npy has 7 features, the model expects 2"),
        ("transform m.safetensors items.csv --keep kind", "has no column 'kind'"),
        ("transform m.safetensors items.csv --keep name -o out.npy", "holds only numbers"),
        ("transform m.safetensors items.csv --drop kind", "has no column 'kind'"),
        ("transform m.safetensors items.csv --nearest 9", "only 3 others"),
        ("transform m.safetensors items.csv -o nowhere/out.csv", "there is no folder 'nowhere'"),
        ("transform m.safetensors items.csv -o a-folder.csv", "must name a file, got the folder"),
        ("transform m.safetensors items.csv -o out.txt", "the extension must be"),
        ("evaluate truncated.json items.csv -l name", "is not a complete sdpmetric model"),
        ("evaluate m.safetensors items.csv -l kind", "has no column 'kind'"),
        ("evaluate m.safetensors items.csv -l name -k 9", "only 3 rows"),
        (
            "evaluate m.safetensors items.csv --id name -t unknown.csv",
            "unknown.csv, line 2: 'negative'",
        ),
        ("evaluate m.safetensors items.csv --id name -t empty.csv", "empty.csv is empty"),
        ("evaluate m.safetensors items.csv --id name -t triplets.csv --report out.pdf", ".html"),
        ("evaluate m.safetensors items.csv -l name", "no row has another row of the same 'name'"),
        (
            "evaluate m.safetensors items.csv -l name -g others.csv",
            "no row has a row of others.csv",
        ),
        ("transform m.safetensors nan.parquet", "nan.parquet, row 2: 'x' is nan"),
        ("triplets labels one-class.csv -l kind", "all 3 rows are of the class"),
        ("triplets odd-one-out counts.csv --count times", "counts.csv, line 3: 'times' is 1.5"),
        ("triplets odd-one-out odd.csv --items items.csv --id name", "line 2: 'odd' is 'zebra'"),
        ("triplets rankings ranks.csv", "ranks.csv, line 4: found 'a', ['b']; expected a ranking"),
        ("triplets columns several.csv --items items.csv --id name", "line 3: 'negative_2' is"),
        ("inspect list.json", "it is not a JSON object"),
        ("inspect missing.json", "no file 'missing.json'"),
        ("inspect truncated.safetensors", "is not a complete sdpmetric model"),
        ("inspect m.safetensors --data narrow.csv", "has no column 'y'"),
        ("export truncated.json out.npy", "is not a complete sdpmetric model"),
        ("export m.safetensors ./m.safetensors", "is the model itself"),
        ("export m.safetensors out.xyz", "the extension must be one of .npy"),
        ("export m.safetensors out.faiss --factory HNSW1", "Faiss can build, such as"),
        (
            "export m.safetensors out.faiss --rows items.csv --factory IVF1000,Flat",
            "training points (4) should be at least as large as number of clusters (1000)",
        ),
        ("export m.safetensors nowhere/out.npy", "there is no folder 'nowhere'"),
        ("export m.safetensors out.faiss --rows narrow.csv", "has no column 'y'"),
        (
            "triplets odd-one-out odd.csv -o out.csv",
            "odd.csv, line 2: found 'a', 'b', 'c', 'zebra'",
        ),
        ("triplets odd-one-out items.csv -o out.csv", "items.csv has no column 'a'"),
        ("triplets odd-one-out empty.csv -o out.csv", "empty.csv is empty"),
        ("triplets odd-one-out odd.csv --items items.csv", "belong together"),
        ("triplets 2afc triplets.csv -o out.csv", "has no column 'a'"),
        ("triplets rankings odd.csv -o out.csv", "has no column 'anchor'"),
        ("triplets rankings odd.csv --columns a -o out.csv", "--columns must name 2 columns"),
        ("triplets clicks ragged.csv -o out.csv", "line 3 has 2 cells"),
        ("triplets clicks --skip-above clicks.csv -o out.csv", "clicked items among those shown"),
        ("triplets clicks clicks.csv -o out.csv", "clicks.csv has no column 'skipped'"),
        ("triplets columns items.csv -o out.csv", "items.csv has the columns"),
        ("triplets columns unknown.csv --items items.csv --id name", "'zebra'"),
        ("triplets columns triplets.csv -o nowhere/out.csv", "there is no folder 'nowhere'"),
        ("triplets labels items.csv -l kind", "has no column 'kind'"),
        ("suggest mixed.csv --id name -n 1", "'three'"),
        ("suggest wide.npy -n 1 --asked digits.csv", "digits.csv, line 2: 'anchor' is '9999"),
        (f"fit wine.csv -l cultivar --set x={'[' * 5000} -o out.json", "x: the value is nested"),
        (f"fit wine.csv -l cultivar --set C={'9' * 5000} -o out.json", "C must be a number"),
        ("fit half.jsonl -l name -o out.json", "no class has two members"),
        ("triplets odd-one-out many.csv --count times", "stands for 4,000,000,000 triplets"),
        ("suggest items.csv --id name -n 1 --asked unknown.csv", "'zebra'"),
        ("suggest items.csv --id name -n 1 -m truncated.json", "not a complete"),
        ("suggest items.csv --id name -n 99", "n is 99"),
        ("demo items.csv", "items.csv is a file"),
    ],
)
def test_bad_input(folder: Path, line: str, words: str) -> None:
    before = sorted(os.listdir())
    result = CliRunner().invoke(main, line.split())
    said = [text for text in result.stderr.splitlines() if not text.startswith("Warning:")]
    assert result.exit_code == 1
    assert words in result.stderr
    assert len(said) == 1
    assert said[0].startswith("Error: ")
    assert result.stdout == ""
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    "line",
    [
        "fit items.csv -o out.json",
        "fit items.csv -l a -t b -o out.json",
        "fit items.csv -l a",
        "fit items.csv -l a --search --start m.safetensors -o out.json",
        "transform m.safetensors items.csv --distances --nearest 2",
        "evaluate m.safetensors items.csv",
        "evaluate m.safetensors items.csv -t a -g b",
        "export m.safetensors out.npy --table t",
        "triplets labels items.csv",
        "triplets labels items.csv -l name --neighbors 0",
        "suggest items.csv -n 0",
        "learn items.csv",
    ],
)
def test_wrong_usage(line: str) -> None:
    assert CliRunner().invoke(main, line.split()).exit_code == 2


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this user may write anywhere")
def test_no_permission(folder: Path) -> None:
    Path("locked").mkdir(mode=0o500)
    line = "transform m.safetensors items.csv -o locked/out.csv"
    result = CliRunner().invoke(main, line.split())
    assert (result.exit_code, "cannot be written to" in result.stderr) == (1, True)


def test_missing_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdpmetric._support.optional.find_spec", lambda name: None)
    result = CliRunner().invoke(main, FIT.format("broken.parquet").split())
    assert result.exit_code == 1
    assert "pip install 'sdpmetric[parquet]'" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("fit ragged.csv -l name -o out.json", ""),
        ("transform truncated.safetensors items.csv", ""),
        ("transform m.safetensors -", "x,y\n1\n"),
        ("transform m.safetensors -", ""),
    ],
)
def test_real_processes(folder: Path, line: str, given: str) -> None:
    command = [sys.executable, "-m", "sdpmetric", *line.split()]
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert (done.stderr.count("\n"), done.stdout) == (1, "")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a shell of Unix")
def test_standard_input_that_is_closed(folder: Path) -> None:
    line = f"{sys.executable} -m sdpmetric transform m.safetensors - <&-"
    done = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "Error: standard input is closed, expected a table as CSV.\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes of Unix")
def test_a_pipe_is_no_file(folder: Path) -> None:
    """A reader would wait for a writer that never comes."""
    for name in ("p.csv", "p.json"):
        os.mkfifo(name)
    for line in ("suggest p.csv -n 1", "inspect p.json"):
        result = CliRunner().invoke(main, line.split())
        assert result.exit_code == 1
        assert "must name a regular file, got 'p." in result.stderr


def test_half_a_character_cannot_be_written(folder: Path) -> None:
    line = "transform m.safetensors x.jsonl --keep name -o out.csv"
    Path("x.jsonl").write_text('{"name": "\\ud800", "x": 1, "y": 2}\n')
    result = CliRunner().invoke(main, line.split())
    assert result.exit_code == 1
    assert "'\\ud800' cannot be written as utf-8" in result.stderr


@pytest.mark.slow
def test_reader_that_had_enough(folder: Path) -> None:
    write("many.npy", dict.fromkeys("xy", np.arange(200_000.0)))
    line = f"{sys.executable} -m sdpmetric transform m.safetensors many.npy | head -n 1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert done.stdout.startswith("triplet")
    assert "Traceback" not in done.stderr


def test_a_path_is_what_was_typed(folder: Path) -> None:
    Path("a.npy").mkdir()
    for line in ("fit a.npy -l x -o m.json", "inspect wine-train.csv"):
        result = CliRunner().invoke(main, line.split())
        assert result.exit_code == 1
        assert result.stderr.startswith("Error: The path must ")


STOPPED = """
import click
from sdpmetric.cli import main

@click.command("stop")
def stop():
    exec("import os, signal; os.kill(os.getpid(), signal.SIGTERM)\\nwhile True: pass")

main.add_command(stop)
main(["stop"])
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_sigterm_while_python_runs_a_text_had_the_exit_code_of_ctrl_c(tmp_path: Path) -> None:
    """Imports do that: dataclasses are made of texts. Only with ``python -m``."""
    (tmp_path / "stopped.py").write_text(STOPPED)
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    command = [sys.executable, "-m", "stopped"]
    environment = os.environ | {"PYTHONPATH": paths}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 143
    assert result.stderr == "Interrupted: nothing was written.\n"
