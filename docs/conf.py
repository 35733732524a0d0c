"""The site. `make docs` builds it into output/docs and runs every example."""

from __future__ import annotations

import os
import re
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode, math_block
from latex2mathml.converter import convert
from sphinx.util import logging

DOCS = Path(__file__).parent
ROOT = DOCS.parent
BROUGHT = {  # pages whose text lives elsewhere in the project
    "benchmarks": ROOT / "benchmarks" / "README.md",
    "contributing": ROOT / "CONTRIBUTING.md",
    "changelog": ROOT / "CHANGELOG.md",
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([\w./-]+\.\w+)(#[^)\s]*)?\)")
LOADED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*\"")

project = "sdpmetric"
author = "The sdpmetric developers"
version = release = installed("sdpmetric")
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [] if (DOCS / "paper-results.md").exists() else ["paper-results.md"]
default_role = "py:obj"
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"  # as browsers draw it themselves: MathJax would come from a network
suppress_warnings = ["config.cache"]  # the gallery's settings hold a class

autodoc_typehints = "none"  # the docstrings name the types
autosummary_generate = True
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = f"sdpmetric {release}"
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
ALONE = ("index", "what-is-metric-learning", "how-it-works", "nonlinear", "glossary", "genindex")
html_sidebars = {page: [] for page in (*ALONE, "search")}  # no neighbouring pages to list
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_theme_options = {
    "footer_start": [],
    "footer_end": [],
    "header_links_before_dropdown": 5,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "show_toc_level": 2,
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("sdpmetric",),
    "backreferences_dir": "gallery/uses",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "capture_repr": (),  # show the picture, not the object's address
    "matplotlib_animations": False,
}


def bring(app: Any, page: str, source: list[str]) -> None:
    """Insert the text of pages that live elsewhere, and rewrite the links of all pages."""
    if app.env.doc2path(page).suffix == ".md":
        here = DOCS / f"{page}.md"
        file = BROUGHT.get(page, here)
        app.env.note_dependency(str(file))
        text = file.read_text(encoding="utf-8")
        source[0] = LINK.sub(lambda link: turned(link, file.parent, here.parent), text)


def turned(link: re.Match[str], folder: Path, here: Path) -> str:
    """Rewrite a link of a file in ``folder`` for a page in ``here``.

    A link to a file that does not exist yet, such as a page of results, becomes plain text.
    """
    image, words, target, place = link.groups()
    file = (folder / target).resolve()
    if file.is_relative_to(DOCS / "gallery"):
        return link[0]  # made by the build
    if not file.exists():
        return words
    pages = {path: DOCS / f"{page}.md" for page, path in BROUGHT.items()}
    seen = os.path.relpath(pages.get(file, file), here)
    return f"{image}[{words}]({seen}{place or ''})"


def visit_math(writer: Any, node: Any) -> None:
    """Write a formula as MathML."""
    display = "block" if isinstance(node, math_block) else "inline"
    writer.body.append(convert(node.astext(), display=display))
    raise SkipNode


def check_offline(app: Any, error: Exception | None) -> None:
    """Warn of anything that a page would load from a network."""
    if error is None and app.builder.format == "html":
        for page in sorted(Path(app.outdir).rglob("*.html")):
            for tag in LOADED.findall(page.read_text(encoding="utf-8")):
                logging.getLogger(__name__).warning("%s loads %s", page.name, tag)


def setup(app: Any) -> None:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))
    app.connect("source-read", bring)
    app.connect("build-finished", check_offline)
