"""Markdown to one HTML file that needs nothing beside it: pictures become data URIs."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path

import markdown

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff; }
h1, h2, h3 { line-height: 1.2; margin-top: 2em; }
table { border-collapse: collapse; font-size: 0.82rem; font-variant-numeric: tabular-nums;
        display: block; overflow-x: auto; margin: 1em 0; }
th, td { padding: 0.25em 0.7em; border-bottom: 1px solid #ddd; vertical-align: bottom; }
td:first-child, th:first-child { white-space: nowrap; position: sticky; left: 0; background: #fff; }
tr:hover td { background: #f5f5f5; }
img { max-width: 100%; }
code { background: #f2f2f2; padding: 0 0.2em; }
"""
FRAME = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head>
<body>
{body}
</body>
</html>
"""


def html(text: str, folder: Path) -> str:
    """`folder` is where the Markdown's relative paths begin."""
    title = text.splitlines()[0].removeprefix("# ")
    body = markdown.markdown(text, extensions=["tables"])
    return FRAME.format(title=title, style=STYLE, body=embedded(body, folder))


def embedded(body: str, folder: Path) -> str:
    def data_uri(match: re.Match[str]) -> str:
        picture = b64encode((folder / match[1]).read_bytes()).decode()
        return f'src="data:image/png;base64,{picture}"'

    return re.sub(r'src="([^":]+\.png)"', data_uri, body)
