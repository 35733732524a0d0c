"""Keep BLAS to one thread while fits run, and give it back its threads after the last of them.

BLAS threads wait for one another by spinning, so on skinny products, or if another process wants a
core, two of them can be several times slower than one. And a process that is forked while several
threads of OpenBLAS multiply hangs at its next product: the child inherits a lock and not the thread
that would open it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import RLock, get_ident

from threadpoolctl import ThreadpoolController

__all__ = ["allowed_threads", "cores", "one_blas_thread"]


class _Limit:
    """The fits that keep BLAS to one thread now, and the threads that it had before them.

    ``fits`` has the thread in which each of them runs. ``before`` is None while BLAS is as the user
    left it. The limit belongs to the process: the first of several fits sets it, and the last one
    lifts it, perhaps from another thread.
    """

    def __init__(self) -> None:
        self.lock = RLock()
        self.fits: dict[object, int] = {}
        self.before: list[int] | None = None

    def apply(self) -> None:
        """Set or lift the limit, as the fits demand; also where an earlier call was cut short."""
        if self.fits and self.before is None:
            self.before = [library.num_threads for library in _blas().lib_controllers]
        if self.before is None:
            return
        for library, threads in zip(_blas().lib_controllers, self.before, strict=True):
            _set_threads(library, 1 if self.fits else threads)
        if not self.fits:
            self.before = None


_limit = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread until the last concurrent fit ends, whatever ends it."""
    fit = object()
    try:
        with _limit.lock:
            _limit.fits[fit] = get_ident()
            _limit.apply()
        yield
    finally:
        # Ctrl-C can come at any line, also here: then the inner `finally` does it all again.
        try:
            _release(fit)
        finally:
            _release(fit)


def allowed_threads() -> int:
    """Return how many threads BLAS may use, not counting the limit of our own fits."""
    with _limit.lock:
        now = _limit.before or [library.num_threads for library in _blas().lib_controllers]
        return min([cores(), *now])


def cores() -> int:
    """Return the number of cores that this process may use."""
    # A container or taskset may allow fewer cores than the machine has; other systems do not say.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _release(fit: object) -> None:
    with _limit.lock:
        _limit.fits.pop(fit, None)
        _limit.apply()


def _set_threads(library: object, threads: int) -> None:
    """Set the threads of a library from any thread of the process."""
    # From threadpoolctl 3.8 on, the first thread that sets a limit controls OpenBLAS, and calls
    # from other threads do nothing. But the first fit and the last may run in different threads.
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(threads)  # type: ignore[attr-defined]
    release(force=True)


@cache  # the controller inspects every library that the process has loaded
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def _in_child() -> None:
    """Forget the fits of other threads, which do not exist in a forked child."""
    _limit.lock = RLock()
    _limit.fits = {fit: thread for fit, thread in _limit.fits.items() if thread == get_ident()}
    _limit.apply()


if hasattr(os, "register_at_fork"):
    # A fork waits until no thread sets a limit: the child would inherit locks that stay locked.
    os.register_at_fork(
        before=lambda: _limit.lock.acquire(),
        after_in_parent=lambda: _limit.lock.release(),
        after_in_child=_in_child,
    )
