"""Lock files that pin everything by hashes, and the audit of them."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
CI = ROOT / ".ci"
pytestmark = pytest.mark.skipif(not CI.exists(), reason=".ci is not part of an sdist")
LOCKS = ["requirements.txt", "requirements-oldest.txt", "requirements-publish.txt"]
GROUPS = {
    "requirements.txt": ("test", "lint", "docs", "release", "audit", "build"),
    "requirements-oldest.txt": ("test", "build"),
}


def entries(lock: str) -> list[str]:
    """The requirements of a lock file, each with its hashes on one line."""
    return (CI / lock).read_text(encoding="utf-8").replace("\\\n", "").splitlines()


def pinned(lock: str) -> dict[str, set[Version]]:
    """The versions of each package; several, if they differ by Python or system."""
    found: dict[str, set[Version]] = {}
    for entry in entries(lock):
        requirement = Requirement(entry.partition("--hash")[0].strip())
        [version] = requirement.specifier
        assert version.operator == "=="
        found.setdefault(canonicalize_name(requirement.name), set()).add(Version(version.version))
    return found


def declared(lock: str) -> list[Requirement]:
    """The requirements of pyproject.toml that a lock file must have."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups: dict[str, list[Any]] = project["dependency-groups"]

    def members(group: str) -> list[str]:
        given = [m if isinstance(m, str) else members(m["include-group"]) for m in groups[group]]
        return [text for m in given for text in ([m] if isinstance(m, str) else m)]

    texts = list(project["project"]["dependencies"])
    for extra in project["project"]["optional-dependencies"].values():
        texts += extra
    texts += [text for group in GROUPS[lock] for text in members(group)]
    return [r for r in map(Requirement, texts) if r.name != project["project"]["name"]]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_has_a_version_and_hashes(lock: str) -> None:
    assert pinned(lock)
    for entry in entries(lock):
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry)
        assert "://" not in entry


@pytest.mark.parametrize("lock", GROUPS)
def test_a_lock_has_all_that_is_declared(lock: str) -> None:
    """`make lock` is to be run when pyproject.toml has changed."""
    found = pinned(lock)
    for requirement in declared(lock):
        versions = found.get(canonicalize_name(requirement.name), set())
        here = requirement.marker is None or requirement.marker.evaluate()
        assert versions or not here, requirement
        assert all(requirement.specifier.contains(v, prereleases=True) for v in versions)


def test_the_oldest_versions_are_the_declared_ones() -> None:
    found = pinned("requirements-oldest.txt")
    lowest: dict[str, Version] = {}
    for requirement in declared("requirements-oldest.txt"):
        for bound in requirement.specifier:
            if bound.operator == ">=":
                name, version = canonicalize_name(requirement.name), Version(bound.version)
                lowest[name] = max(version, lowest.get(name, version))
    exact = [name for name, version in lowest.items() if found.get(name) == {version}]
    # Others have no wheel for that version, or another package asks for a newer one.
    assert len(exact) > 0.7 * len(lowest)
    assert {"numpy", "scipy", "scikit-learn", "threadpoolctl"} <= set(exact)


def packages(**reasons: Any) -> str:
    """What pip-audit prints about one package."""
    return json.dumps({"dependencies": [{"name": "a", "version": "1", **reasons}]})


VULNERABLE = [{"id": "CVE-1", "fix_versions": ["2"]}]


@pytest.mark.parametrize(
    ("answers", "expected", "said"),
    [
        ({"pypi": packages(vulns=[])}, 0, "1 packages were looked up.\n0 known vulnerabilities."),
        ({"pypi": packages(vulns=VULNERABLE)}, 1, "a 1: CVE-1, fixed in 2"),
        ({"pypi": "", "osv": packages(vulns=[])}, 0, "0 known vulnerabilities."),
        ({"pypi": packages(skip_reason="no"), "osv": ""}, 2, "nothing was audited"),
        ({"pypi": "", "osv": ""}, 2, "no database of vulnerabilities could be reached"),
        ({"pypi": "{}", "osv": packages(skip_reason="offline")}, 2, "nothing was audited"),
    ],
)
def test_the_audit_says_what_it_found(
    answers: dict[str, str],
    expected: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No answer is no audit: exit code 2, never 0."""
    spec = spec_from_file_location("audit", CI / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    audit: Any = module_from_spec(spec)
    spec.loader.exec_module(audit)

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        service = command[command.index("--vulnerability-service") + 1]
        return SimpleNamespace(stdout=answers[service], stderr="no route to host")

    monkeypatch.setattr(audit.subprocess, "run", run)
    assert audit.main(["lock.txt"]) == expected
    assert said in capsys.readouterr().out
