"""One module per file format, and the functions that pick one."""

from typing import TYPE_CHECKING

from clgraph.names import on_first_use

if TYPE_CHECKING:
    from clgraph.graph.formats.registry import FORMATS, Format, read, write

__all__ = ["FORMATS", "Format", "read", "write"]

_HOMES = {"clgraph.graph.formats.registry": ("FORMATS", "Format", "read", "write")}

__getattr__, __dir__ = on_first_use(__name__, _HOMES)
