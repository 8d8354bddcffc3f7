"""What a file may make its reader allocate."""

from dataclasses import dataclass

__all__ = ["CEILING", "Limits"]

CEILING = 1 << 36
_FREE_BYTES = 1 << 23  # what a compressed file may expand to whatever its size
_EXPANSION = 200  # ... and how many times its size beyond that; text of graphs stays below 100
_FREE_VERTICES = 1 << 22  # vertices a file may declare without a byte to show for each
_VERTICES_PER_BYTE = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may make the reader allocate.

    Attributes
    ----------
    max_vertices : int or None
        Most vertices; None allows 4 million, or 16 for each byte of the file if that is more.
    max_bytes : int or None
        Most bytes of the file, after decompression; None allows 64 GiB, and of a compressed file
        at most 200 times its size (and never less than 8 MiB).
    """

    max_vertices: int | None = None
    max_bytes: int | None = None

    def ceiling(self, size_bytes: int, *, compressed: bool) -> int:
        """Most bytes that a file of this size may turn out to have."""
        if self.max_bytes is not None:
            return self.max_bytes
        return min(CEILING, max(_FREE_BYTES, _EXPANSION * size_bytes)) if compressed else CEILING

    def vertices(self, possible_bytes: int) -> int:
        """Most vertices of a file that may have so many bytes."""
        if self.max_vertices is not None:
            return self.max_vertices
        return max(_FREE_VERTICES, _VERTICES_PER_BYTE * possible_bytes)
