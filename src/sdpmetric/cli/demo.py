"""`sdpmetric demo`: example files for both stories of the README."""

from __future__ import annotations

import click

from .options import as_json, say_json

__all__ = ["STORIES", "demo"]

STORIES = """\
# 1. A table with a label column: a metric for better nearest neighbours
sdpmetric fit wine-train.csv --label cultivar --search -o wine.safetensors
sdpmetric evaluate wine.safetensors wine-test.csv --label cultivar --gallery wine-train.csv
sdpmetric transform wine.safetensors wine-test.csv --keep cultivar -o mapped.csv

# 2. Songs, and listeners who said which of three is the odd one out: distances between songs
sdpmetric triplets odd-one-out answers.csv -o triplets.csv
sdpmetric triplets odd-one-out new-answers.csv -o new-triplets.csv
sdpmetric fit songs.csv --id song --triplets triplets.csv --search -o songs.safetensors
sdpmetric evaluate songs.safetensors songs.csv --id song --triplets new-triplets.csv
sdpmetric inspect songs.safetensors --data songs.csv
sdpmetric transform songs.safetensors songs.csv --id song --distances -o distances.csv
sdpmetric suggest songs.csv --id song --model songs.safetensors --asked triplets.csv -n 5
"""


@click.command()
@click.argument("folder", default="sdpmetric-demo")
@as_json
def demo(folder: str, as_json: bool) -> None:
    """Write example files, and commands to try."""
    from pathlib import Path

    from .demo_data import tables
    from .writing import write

    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise ValueError(f"{folder} is a file, expected the name of a folder.")
    made = tables()
    there = [name for name in made if (path / name).exists()]
    if there:
        raise ValueError(f"{path / there[0]} is there already, expected another folder.")
    path.mkdir(parents=True, exist_ok=True)
    for name, columns in made.items():
        write(str(path / name), columns)
    if as_json:
        commands = [line for line in STORIES.splitlines() if line.startswith("sdpmetric")]
        say_json({"output": folder, "files": list(made), "commands": commands})
        return
    click.echo(f"Wrote {', '.join(made)} to {folder}.\nTry:\n\ncd {folder}\n\n{STORIES}", nl=False)
