"""`Stimuli`: the items of a study, their features, and what is shown of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from .._support.typing import Floats
from ..learning.estimators.coordinates import Coordinates

# Types that browsers show. The server sends no file of another type.
MEDIA_TYPES = {
    "image": {
        ".avif": "image/avif",
        ".gif": "image/gif",
        ".jpeg": "image/jpeg",
        ".jpg": "image/jpeg",
        ".png": "image/png",
        ".svg": "image/svg+xml",
        ".webp": "image/webp",
    },
    "audio": {
        ".flac": "audio/flac",
        ".m4a": "audio/mp4",
        ".mp3": "audio/mpeg",
        ".ogg": "audio/ogg",
        ".wav": "audio/wav",
    },
    "video": {".mp4": "video/mp4", ".webm": "video/webm"},
}
SHOWN = (*MEDIA_TYPES, "text")


@dataclass(frozen=True, eq=False)
class Stimuli:
    """The items of a study.

    Parameters
    ----------
    ids : the id of each item
    X : (N, D) features
    names : the names of the features
    shown : "image", "audio", "video" or "text"
    contents : of each item: the text to show, or the path of a file
    descriptions : of each item, for people who hear the page; empty: items are numbered. Ids may
        give away what a study is about, so that they are never shown
    """

    ids: Sequence[str]
    X: Floats
    names: Sequence[str]
    shown: str
    contents: Sequence[str]
    descriptions: Sequence[str] = ()

    def __post_init__(self) -> None:
        if len(self.ids) < 3:
            raise ValueError(f"The study has {len(self.ids)} items, expected at least three.")
        if len(np.unique(self.X, axis=0)) < 3:
            raise ValueError(
                "Fewer than three items have features of their own, expected items that differ."
            )
        if self.shown != "text":
            self._check_files()

    def _check_files(self) -> None:
        known = MEDIA_TYPES[self.shown]
        for path in self.contents:
            if Path(path).suffix.lower() not in known:
                raise ValueError(
                    f"{path} cannot be shown as {self.shown}; the extension must be one of "
                    f"{', '.join(known)}."
                )
        missing = [path for path in self.contents if not Path(path).is_file()]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            raise ValueError(
                f"{len(missing)} of {len(self.contents)} files {verb} missing; the first is "
                f"{missing[0]}."
            )

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each id."""
        return {one: row for row, one in enumerate(self.ids)}

    @cached_property
    def coordinates(self) -> Coordinates:
        """The map to columns of unit deviation: features of a table have different units."""
        return Coordinates("standard").fit(self.X)

    @cached_property
    def standard(self) -> Floats:
        """(N, D) features in units of their deviations; "Euclidean" on the dashboard is of these.

        Constant columns stay as they are. They count for no distance.
        """
        return np.asarray(self.coordinates.transform(self.X), dtype=np.float64)

    @property
    def n_questions(self) -> int:
        """How many sets of three items there are."""
        return math.comb(len(self.ids), 3)

    def media_type(self, row: int) -> str:
        """The media type of an item's file."""
        return MEDIA_TYPES[self.shown][Path(self.contents[row]).suffix.lower()]
