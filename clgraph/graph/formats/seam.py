"""Who turns text into columns of numbers: a kernel, pyarrow's reader of CSV, or the tokenizer.

All give the same arrays. The first two read whole blocks in which nothing is odd, several at once
in threads: a kernel where a processor's device is open, pyarrow where it is installed. pyarrow
refuses most of what the tokenizer refuses; what it would read otherwise is looked for here. Any
other block, and so every error, is left to the tokenizer.
"""

import contextlib
import importlib
import sys
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from clgraph.graph.csr import Array, Sorter, index_dtype
from clgraph.graph.formats.files import BYTE_ORDER_MARK, Block, Source
from clgraph.graph.sharing import processors

__all__ = [
    "BLOCK_BYTES",
    "Columns",
    "Line",
    "PlainBlocks",
    "Quick",
    "Rules",
    "edge_sorter",
    "quick_readers",
    "threads",
]

Columns = tuple[Array, Array, Array | None]

LEAST_BYTES = 1 << 24  # below, the tokenizer is done before pyarrow is imported
BLOCK_BYTES = 1 << 21  # measured: less takes more starts, more takes fresh memory for each
MOST_THREADS = 8  # one thread that cuts blocks has no more to give away
_OF_COMPRESSED = 4  # times its size is what compressed text of graphs expands to, at least
_MOST_SPACES = 32  # between two numbers
_MOST_WEIGHT = 1 << 63  # what has no point must be less
_ONLY_SPACES = bytes.maketrans(b"\t\r", b"  ")


@dataclass(frozen=True, slots=True)
class Quick:
    """What a block holds: numbers on each line, edges, and how many lines, where that is known."""

    columns: int
    edges: Columns
    lines: int | None = None


class QuickReader(Protocol):
    """What reads blocks in which nothing is odd; called by several threads at once."""

    def read(self, block: Block) -> Quick | None:
        """Give what a block holds; None if anything in it is odd."""


def quick_readers(source: Source, rules: "Rules") -> list[QuickReader]:
    """Give who is to try each block of a file, in this order, before the tokenizer."""
    if source.size_bytes * (_OF_COMPRESSED if source.compression else 1) < LEAST_BYTES:
        return []
    readers: list[QuickReader] = []
    processor = open_processor()
    if processor is not None:
        compiled: Any = importlib.import_module("clgraph.graph.lines")
        readers.append(compiled.CompiledBlocks(rules, processor))
    with contextlib.suppress(ImportError):
        importlib.import_module("pyarrow.csv")
        readers.append(PlainBlocks(rules))
    return readers


def edge_sorter() -> Sorter | None:
    """Give who is to sort edges; None where only scipy can."""
    processor = open_processor()
    if processor is None:
        return None
    buckets: Any = importlib.import_module("clgraph.graph.buckets")
    return partial(buckets.sorted_by, processor)


def open_processor() -> Any:
    """Give the processor that this process has chosen as a device; None if there is none.

    Reading a file does not open one: drivers take longer to load than most files to read, and a
    process that has opened one cannot be forked.
    """
    choosing = sys.modules.get("clgraph.device.choosing")
    return None if choosing is None else choosing.open_processor()


def threads() -> int:
    """How many blocks to read at once."""
    return min(processors(), MOST_THREADS)


@dataclass(frozen=True, slots=True)
class Rules:
    """What lines must look like.

    Attributes
    ----------
    columns, base, weight_column, integer_weights, separators, marker, leading
        As in a layout.
    ids : pair of int
        How many vertices there are at either end.
    """

    columns: tuple[int, ...]
    base: int
    weight_column: int | None
    integer_weights: bool
    separators: bytes
    marker: bytes
    leading: bool
    ids: tuple[int, int]

    @property
    def gaps(self) -> bytes:
        """What may separate two numbers."""
        between = self.marker and not self.leading
        return self.marker if between else b" \t" + self.separators

    def line(self, data: bytes) -> "Line | None":
        """Say what lines look like, by the first one; None if it has too few or many numbers."""
        text = data[: data.find(b"\n")]
        gap = next((gap for gap in self.gaps if gap in text), self.gaps[0])
        columns = text.count(gap) + 1 - self.leading
        if columns not in self.columns:
            return None
        place = self.weight_column
        return Line(bytes([gap]), columns, None if place is None or place >= columns else place)


@dataclass(frozen=True, slots=True)
class Line:
    """What separates the numbers of a line, how many they are, and which is a weight, if any."""

    gap: bytes
    columns: int
    weight: int | None


