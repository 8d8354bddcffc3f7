"""Where bytes become columns of numbers: machine code where Numba is installed, NumPy otherwise.

The two give the same arrays. Machine code reads plain blocks; a block in which anything is odd, and
so every error, is left to NumPy.
"""

import importlib
import io
from types import ModuleType

import numpy as np

from clgraph.graph.csr import Array, index_dtype
from clgraph.graph.formats.files import Block, Source
from clgraph.graph.formats.tokens import separator_table
from clgraph.graph.survey import processors

__all__ = ["Columns", "PlainBlocks", "machine_code"]

Columns = tuple[Array, Array, Array | None]

# Text below which NumPy is done before Numba is imported (half a second on one core).
LEAST_BYTES = 1 << 25
_OF_COMPRESSED = 4  # times its size is what compressed text of graphs expands to, at least
MOST_THREADS = 4  # one thread that cuts blocks has no more to give away
_LINES_LOOKED_AT = 100  # for the first that is neither blank nor a comment
_MOST_ID = 1 << 62


def machine_code(source: Source) -> ModuleType | None:
    """Give the module of the compiled tokenizer, if Numba is installed and the file worth it."""
    if source.size_bytes * (_OF_COMPRESSED if source.compression else 1) < LEAST_BYTES:
        return None
    try:
        return importlib.import_module("clgraph.graph.formats.machine_code")
    except ImportError:  # not installed, or it does not know this NumPy yet
        return None


class PlainBlocks:
    """Reads blocks in which nothing is odd; may be called by several threads at once.

    Parameters
    ----------
    code : module
        What `machine_code` gave.
    separators, comments, marker, leading, base
        As in a layout.
    ids : pair of int
        How many vertices there are at either end.
    """

    def __init__(
        self,
        code: ModuleType,
        *,
        separators: bytes,
        comments: bytes,
        marker: bytes,
        leading: bool,
        base: int,
        ids: tuple[int, int],
    ) -> None:
        self._code = code
        self._table = separator_table(separators, marker)
        kinds = np.full(256, code.TOKEN, np.uint8)
        for byte in b" \t\r" + separators:
            kinds[byte] = code.SPACE
        kinds[ord("\n")] = code.NEWLINE
        for byte in marker:
            kinds[byte] = code.MARKER
        for byte in comments:
            kinds[byte] |= code.COMMENT
        self._comments = comments
        self._kinds = kinds
        self._markers = (len(marker), 0) if leading else (0, len(marker))
        self._base = base
        self._ids = min(ids[0], _MOST_ID), min(ids[1], _MOST_ID)
        self._dtypes = index_dtype(ids[0]), index_dtype(ids[1])
        self._decimals = False  # what the last block had, which the next is likely to have

    @property
    def threads(self) -> int:
        """How many threads to read with."""
        return min(processors(), MOST_THREADS)

    def columns_of(self, block: Block) -> int:
        """Tokens on the first line that has some; 0 if that does not come soon."""
        lines = io.BytesIO(block.data)
        for _ in range(_LINES_LOOKED_AT):
            line = lines.readline()
            if line[:1] not in self._comments or not line:
                words = line.translate(self._table).replace(b"\1", b" ").split()
                if words:
                    return len(words)
        return 0

    def read(
        self, block: Block, columns: int, weight_column: int | None, *, integers: bool
    ) -> Columns | None:
        """Edges of a block; None if there are none or anything is odd.

        Parameters
        ----------
        block : Block
            Whole lines.
        columns : int
            Tokens on each.
        weight_column : int or None
            Which of them is a weight.
        integers : bool
            Whether weights must be integers.
        """
        code = self._code
        text = np.frombuffer(block.data, np.uint8)
        src, dst = (np.empty(block.lines, dtype) for dtype in self._dtypes)
        weights = np.empty(0 if weight_column is None else block.lines, np.int64)
        column = -1 if weight_column is None else weight_column
        decimals = self._decimals and not integers
        for _ in range(2):
            shape = (columns, column, decimals, self._base, *self._ids, *self._markers)
            rows = code.edges(self._kinds, text, code.Rules(*shape), src, dst, weights)
            if rows != code.DECIMAL or integers:
                break
            decimals = not decimals
        if rows <= 0:
            return None
        self._decimals = decimals
        if weight_column is None:
            return src[:rows], dst[:rows], None
        return src[:rows], dst[:rows], weights.view(np.float64 if decimals else np.int64)[:rows]
