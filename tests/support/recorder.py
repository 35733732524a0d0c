"""A callback that keeps what it is told; when it asks to stop is up to its heirs."""

from __future__ import annotations

from typing import Any


class Recorder:
    def __init__(self, stop_after: int | None = None) -> None:
        self.calls: list[tuple[str, str]] = []
        self.stop_after = stop_after

    def setup(self, estimator: Any, context: Any) -> None:
        self.calls.append(("setup", context.task_name))

    def teardown(self, estimator: Any, context: Any) -> None:
        self.calls.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.calls.append(("begin", context.task_name))
