"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["on_first_use"]


def on_first_use(
    package: str, homes: Mapping[str, tuple[str, ...]], modules: Mapping[str, str] | None = None
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Make the functions that a package calls ``__getattr__`` and ``__dir__``.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to tuple of str
        By module, the names that come from it.
    modules : mapping of str to str, optional
        By name, the modules that are names themselves.

    Returns
    -------
    tuple of callable
        The two; a name is looked for once and is then an ordinary one of the package.
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    module_of = dict(modules or {})
    namespace = vars(sys.modules[package])

    def get(name: str) -> object:
        if name in module_of:
            found: object = importlib.import_module(module_of[name])
        elif name in home_of:
            found = getattr(importlib.import_module(home_of[name]), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        namespace[name] = found
        return found

    def names() -> list[str]:
        return sorted({*namespace, *home_of, *module_of})

    return get, names
