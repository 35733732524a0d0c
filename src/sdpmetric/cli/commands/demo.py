"""`sdpmetric demo`: write example files for the examples of the guide."""

from __future__ import annotations

from typing import Any

import click

from ..given_once import Command
from ..options import as_json
from ..printing import print_json, say

STORIES = {
    "wine": """\
# A table with a label column: a metric for better nearest neighbours
sdpmetric fit wine-train.csv --label cultivar --search -o wine.safetensors
sdpmetric evaluate wine.safetensors wine-test.csv --label cultivar --gallery wine-train.csv
sdpmetric transform wine.safetensors wine-test.csv --keep cultivar -o mapped.csv
""",
    "songs": """\
# Songs, and listeners who said which of three is the odd one out: distances between songs
sdpmetric triplets odd-one-out answers.csv -o triplets.csv
sdpmetric triplets odd-one-out new-answers.csv -o new-triplets.csv
sdpmetric fit songs.csv --id song --triplets triplets.csv --search -o songs.safetensors
sdpmetric evaluate songs.safetensors songs.csv --id song --triplets new-triplets.csv
sdpmetric inspect songs.safetensors --data songs.csv
sdpmetric transform songs.safetensors songs.csv --id song --distances -o distances.csv
sdpmetric suggest songs.csv --id song --model songs.safetensors --asked triplets.csv -n 5
""",
    "ask": """\
# Open a page on which people pick the odd one out, and a dashboard that shows what is learned
sdpmetric ask shapes.csv --id shape --image file -o answers.db

# Afterwards, or while people answer
sdpmetric triplets odd-one-out answers.db -o triplets.csv
sdpmetric fit shapes.csv --id shape --drop file --triplets triplets.csv -o shapes.safetensors
""",
}
_BOTH = ("wine", "songs")  # written if no story is named; a page needs a person


@click.command(cls=Command)
@click.argument("words", nargs=-1, metavar="[wine|songs|ask] [FOLDER]")
@as_json
def demo(words: tuple[str, ...], as_json: bool) -> None:
    """Write example files and print commands to try.

    One story: "wine", a table with labels; "songs", answers of listeners; "ask", pictures to
    compare on a page. Its files go to FOLDER, or to a folder of the story's name. Without a story,
    those of wine and songs go to FOLDER  [default: sdpmetric-demo].
    """
    named = words[:1] if words[:1] and words[0] in STORIES else ()
    folders = words[len(named) :]
    if len(folders) > 1:
        raise click.UsageError(f"Got {len(folders)} folders, expected one.")
    folder = (*folders, *named, "sdpmetric-demo")[0]
    stories = named or _BOTH
    made: dict[str, Any] = {}
    if named == ("ask",):
        from ..demo_pictures import files

        made = files()
    else:
        from ..demo_data import tables

        text = "".join(STORIES[story] for story in stories)
        made = {name: table for name, table in tables().items() if name in text}
    _write_demo(folder, made, "\n".join(STORIES[story] for story in stories), as_json)


def _write_demo(folder: str, made: dict[str, Any], stories: str, as_json: bool) -> None:
    """Write tables, and texts of pictures, into a folder, and print commands."""
    from pathlib import Path

    from ..._support.files import replace_bytes, replacing_folder
    from ..tables.writing import write

    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise ValueError(f"{folder} is a file, expected the name of a folder.")
    # Before anything is written: files of the user's are not replaced, and none is half of a set.
    there = [name for name in made if (path / name).exists()]
    if there:
        raise ValueError(f"{path / there[0]} is there already, expected another folder.")

    def write_all(into: Path) -> None:
        for name, content in made.items():
            (into / name).parent.mkdir(exist_ok=True)
            if isinstance(content, str):
                replace_bytes(into / name, content.encode())
            else:
                write(str(into / name), content)

    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        write_all(path)
    else:  # all files at once: a kill leaves no half of a set
        with replacing_folder(path, (), folders=True) as temporary:
            write_all(temporary)
    shown = [name for name, content in made.items() if not isinstance(content, str)]
    if as_json:
        commands = [line for line in stories.splitlines() if line.startswith("sdpmetric")]
        print_json({"output": folder, "files": list(made), "commands": commands})
        return
    pictures = f" and {len(made) - len(shown)} pictures" if len(shown) < len(made) else ""
    said = f"Wrote {', '.join(shown)}{pictures} to {folder}."
    say(f"{said}\nTry:\n\ncd {folder}\n\n{stories}", nl=False)
