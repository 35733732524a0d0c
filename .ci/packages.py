"""Try out what `python -m build` made, in environments of its own outside the project.

python .ci/packages.py wheel output/dist
python .ci/packages.py sdist output/dist [arguments for pytest]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

SMOKE = Path(__file__).with_name("smoke.py")
LARGEST = 1_250_000  # bytes of an sdist: source, tests and pages have a million
LARGEST_FILE = 250_000  # bytes of a file in it
DATA = (".png", ".jpg", ".jpeg", ".gif", ".npz", ".npy", ".parquet")
RESULTS = ("peers.json",)  # a test compares the README with it; all other results must stay out
# The site is not part of an sdist, so its pages cannot be required; another Python's path may lead
# back to the project.
UNSET = ("PYTHONPATH", "SDPMETRIC_BROWSER")


def try_wheel(dist: Path) -> None:
    """Install the wheel and nothing else, then run the smoke test in an empty folder."""
    wheel = only(dist, "*.whl")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = new_environment(folder / "venv")
        run(python, "-m", "pip", "install", "--quiet", wheel, cwd=folder)
        work = folder / "work"
        work.mkdir()
        shutil.copy(SMOKE, folder)
        run(python, "-I", folder / "smoke.py", wheel.name.split("-")[1], cwd=work)


def try_sdist(dist: Path, arguments: list[str]) -> None:
    """Unpack the sdist, install it with its test group, run its tests."""
    sdist = only(dist, "*.tar.gz")
    size = sdist.stat().st_size
    print(f"{sdist.name}: {size:,} bytes")
    if size > LARGEST:
        raise SystemExit(f"{sdist.name} has more than {LARGEST:,} bytes.")
    with tarfile.open(sdist) as archive:
        if unwanted := [member.name for member in archive if not belongs(member)]:
            raise SystemExit(f"{sdist.name} has data, pictures or results: {', '.join(unwanted)}.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        tree = folder / sdist.name.removesuffix(".tar.gz")
        python = new_environment(folder / "venv")
        what = ("--editable", ".[all]", "--group", "test")
        run(python, "-m", "pip", "install", "--quiet", *what, cwd=tree)
        run(python, "-m", "pytest", "-n", "auto", "-q", *arguments, cwd=tree)


def belongs(member: tarfile.TarInfo) -> bool:
    """Whether a file is source, a test or a page, and no data, picture or result."""
    path = Path(member.name)
    is_result = path.parent.name == "results" and path.name not in RESULTS
    is_data = path.suffix in DATA and "tests" not in path.parts
    return not (is_result or is_data or member.size > LARGEST_FILE)


def only(dist: Path, pattern: str) -> Path:
    [file] = dist.resolve().glob(pattern)
    return file


def new_environment(folder: Path) -> Path:
    """The Python of a new virtual environment. Its pip is new enough to read dependency groups."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip", cwd=folder)
    return python


def run(*command: str | Path, cwd: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in UNSET}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=environment, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)


if __name__ == "__main__":
    kind, dist, *rest = sys.argv[1:]
    if kind == "wheel":
        try_wheel(Path(dist))
    else:
        try_sdist(Path(dist), rest)
