"""An engine of the workers of a Dask cluster, by the current client.

Results are futures with a lineage: the scheduler knows how each was made, so what dies with a
worker is computed again. That is why nothing is scattered (scattered data has no lineage), no task
is bound to a worker, and tasks do not talk to each other. An argument that many tasks share is one
task result, because a copy of it in every task would go through the scheduler each time.

Dask is imported here and in `dask_arrays`, and only once there is a client or a Dask array.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from time import monotonic, sleep
from typing import Any, Protocol
from uuid import uuid4
from weakref import ref

from .._version import __version__
from .blas import one_blas_thread
from .engine import Engine, LostResultsError, same, tree
from .threads import Threads

__all__ = ["DaskClient", "current_engine"]

_RECONNECT = 5.0  # seconds that a client gets to find its scheduler again
_SETTLE, _POLL = 0.5, 0.05


def current_engine() -> Engine:
    """The workers of the current Dask client, or the threads of this process without one."""
    distributed: Any = sys.modules.get("distributed")
    if distributed is None:
        return Threads()
    try:
        return DaskClient(distributed.default_client())
    except ValueError:  # no client
        return Threads()


class Source(Protocol):
    """An array of the user that tasks read."""

    def check_failed(self, error: Exception) -> None:
        """Raise an error that names a chunk, if the chunk is the reason of this error."""


class DaskClient:
    """An `Engine` on a Dask client; all its workers must have this version of sdpmetric."""

    def __init__(self, client: Any) -> None:
        self.client, self.epoch = client, 0
        self._address = client.scheduler.address
        self._id, self._numbers = uuid4().hex[:8], count()
        self._sources: list[ref[Source]] = []  # weak: an engine must not keep a user's rows
        self._check_versions()

    @property
    def n_workers(self) -> int:
        return max(1, int(sum(self.client.nthreads().values())))

    def map(self, work: Callable[..., Any], parts: Sequence[Any], *shared: Any) -> list[Any]:
        with self._translated():
            sent = [self._one(value) for value in shared]
            futures: list[Any] = self.client.map(
                _task,
                parts,
                key=[self._key(work) for _ in parts],
                pure=False,
                work=work,
                shared=sent,
            )
            return futures

    def reduce(self, merge: Callable[[list[Any]], Any], parts: Sequence[Any]) -> Any:
        def submitted(group: list[Any]) -> Any:
            return self.client.submit(_task, group, merge, [], key=self._key(merge), pure=False)

        with self._translated():
            return tree(submitted, parts)

    def collect(self, results: Sequence[Any]) -> list[Any]:
        with self._translated():
            values: list[Any] = self.client.gather(list(results))
            return values

    def computed(self, delayed: Sequence[Any]) -> list[Any]:
        """Futures of the blocks of a user's Dask array."""
        with self._translated():
            futures: list[Any] = self.client.compute(list(delayed))
            return futures

    def add_source(self, source: Source) -> None:
        """Let an array explain errors of tasks: Dask does not say which chunk failed."""
        self._sources.append(ref(source))

    def _one(self, value: Any) -> Any:
        """A shared argument as one task result."""
        if hasattr(value, "key") and hasattr(value, "client"):
            return value  # a future
        return self.client.submit(same, value, key=self._key(same), pure=False)

    def _key(self, work: Callable[..., Any]) -> str:
        """A name that the dashboard groups by the function: ``sdpmetric-margins-1f6c-12``."""
        name = work.__name__.strip("_").replace("_", "-")
        return f"sdpmetric-{name}-{self._id}-{next(self._numbers)}"

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Report futures that died with the connection, or with too many workers, as lost.

        An error of a chunk of the user's arrays names the chunk.
        """
        import distributed

        try:
            yield
        except (distributed.CancelledError, distributed.KilledWorker) as error:
            self.epoch += 1
            self._wait_for_connection()
            raise LostResultsError(
                f"results on the Dask cluster were lost again and again ({error}). Arrays that a "
                "client has persisted are lost with its connection; workers that die again and "
                "again may need more memory."
            ) from error
        except Exception as error:
            for source in [alive for known in self._sources if (alive := known()) is not None]:
                source.check_failed(error)
            raise

    def _wait_for_connection(self) -> None:
        """Wait until the client has found its scheduler again, or take another client."""
        import distributed

        end = monotonic() + _RECONNECT
        sleep(_SETTLE)  # the client may not have noticed yet, and the scheduler has to tidy up
        while self.client.status != "running":
            if self.client.status == "closed" or monotonic() > end:
                # The handshake of a client that connects again can fail for good
                # (an AssertionError in distributed): a new client of the same scheduler can do it.
                self.client = distributed.Client(
                    self._address, security=self.client.security, set_as_default=False
                )
                return
            sleep(_POLL)

    def _check_versions(self) -> None:
        """Raise RuntimeError unless every worker can import this version of sdpmetric."""
        # `eval`, because a function of ours cannot be loaded where sdpmetric is missing.
        found = self.client.run(eval, "__import__('sdpmetric').__version__", on_error="return")
        for worker, version in found.items():
            if isinstance(version, ImportError):
                raise RuntimeError(
                    f"the Dask worker {worker} cannot import sdpmetric ({version}); expected "
                    f"sdpmetric {__version__} on every worker."
                )
            if isinstance(version, str) and version != __version__:
                raise RuntimeError(
                    f"the Dask worker {worker} has sdpmetric {version}, and this process has "
                    f"{__version__}; expected the same version everywhere."
                )


def _task(part: Any, work: Callable[..., Any], shared: list[Any]) -> Any:
    # A worker runs as many tasks as it has threads: BLAS threads would come on top of these.
    with one_blas_thread():
        return work(part, *shared)