class PlainBlocks:
    """Reads blocks in which nothing is odd; may be called by several threads at once."""

    def __init__(self, rules: Rules) -> None:
        self._arrow: Any = importlib.import_module("pyarrow")
        self._csv: Any = importlib.import_module("pyarrow.csv")
        self._rules = rules
        self._dtypes = [index_dtype(most) for most in rules.ids]
        # What the last block had, which the next is likely to have.
        self._decimals = False

    def read(self, block: Block) -> Quick | None:
        """Give what a block holds; None if anything in it is odd."""
        data = block.data
        # pyarrow reads hexadecimal integers, and skips a mark where it begins to read.
        if b"x" in data or b"X" in data or data.startswith(BYTE_ORDER_MARK):
            return None
        if block.long_line() is not None:
            return None
        # It takes a carriage return for the end of a line.
        found = None if b"\r" in data else self._read(data)
        if found is None and (tidy := _with_single_spaces(data)) != data:
            found = self._read(tidy)
        return found

    def _read(self, data: bytes) -> Quick | None:
        line = self._rules.line(data)
        if line is None:
            return None
        place, columns = line.weight, line.columns
        kinds = ["int64", "float64"]
        if place is None or self._rules.integer_weights:
            kinds = kinds[:1]
        elif self._decimals:
            kinds = kinds[1:]
        for kind in kinds:
            weight = None if place is None else (place, kind)
            found = self._parsed(data, line.gap.decode(), columns, weight)
            if found is not None:
                self._decimals = kind == "float64"
                return Quick(columns, found)
        return None

    def _parsed(
        self, data: bytes, gap: str, columns: int, weight: tuple[int, str] | None
    ) -> Columns | None:
        """Edges of lines with so many numbers; None if one is no such line."""
        rules, arrow, csv = self._rules, self._arrow, self._csv
        # What is neither id nor weight must be a number too, or lines could be too short.
        types = [arrow.float64()] * columns
        types[:2] = [arrow.uint32() if t is np.int32 else arrow.uint64() for t in self._dtypes]
        if weight is not None:
            types[weight[0]] = getattr(arrow, weight[1])()
        if rules.leading:
            types.insert(0, arrow.dictionary(arrow.int32(), arrow.binary()))
        names = [str(column) for column in range(len(types))]
        try:
            table = csv.read_csv(
                arrow.BufferReader(data),
                csv.ReadOptions(use_threads=False, block_size=len(data), column_names=names),
                csv.ParseOptions(delimiter=gap, quote_char=False),
                csv.ConvertOptions(
                    column_types=dict(zip(names, types, strict=True)),
                    null_values=[],
                    check_utf8=False,
                ),
            )
        except ValueError:  # what pyarrow says of text that is not of these types
            return None
        found = [column.chunk(0) for column in table.columns]
        if rules.leading:
            marks = found.pop(0).dictionary
            if len(marks) != 1 or marks[0].as_py() != rules.marker:
                return None
        src, dst = (ids.to_numpy() for ids in found[:2])
        weights = None if weight is None else found[weight[0]].to_numpy()
        if weights is not None and not _is_weight(weights, signed=b"-" in data):
            return None
        for ends, most in zip((src, dst), rules.ids, strict=True):
            if not rules.base <= ends.min() <= ends.max() < most + rules.base:
                return None
        src, dst = (ends.view(dtype) for ends, dtype in zip((src, dst), self._dtypes, strict=True))
        return (src - rules.base, dst - rules.base, weights) if rules.base else (src, dst, weights)


def _is_weight(weights: Array, *, signed: bool) -> bool:
    """Whether all are finite, and the tokenizer would find the same."""
    if not -_MOST_WEIGHT < weights.min() <= weights.max() < _MOST_WEIGHT:
        return False
    # Of -0 without a point, the tokenizer may make an integer.
    return not signed or weights.dtype.kind == "i" or not np.signbit(weights[weights == 0]).any()


def _with_single_spaces(data: bytes) -> bytes:
    """Replace white space within lines, of any kind but not any length, by single spaces.

    At the ends of lines it is removed.
    """
    data = data.translate(_ONLY_SPACES)
    for _ in range(_MOST_SPACES.bit_length() - 1):
        if b"  " not in data:
            break
        data = data.replace(b"  ", b" ")
    return data.replace(b" \n", b"\n").replace(b"\n ", b"\n").removeprefix(b" ")
