"""How Sphinx makes a site of the pages: ``make docs``.

Pages link to files beside and above this folder, so the whole checkout is the source and this list
says which of its pages are meant. The reference is made of the docstrings of every public name.
"""

import importlib.metadata
import inspect
import re
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import nested_parse_with_titles

import clgraph

project = "clgraph"
author = "the clgraph developers"
release = importlib.metadata.version("clgraph")
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
root_doc = "docs/site"
include_patterns = [
    "docs/*.md",
    "docs/*.rst",
    "*.md",
    "bench/README.md",
    "bench/results/probes/README.md",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4
html_theme = "furo"
html_title = "clgraph"
html_show_copyright = html_show_sourcelink = False
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
suppress_warnings = ["misc.highlighting_failure"]  # kernels and templates are shown too
FIRST = ("clgraph.graph", "clgraph.device", "clgraph.algorithms")


class PublicNames(SphinxDirective):
    """All public names, by the part of the library they come from."""

    def run(self) -> list[nodes.Node]:
        """Make sections of what autodoc says of each name."""
        parts: dict[str, list[str]] = {}
        for name in clgraph.__all__:
            found = getattr(clgraph, name)
            home = found.__name__ if inspect.ismodule(found) else found.__module__
            depth = 3 if home.startswith("clgraph.algorithms.") else 2
            parts.setdefault(".".join(home.split(".")[:depth]), []).append(name)
        lines: list[str] = []
        for part in sorted(parts, key=_place):
            title = re.split(r"[.:,\n]", importlib.import_module(part).__doc__ or part)[0]
            lines += [title, "-" * len(title), ""]
            for name in parts[part]:
                lines += [*_documented(name), ""]
        section = nodes.section()
        section.document = self.state.document
        nested_parse_with_titles(self.state, StringList(lines, "public names"), section)
        return section.children


def _place(part: str) -> tuple[int, str]:
    first = [place for place, name in enumerate(FIRST) if part.startswith(name)]
    return (first or [len(FIRST)])[0], part


def _documented(name: str) -> list[str]:
    found = getattr(clgraph, name)
    if inspect.ismodule(found):
        elsewhere = sorted(set(clgraph.__all__) & set(dir(found)))
        lines = [f".. automodule:: {found.__name__}", "   :members:"]
        return [*lines, f"   :exclude-members: {', '.join(elsewhere)}"] if elsewhere else lines
    if inspect.isclass(found):
        return [f".. autoclass:: clgraph.{name}", "   :members:"]
    return [f".. autofunction:: clgraph.{name}"]


def _escape(
    _app: Sphinx, _what: str, _name: str, _found: object, _options: object, lines: list[str]
) -> None:
    """Leave signs of the text alone that Sphinx takes for markup: docstrings have none but code."""
    for place, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(``.*?``)", line)
            parts[::2] = [re.sub(r"[|]|\*\*", _escaped, part) for part in parts[::2]]
            lines[place] = "".join(parts)


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"\\{sign}" for sign in found.group())


def setup(app: Sphinx) -> None:
    """Tell Sphinx of the directive, and have the site's own address lead to its first page."""
    app.add_directive("public-names", PublicNames)
    app.connect("autodoc-process-docstring", _escape, priority=100)  # before numpydoc
    app.connect("build-finished", _write_entry)


def _write_entry(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        text = f'<meta http-equiv="refresh" content="0; url={root_doc}.html">\n'
        Path(app.outdir, "index.html").write_text(text, encoding="utf-8")
