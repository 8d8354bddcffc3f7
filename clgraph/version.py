"""Which version of the package is installed."""

from importlib import metadata

__all__ = ["__version__"]

try:
    __version__ = metadata.version("clgraph")
except metadata.PackageNotFoundError:  # a checkout that is not installed
    __version__ = "(not installed)"
