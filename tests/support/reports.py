"""Reports of the command line, as one would write them from the demo's tables."""

from __future__ import annotations

from click.testing import CliRunner

from sdpmetric.cli import main


def call(line: str) -> str:
    result = CliRunner().invoke(main, line.split())
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def write_report(kind: str) -> str:
    """page.html in this folder, from labels or from triplets; what was printed."""
    if kind == "labels":
        call("fit wine-train.csv -l cultivar -o m.json --tol 0.01")
        data = "wine-test.csv -l cultivar -g wine-train.csv"
    else:
        call("triplets odd-one-out answers.csv -o t.csv")
        call("fit songs.csv --id song -t t.csv -o m.json --tol 0.01")
        data = "songs.csv --id song -t t.csv"
    return call(f"evaluate m.json {data} --report page.html")
