"""Rendering pages: Mako, with every value escaped unless its template says otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.device.lazy import mako_lookup

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PAGES", "render"]

PAGES = Path(__file__).resolve().parent


def render(template: Path, values: Mapping[str, object]) -> str:
    """Fill in a page.

    Parameters
    ----------
    template : Path
        A file that inherits ``/frame.mako``, which needs a ``title`` and has what pages share.
    values : mapping
        A value for every name that the template uses.

    Returns
    -------
    str
        An HTML document without scripts or references to other files.
    """
    lookup = mako_lookup.TemplateLookup(
        directories=[str(template.parent), str(PAGES)],
        strict_undefined=True,
        default_filters=["h"],
        input_encoding="utf-8",
    )
    return str(lookup.get_template(f"/{template.name}").render_unicode(**values))
