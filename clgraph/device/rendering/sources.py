"""Finding and rendering kernel sources."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import clgraph
from clgraph.device.lazy import mako_lookup
from clgraph.device.rendering.renderings import kept_rendering
from clgraph.errors import ClgraphError, KernelBuildError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mako.lookup import TemplateLookup

__all__ = ["render", "source_folders"]


@functools.cache
def source_folders() -> tuple[Path, Path]:
    """Find the folders of the kernels and of the templates.

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
    package = Path(str(clgraph.__file__)).resolve().parent
    for root in (package, package.parent):
        kernels, templates = root / "kernels_cl", root / "templates"
        if kernels.is_dir() and templates.is_dir():
            return kernels, templates
    raise ClgraphError(
        f"kernels_cl/ and templates/ are neither in {package} nor beside it: this installation is "
        "incomplete; reinstall clgraph."
    )


@functools.cache
def _lookup(folders: tuple[Path, ...]) -> TemplateLookup:
    """Build a template lookup that reads each file once and keeps nothing on disk."""
    return mako_lookup.TemplateLookup(
        directories=[str(folder) for folder in folders],
        strict_undefined=True,
        filesystem_checks=False,
        input_encoding="utf-8",
    )


def render(name: str, params: Mapping[str, object], folders: tuple[Path, ...] = ()) -> str:
    """Render a kernel file.

    Parameters
    ----------
    name : str
        Path of the file below ``kernels_cl/``, for example ``"bfs/bfs.cl"``.
    params : mapping
        A value for every name the file uses.
    folders : tuple of pathlib.Path
        Folders that are searched before ``kernels_cl/`` and ``templates/``.

    Returns
    -------
    str
        OpenCL C with every template inlined.

    Raises
    ------
    KernelBuildError
        If the file is missing, is not a valid template, or uses a name that has no value.

    Notes
    -----
    A text that was rendered before from the same comes from
    `clgraph.device.rendering.renderings`, and then Mako is not even imported.
    """
    if folders:  # of a user, or of a test: nobody knows when files in them change
        return _rendered(name, params, folders)
    roots = source_folders()
    return kept_rendering(name, params, roots, lambda: _rendered(name, params, ()))


def _rendered(name: str, params: Mapping[str, object], folders: tuple[Path, ...]) -> str:
    try:
        template = _lookup((*folders, *source_folders())).get_template(name)
        return str(template.render_unicode(**params))
    except ClgraphError:
        raise
    # Whatever goes wrong in an expression of a template surfaces here.
    except Exception as error:
        raise KernelBuildError(
            f"{name} could not be rendered: {type(error).__name__}: {error}"
        ) from error
