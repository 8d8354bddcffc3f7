"""One module per file format, and the functions that pick one."""

from clgraph.graph.formats.registry import FORMATS, Format, read, write

__all__ = ["FORMATS", "Format", "read", "write"]
