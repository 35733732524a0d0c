"""Workers in network namespaces of their own, with the bandwidth and latency of a real network."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["NotAllowedError", "local", "namespaces", "sent_bytes"]

_HOST = "10.77.0.1"
_PORT = 8790
_NETEM = ("netem", "delay", "1ms", "rate", "1gbit")
_LINKS = "1 Gbit/s, 1 ms each way"


class NotAllowedError(RuntimeError):
    """The system does not let us make networks."""


@contextmanager
def local(n_workers: int) -> Iterator[Any]:
    """A client of a LocalCluster of processes with one thread each."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address=":0",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextmanager
def namespaces(n_workers: int) -> Iterator[tuple[Any, str]]:
    """A client of workers in namespaces, joined by a bridge, and the network that they have."""
    import distributed

    if os.geteuid() != 0:
        raise NotAllowedError("network namespaces need root")
    dask = [str(Path(sys.executable).with_name("dask"))]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with ExitStack() as stack:
        _ip("link", "add", "sdpbr", "type", "bridge")
        stack.callback(_undo, "link", "del", "sdpbr")
        _ip("addr", "add", f"{_HOST}/24", "dev", "sdpbr")
        _ip("link", "set", "sdpbr", "up")
        for i in range(n_workers):
            _ip("netns", "add", f"sdp{i}")
            stack.callback(_undo, "netns", "del", f"sdp{i}")
            _ip("-n", f"sdp{i}", "link", "set", "lo", "up")
        network = _join(n_workers, stack)
        address = [f"{_HOST}:{_PORT}", "--no-dashboard"]
        scheduler = [*dask, "scheduler", "--host", _HOST, "--port", str(_PORT), "--no-dashboard"]
        stack.callback(_end, subprocess.Popen(scheduler, **quiet))
        time.sleep(5.0)
        for i in range(n_workers):
            inside = ["ip", "netns", "exec", f"sdp{i}", *dask, "worker", *address]
            options = ["--nthreads", "1", "--memory-limit", "0", "--no-nanny"]
            stack.callback(_end, subprocess.Popen([*inside, *options], **quiet))
        client = stack.enter_context(distributed.Client(f"tcp://{_HOST}:{_PORT}", timeout=60))
        client.wait_for_workers(n_workers, timeout=120)
        yield client, network


def sent_bytes(n_workers: int) -> int:
    """Bytes that went over the links of all namespaces so far, in both directions."""
    total = 0
    for i in range(n_workers):
        for kind in ("rx_bytes", "tx_bytes"):
            total += int(Path(f"/sys/class/net/sdpv{i}/statistics/{kind}").read_text())
    return total


def _join(n_workers: int, stack: ExitStack) -> str:
    """Link all namespaces to the bridge; return what the network then is."""
    inside = ("ip", "netns", "exec")
    try:
        _run(*inside, "sdp0", "tc", "qdisc", "add", "dev", "lo", "root", *_NETEM)
        _run(*inside, "sdp0", "tc", "qdisc", "del", "dev", "lo", "root")
        netem = True
    except NotAllowedError:  # this kernel has none
        netem = False
        _start_relay(n_workers, stack)
    for i in range(n_workers):
        host, guest, name = f"sdpv{i}", f"sdpw{i}", f"sdp{i}"
        if netem:
            _ip("link", "add", host, "type", "veth", "peer", "name", guest)
        _ip("link", "set", guest, "netns", name)
        _ip("link", "set", host, "master", "sdpbr", "up")
        _ip("-n", name, "addr", "add", f"10.77.0.{10 + i}/24", "dev", guest)
        _ip("-n", name, "link", "set", guest, "up")
        if netem:
            _run("tc", "qdisc", "replace", "dev", host, "root", *_NETEM)
            _run(*inside, name, "tc", "qdisc", "replace", "dev", guest, "root", *_NETEM)
    return f"{_LINKS} ({'netem' if netem else 'a relay of virtual cards'})"


def _start_relay(n_workers: int, stack: ExitStack) -> None:
    command = [sys.executable, "-m", "benchmarks.cluster.relay", str(n_workers)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stack.callback(_end, process)
    assert process.stdout is not None
    assert process.stderr is not None
    if process.stdout.readline() != b"ready\n":
        raise NotAllowedError(process.stderr.read().decode().strip().rpartition("\n")[2])


def _ip(*arguments: str) -> None:
    _run("ip", *arguments)


def _undo(*arguments: str) -> None:
    with suppress(NotAllowedError):
        _ip(*arguments)


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotAllowedError(f"{' '.join(command)}: {error}") from None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
