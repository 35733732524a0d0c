"""Text for messages and pictures."""

from __future__ import annotations


def shorten(text: str, most: int) -> str:
    """At most ``most`` characters of a text; an ellipsis stands for the rest.

    >>> shorten("flavanoids", 6)
    'flava…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def visible(text: str, keep: str = "") -> str:
    r"""A text for a terminal or a page: characters that cannot be seen stand as escapes.

    Text from a file may hold sequences that move the cursor, forge lines or turn the direction of
    writing. Characters in ``keep`` stay.

    >>> visible("price\x1b[2J"), visible("a\tb\nc", keep="\n")
    ('price\\x1b[2J', 'a\\tb\nc')
    """
    if text.isprintable():  # nearly always
        return text
    # repr escapes by the same rule; it would also add quotes and double backslashes.
    return "".join(c if c.isprintable() or c in keep else repr(c)[1:-1] for c in text)
