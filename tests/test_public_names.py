"""Public names are there, though nothing is imported before it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import pytest

import sdpmetric

HEAVY = ("numpy", "scipy", "sklearn", "numba", "safetensors")


def loaded_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import sdpmetric",
        "from sdpmetric.cli import main",
        "from sdpmetric.deployment.exports import TARGETS",
    ],
)
def test_nothing_heavy_is_imported(code: str) -> None:
    assert not loaded_after(code) & set(HEAVY)


HELP = """
import click.testing
from sdpmetric.cli import main
assert click.testing.CliRunner().invoke(main, "{line}".split()).exit_code == 0
"""


@pytest.mark.slow
@pytest.mark.parametrize("line", ["--help", "fit --help", "--version"])
def test_help_starts_at_once(line: str) -> None:
    """What takes long is not imported: of ours the commands, of others click, and what it needs."""
    loaded = loaded_after(HELP.format(line=line))
    assert not loaded & set(HEAVY)
    ours = {name for name in loaded if name.startswith("sdpmetric.")}
    assert "sdpmetric.cli.commands.fit" in ours
    # The tables of losses and of export targets are data: --help lists them.
    light = ("sdpmetric.cli", "sdpmetric._", "sdpmetric.deployment", "sdpmetric.problem")
    assert not [name for name in ours if not name.startswith(light)]
    installed = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    bare = {name.partition(".")[0] for name in loaded_after("import click.testing")}
    assert installed - bare == {"sdpmetric"}


@pytest.mark.slow
@pytest.mark.parametrize("module", ["responses.tables", "persistence.model_file"])
def test_files_and_tables_need_no_compiler(module: str) -> None:
    loaded = loaded_after(f"import sdpmetric.{module}")
    assert "numba" not in loaded
    assert not [name for name in loaded if name.startswith("sdpmetric.solvers")]


def test_every_name_is_found_and_listed() -> None:
    for name in sdpmetric.__all__:
        assert getattr(sdpmetric, name).__name__ == name
    assert set(sdpmetric.__all__) <= set(dir(sdpmetric))
    with pytest.raises(AttributeError, match="no attribute 'metric_learning'"):
        sdpmetric.metric_learning  # noqa: B018


@pytest.mark.parametrize(
    "package", ["sdpmetric", "sdpmetric.deployment", "sdpmetric.deployment.exports"]
)
def test_no_module_hides_a_public_name(package: str) -> None:
    names = import_module(package).__all__
    assert not [name for name in names if find_spec(f"{package}.{name}")]


def hidden(package: ModuleType) -> set[str]:
    """Submodules of a package that are not what an attribute of their name gives."""
    found = set()
    for submodule in iter_modules(package.__path__):
        if submodule.name != "__main__":
            module = import_module(f"{package.__name__}.{submodule.name}")
            if getattr(package, submodule.name) is not module:
                found.add(module.__name__)
            if submodule.ispkg:
                found |= hidden(module)
    return found


def test_no_attribute_of_a_package_hides_a_submodule() -> None:
    """Else ``import sdpmetric.a.b as b`` and ``from sdpmetric.a import b`` are two things."""
    assert not hidden(sdpmetric)


def test_types_and_names_at_run_time_agree() -> None:
    tree = ast.parse(Path(sdpmetric.__file__).read_text(encoding="utf-8"))
    expected = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.level == 1
        and not str(node.module).startswith("_")
        for alias in node.names
    }
    assert expected == sdpmetric._HOMES
    assert sorted(expected) == sorted(sdpmetric.__all__)
