"""`Deadline`: when a fit began and when it must end, made once and handed down to all its parts."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

__all__ = ["GRACE", "Deadline", "OutOfTimeError"]

GRACE = 0.25  # the share of a time limit that a certificate may take beyond it


class OutOfTimeError(Exception):
    """Raised by `Deadline.check`, to end work of several loops at once."""


@dataclass(frozen=True)
class Deadline:
    """The end of a time limit; without a limit it never comes.

    Attributes
    ----------
    began : when the work began, by the monotonic clock
    limit : seconds from there to the end
    """

    # By name and not as the function itself: a test may put another clock in its place.
    began: float = field(default_factory=lambda: time.monotonic())
    limit: float = math.inf

    def limited(self, seconds: float | None) -> Deadline:
        """The same beginning with another limit, None for none."""
        return replace(self, limit=math.inf if seconds is None else seconds)

    def shortened(self, share: float) -> Deadline:
        """The same beginning with a share of the limit: the rest is for later work."""
        return replace(self, limit=share * self.limit)

    def extended(self, share: float) -> Deadline:
        """A deadline that leaves a share of the limit from now on, if the rest is less."""
        return replace(self, limit=max(self.limit, self.seconds + share * self.limit))

    def check(self) -> None:
        """Raise `OutOfTimeError` if the end has come."""
        if self.over:
            raise OutOfTimeError

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.began

    @property
    def left(self) -> float:
        """Seconds to the end, at least 0."""
        return max(0.0, self.limit - self.seconds)

    @property
    def over(self) -> bool:
        """Whether the end has come."""
        return self.seconds >= self.limit
