"""Libraries that are loaded on first use, so that ``import clgraph`` stays quick."""

import importlib
from types import ModuleType

__all__ = ["module"]


def module(name: str, *, needed_for: str = "", install: str = "") -> ModuleType:
    """Import a module by name the first time something needs it.

    Parameters
    ----------
    name : str
        Dotted name of the module.
    needed_for : str, optional
        What the caller wanted to do, for the error message.
    install : str, optional
        The pip requirement that provides the module; default is its first name.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    ImportError
        If it is not installed; the message says what needs it and how to install it.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = install or name.partition(".")[0]
        raise ImportError(
            f"{needed_for or 'this'} needs the package {package}, which cannot be imported "
            f"({error}); run: pip install {package}"
        ) from error
