"""Look up the packages of lock files in a database of known vulnerabilities, by pip-audit.

    python .ci/audit.py .ci/requirements.txt ...

The exit code is 0 if nothing is known, 1 if a package is vulnerable, and 2 if no database was
reached: then nothing was audited.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

SERVICES = ("pypi", "osv")


def audited(lock: str, service: str) -> list[dict[str, Any]] | None:
    """The packages of a lock file, each with its vulnerabilities; None if there was no answer."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", lock, "--disable-pip"]
    options = ["--require-hashes", "--vulnerability-service", service, "--format", "json"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    try:
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        last = done.stderr.strip().splitlines()[-1:] or ["no output"]
        print(f"{service}: {last[0]}", file=sys.stderr)
        return None
    # Without a database pip-audit skips every package, and calls that a success.
    skipped = [package["skip_reason"] for package in found if "skip_reason" in package]
    if skipped:
        print(f"{service}: {len(skipped)} of {len(found)} skipped: {skipped[0]}", file=sys.stderr)
        return None
    return found


def main(locks: list[str]) -> int:
    """Audit every lock file by the first service that answers."""
    vulnerable = 0
    for lock in locks:
        answers = (audited(lock, service) for service in SERVICES)
        packages = next((answer for answer in answers if answer is not None), None)
        if packages is None:
            print(f"{lock}: no database of vulnerabilities could be reached; nothing was audited.")
            return 2
        for package in packages:
            for known in package.get("vulns", []):
                fixed = ", ".join(known["fix_versions"]) or "none"
                print(f"{lock}: {package['name']} {package['version']}: {known['id']}, ", end="")
                print(f"fixed in {fixed}")
                vulnerable += 1
        print(f"{lock}: {len(packages)} packages were looked up.")
    print(f"{vulnerable} known vulnerabilities.")
    return int(vulnerable > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
