"""The README is short, and its picture and its numbers are those of the project's own files."""

from __future__ import annotations

import json
import re
import runpy
from collections import defaultdict
from pathlib import Path
from statistics import mean

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PEERS = json.loads((ROOT / "benchmarks" / "results" / "peers.json").read_text(encoding="utf-8"))
COLUMNS = ["sdpmetric", "sdpmetric, CV", "pylmnn", "metric-learn LMNN", "sklearn NCA"]


def test_a_stranger_reads_it_in_a_minute() -> None:
    assert len(TEXT.splitlines()) <= 150
    assert len(TEXT.split()) <= 1000


def test_picture_is_small_and_says_what_the_readme_says(tmp_path: Path) -> None:
    words, name = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", TEXT)[0]
    assert len(words) > 40
    assert (ROOT / name).stat().st_size < 150_000
    script = runpy.run_path(str(ROOT / "examples" / "demo.py"))
    errors = script["picture"](tmp_path / "picture.png")
    printed = [float(share) / 100 for share in re.findall(r"([\d.]+) %", TEXT)[:2]]
    assert printed == pytest.approx([errors["Euclidean"], errors["sdpmetric"]], abs=0.0006)


def measured() -> dict[tuple[str, str], tuple[float, float]]:
    """Error in percent and CPU seconds, means over the splits, of fits that ended well."""
    runs = defaultdict(list)
    for run in PEERS["runs"]:
        if run["status"] == "ok":
            runs[run["data"], run["rival"]].append((100 * run["error"], run["cpu_seconds"]))
    return {key: (mean(e for e, _ in some), mean(s for _, s in some)) for key, some in runs.items()}


@pytest.mark.parametrize("data", [k for k, v in PEERS["data"].items() if v["rows"] >= 1000])
def test_table_is_that_of_the_benchmark(data: str) -> None:
    [line] = [line for line in TEXT.splitlines() if line.startswith(f"| {data} (")]
    head, euclidean, *cells = [cell.strip() for cell in line.strip("|").split("|")]
    about = PEERS["data"][data]
    assert head == f"{data} ({about['rows']:,} x {about['columns']:,})"
    expected = {"euclidean": 100 * mean(found["error"] for found in about["euclidean"].values())}
    numbers = {"euclidean": float(euclidean.strip("*"))}
    found = measured()
    for rival, cell in zip(COLUMNS, cells, strict=True):
        shown = re.fullmatch(r"\*{0,2}([\d.]+)\*{0,2}, ([\d.,]+) s", cell)
        assert (shown is not None) == ((data, rival) in found)
        if shown is not None:
            error, seconds = found[data, rival]
            expected[rival], numbers[rival] = error, float(shown[1])
            assert float(shown[2].replace(",", "")) == pytest.approx(seconds, rel=0.05)
            lowest = min(
                expected["euclidean"],
                min(e for (name, _), (e, _) in found.items() if name == data),
            )
            assert ("**" in cell) == (error == pytest.approx(lowest))
    assert numbers == pytest.approx(expected, abs=0.005)


def test_speed_is_that_of_the_benchmark() -> None:
    """Against the fastest peer that improves on Euclidean distance, where there is one."""
    found, ratios = measured(), []
    for data, about in PEERS["data"].items():
        before = 100 * mean(found["error"] for found in about["euclidean"].values())
        peers = [
            seconds
            for (name, rival), (error, seconds) in found.items()
            if name == data and not rival.startswith("sdpmetric") and error < before - 1e-9
        ]
        if about["rows"] >= 1000 and peers:
            ratios.append(min(peers) / found[data, "sdpmetric"][1])
    assert len(ratios) == 6
    printed = [float(n) for n in re.findall(r"takes ([\d.]+) to ([\d.]+) times our CPU", TEXT)[0]]
    assert printed == pytest.approx([min(ratios), max(ratios)], rel=0.05)


def test_cost_of_a_search_is_that_of_the_benchmark() -> None:
    found = measured()
    large = [data for data, about in PEERS["data"].items() if about["rows"] >= 1000]
    ratios = [
        found[data, "sdpmetric, CV"][1] / found[data, "sdpmetric"][1]
        for data in large
        if (data, "sdpmetric, CV") in found
    ]
    printed = [float(n) for n in re.findall(r"costs (\d+) to (\d+) fits", TEXT)[0]]
    assert printed == pytest.approx([min(ratios), max(ratios)], rel=0.05)
