"""The bar of a search: settings tried, and a part of one for each split that it was tried on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._support.progress import Stages
from .search import OnEach

__all__ = ["SettingsBar"]


class SettingsBar:
    """Shows how many of ``total`` settings were tried; silent without ``stages``."""

    def __init__(self, stages: Stages | None, total: int) -> None:
        self.show = None if stages is None else stages.stage("settings tried")
        self.done, self.total, self.part = 0, total, 0.0

    def tried(self, done: int) -> None:
        """Count whole settings."""
        self.done, self.part = done, 0.0
        if self.show is not None:
            self.show(done, self.total, f"{done} of {self.total}")

    def counting(self, on_each: OnEach) -> OnEach:
        """The same way to work on all splits, which also moves the bar after each of them."""
        show = self.show
        if show is None:
            return on_each

        def run(work: Callable[[Any], Any], splits: Sequence[Any]) -> list[Any]:
            def counted(split: Any) -> Any:
                made = work(split)
                self.part = min(self.part + 1.0 / len(splits), 1.0)
                if self.part < 1.0:  # a whole setting is counted once its scores are complete
                    show(self.done + self.part, self.total, f"{self.done} of {self.total}")
                return made

            return on_each(counted, splits)

        return run
