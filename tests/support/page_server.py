"""A server that can be killed: forks it, kills it by SIGKILL and forks it again, as it is told.

Run as a program with the folder of a study and a port. A line "kill" on standard input kills the
server, "start" starts it; each is confirmed by a line on standard output.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from sdpmetric.page.serve import Address, listen, serve
from tests.support.pages import new_study, words


def start(folder: Path, port: int, target: int) -> int:
    """The process id of a new server."""
    child = os.fork()
    if child == 0:
        address = Address(port=port)
        serve(new_study(folder, words(30), target=target), address, listen(address))
        os._exit(0)
    return child


def main() -> None:
    folder, port, target = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    child = start(folder, port, target)
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "kill":
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        elif line.strip() == "start":
            child = start(folder, port, target)
        print(line.strip(), flush=True)
    os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    main()
