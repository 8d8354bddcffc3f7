"""Finding and rendering kernel sources."""

from __future__ import annotations

import functools
import importlib.resources
from pathlib import Path

from mako.lookup import TemplateLookup

from clgraph.errors import ClgraphError

__all__ = ["render", "source_folders"]


@functools.cache
def source_folders() -> tuple[Path, Path]:
    """Folders that hold the kernels and the templates.

    Returns
    -------
    kernels, templates : pathlib.Path
        ``clgraph/kernels_cl`` and ``clgraph/templates`` of an installed wheel, else the folders of
        the same names at the top of the checkout.

    Raises
    ------
    ClgraphError
        If neither place has both.
    """
    package = Path(str(importlib.resources.files("clgraph")))
    for root in (package, package.parent):
        kernels, templates = root / "kernels_cl", root / "templates"
        if kernels.is_dir() and templates.is_dir():
            return kernels, templates
    raise ClgraphError(
        f"kernels_cl/ and templates/ are neither in {package} nor beside it: the installation is "
        "incomplete; reinstall clgraph."
    )


@functools.cache
def lookup(extra: tuple[Path, ...] = ()) -> TemplateLookup:
    """The one template lookup for a list of folders."""
    folders = [str(folder) for folder in (*extra, *source_folders())]
    return TemplateLookup(directories=folders, strict_undefined=True, filesystem_checks=False)


def render(name: str, *, folders: tuple[Path, ...] = (), **params: object) -> str:
    """Render a kernel file.

    Parameters
    ----------
    name : str
        Path of the file relative to ``kernels_cl/``, for example ``"bfs.cl"``.
    folders : tuple of pathlib.Path
        Folders searched before the library's own.
    **params : object
        Every name the file uses; an undefined one is an error.

    Returns
    -------
    str
        OpenCL C without includes.
    """
    return str(lookup(folders).get_template(name).render_unicode(**params))
