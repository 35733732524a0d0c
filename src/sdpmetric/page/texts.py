"""Texts of a study: Markdown from files, as HTML that cannot hold a script."""

from __future__ import annotations

from markdown_it import MarkdownIt

TEXTS = ("consent", "instructions", "practice", "debriefing")


def as_html(text: str) -> str:
    """Markdown as HTML; tags in the text are shown as text, and links have safe addresses only."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    html: str = renderer.render(text)
    return html
