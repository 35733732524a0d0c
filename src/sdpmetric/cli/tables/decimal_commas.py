"""Numbers with a decimal comma, as spreadsheets of many countries write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_NUMBER = re.compile(r"\s*[+-]?\d*(?:,\d+)?(?:[eE][+-]?\d+)?\s*")
# 1,234 may be a number just above one, or one thousand; 0,234 and 1,5 can only be the former.
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(?:,\d{3})+\s*")


def with_points(cells: Sequence[Any], *, sure: bool) -> list[str] | None:
    """Cells whose decimal commas became points; None if the commas may mean something else.

    ``sure``: the cells are separated by semicolons, as they are where the comma is the decimal
    mark. Otherwise one cell at least must show what its comma means.

    >>> with_points(["1,5", "2"], sure=False), with_points(["1,500"], sure=False)
    (['1.5', '2'], None)
    """
    texts = [cell for cell in cells if isinstance(cell, str)]
    if len(texts) < len(cells) or not all(_NUMBER.fullmatch(text) for text in texts):
        return None
    commas = [text for text in texts if "," in text]
    if not commas or (not sure and all(_THOUSANDS.fullmatch(text) for text in commas)):
        return None
    return [text.replace(",", ".") for text in texts]
