"""Modules that are imported when something is first asked of them.

``import clgraph`` must stay fast and must not touch a driver, so this package takes pyopencl, and
what else is slow to import, from here.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

__all__ = ["OnFirstUse", "cl", "mako_lookup", "metadata"]

if TYPE_CHECKING:
    from importlib import metadata

    import pyopencl as cl
    from mako import lookup as mako_lookup

NO_CACHE = "PYOPENCL_NO_CACHE"


class OnFirstUse:
    """Stands for a module, and is as fast as the module once that has been imported."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> object:
        """Import the module, and look there."""
        if name.startswith("__"):
            raise AttributeError(name)
        # Not set, to a shell; pyopencl's import would fail over it.
        if os.environ.get(NO_CACHE) == "":
            del os.environ[NO_CACHE]
        module = importlib.import_module(self._module)
        self.__dict__.update(vars(module))
        return getattr(module, name)


if not TYPE_CHECKING:
    cl = OnFirstUse("pyopencl")
    mako_lookup = OnFirstUse("mako.lookup")
    metadata = OnFirstUse("importlib.metadata")
