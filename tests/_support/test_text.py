"""Text from files, as people may see it."""

from __future__ import annotations

import sys

from sdpmetric._support.text import visible


def test_no_character_that_a_terminal_obeys_is_left() -> None:
    """Every character there is: it stays if it can be seen, and becomes an escape if not."""
    for code in range(sys.maxunicode + 1):
        shown = visible(chr(code))
        expected = chr(code) if chr(code).isprintable() else f"{chr(code)!r}"[1:-1]
        assert shown == expected
        assert shown.isprintable()


def test_words_of_any_language_stay() -> None:
    for text in ("Müller", "日本語", "naïve", "🙂", "a b", "\\x1b"):
        assert visible(text) == text


def test_escapes() -> None:
    assert visible("\x1b[2J\x9b31m\u202e\x07\r\ud800") == "\\x1b[2J\\x9b31m\\u202e\\x07\\r\\ud800"
    assert visible("a\nb\tc", keep="\n") == "a\nb\\tc"
