"""The pyopencl module, imported when something is first asked of it.

``import clgraph`` must stay fast and must not touch a driver, so every module of this package takes
pyopencl from here instead of importing it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__all__ = ["cl"]

if TYPE_CHECKING:
    import pyopencl as cl
else:

    class _OnFirstUse:
        """Stands for pyopencl and becomes as fast as it once it has been imported."""

        def __getattr__(self, name: str) -> object:
            if name.startswith("__"):
                raise AttributeError(name)
            module = importlib.import_module("pyopencl")
            self.__dict__.update(vars(module))
            return getattr(module, name)

    cl = _OnFirstUse()
