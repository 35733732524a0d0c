"""Links of 1 Gbit/s and 1 ms each way between virtual network cards, for kernels without netem.

    python -m benchmarks.cluster.relay 4

makes four pairs of cards, ``sdpv0`` and ``sdpw0`` and so on. A frame that goes into one card of a
pair comes out of the other after the delay, one frame after the other at the speed of the link. The
cards vanish with the process.
"""

from __future__ import annotations

import fcntl
import heapq
import os
import select
import struct
import sys
import time
from itertools import count

__all__ = ["BYTES_A_SECOND", "DELAY", "relay"]

DELAY = 1e-3  # seconds, each way
BYTES_A_SECOND = 125e6
_TUNSETIFF = 0x400454CA
_TAP_WITHOUT_HEADER = 0x0002 | 0x1000  # IFF_TAP, IFF_NO_PI
_FRAME = 1 << 16


def card(name: str) -> int:
    """Make a virtual network card; frames are read from the file, and written to it."""
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(file, _TUNSETIFF, struct.pack("16sH", name.encode(), _TAP_WITHOUT_HEADER))
    return file


def relay(pairs: list[tuple[int, int]]) -> None:
    """Carry frames between the cards of each pair, for ever."""
    other = {a: b for pair in pairs for a, b in (pair, pair[::-1])}
    free = dict.fromkeys(other, 0.0)  # when the link into a card has sent all frames before
    waiting: list[tuple[float, int, int, bytes]] = []
    order = count()
    while True:
        patience = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for source in select.select(list(other), [], [], patience)[0]:
            try:
                frame = os.read(source, _FRAME)
            except BlockingIOError:
                continue
            target = other[source]
            sent = max(time.monotonic(), free[target]) + len(frame) / BYTES_A_SECOND
            free[target] = sent
            heapq.heappush(waiting, (sent + DELAY, next(order), target, frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, target, frame = heapq.heappop(waiting)
            try:
                os.write(target, frame)
            except OSError:  # the card is not up yet, or its queue is full: a frame is lost
                continue


def main() -> None:
    pairs = [(card(f"sdpv{i}"), card(f"sdpw{i}")) for i in range(int(sys.argv[1]))]
    print("ready", flush=True)
    relay(pairs)


if __name__ == "__main__":
    main()
