"""What a second reads of each file format, and edge lists beside SciPy's COO to CSR.

``python -m bench.studies.files --folder DIR --output record.json``: a Kronecker graph is written to
the folder in each format (where its file is not there yet), shuffled where the name says so, with
comments and heads as the format has them. Each file is then read from a warm cache, in turn by the
kernel where blocks are plain, by pyarrow's reader where installed, and by the tokenizer alone (what
the kernel leaves goes to pyarrow, what that leaves to the tokenizer); megabytes are 10**6 bytes of
the file, and seconds are those of the clock and of all processors. ``read`` is all of
`clgraph.read`, ``columns`` what of it turns bytes into columns of numbers. Readers of other
libraries, where installed, read the plainest of the files. ``from_edges`` and SciPy's
``coo_matrix(...).tocsr()`` take turns too. Medians.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import statistics
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

import clgraph as cg
from clgraph.cli.text import table
from clgraph.graph.formats import seam

from ..runner import machine
from .command import command, keep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["main"]

SCHEMA = "clgraph-study-files"
SEED = 20261123
BAR_MB_PER_S = 500
# name of the file -> what weighs an edge, and whether edges come in any order
FILES = {
    "pattern.mtx": (None, False),
    "integer.mtx": ("integers", False),
    "real.mtx": ("floats", False),
    "graph.txt": (None, False),
    "weighted.txt": ("integers", False),
    "shuffled.txt": (None, True),
    "graph.edges": ("integers", False),
    "graph.csv": ("decimals", False),
    "graph.konect": ("integers", False),
    "graph.gr": ("integers", False),
    "graph.el": (None, False),
    "graph.wel": ("integers", False),
    "graph.txt.gz": (None, False),
    "graph.npz": (None, False),
    "weighted.npz": ("integers", False),
    "graph.sg": (None, False),
    "graph.wsg": ("integers", False),
}
WAYS = ("kernel", "pyarrow", "tokenizer")
BINARY = (".npz", ".sg", ".wsg")


def drawn(scale: int) -> cg.Graph:
    """Draw the arcs of a Kronecker graph from lesser to greater vertices, each once."""
    graph = cg.generate.kron(scale, 16, seed=SEED)
    src, dst, _ = graph.listed_edges()
    return cg.from_edges(src, dst, n=graph.n, dedup=True, self_loops=False)


def weights(kind: str | None, m: int) -> Any:
    """Draw weights of a kind."""
    rng = np.random.default_rng(SEED)
    if kind is None:
        return None
    if kind == "integers":
        return rng.integers(1, 256, m).astype(np.int32)
    return rng.random(m) if kind == "floats" else np.round(100 * rng.random(m), 4)


def make(folder: Path, scale: int, names: Sequence[str]) -> None:
    """Write the files that are not there."""
    missing = [name for name in names if not (folder / name).exists()]
    if not missing:
        return
    graph = drawn(scale)
    for name in missing:
        kind, shuffled = FILES[name]
        costs = weights(kind, graph.m)
        path = folder / name
        cg.write(cg.Graph(graph.indptr, graph.indices, costs), path)
        if shuffled:
            lines = path.read_bytes().splitlines(keepends=True)
            comments = [line for line in lines[:9] if line.startswith(b"#")]
            rows = np.array(lines[len(comments) :], object)
            np.random.default_rng(SEED).shuffle(rows)
            path.write_bytes(b"".join(comments) + b"".join(rows))


@contextlib.contextmanager
def read_by(way: str) -> Iterator[None]:
    """Have blocks read by the kernel or by pyarrow, whatever the size of a file, or by neither."""
    least = 1 << 62 if way == "tokenizer" else 0
    processor = cg.device("pocl") if way == "kernel" else None
    with (
        mock.patch.object(seam, "LEAST_BYTES", least),
        mock.patch.object(seam, "open_processor", return_value=processor),
    ):
        yield


class Spent:
    """Seconds of the clock and of all processors, added up."""

    def __init__(self) -> None:
        self.clock_s = self.processor_s = 0.0

    def __enter__(self) -> None:
        """Start."""
        self._begin = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.clock_s += time.perf_counter() - self._begin[0]
        self.processor_s += time.process_time() - self._begin[1]


@contextlib.contextmanager
def columns_timed() -> Iterator[Spent]:
    """Add up what turning bytes into columns takes."""
    spent = Spent()
    with contextlib.ExitStack() as stack:
        for name in ("mtx", "snap", "koblenz", "dimacs9", "gap"):
            module = importlib.import_module(f"clgraph.graph.formats.{name}")
            stack.callback(setattr, module, "read_table", module.read_table)
            module.read_table = _timed(module.read_table, spent)  # type: ignore[attr-defined]
        yield spent


def _timed(call: Callable[..., Any], spent: Spent) -> Callable[..., Any]:
    def timed(*args: Any, **named: Any) -> Any:
        with spent:
            return call(*args, **named)

    return timed


def rate_of(path: Path, repeats: int, ways: Sequence[str] = WAYS) -> dict[str, Any]:
    """Read a file each way in turn; say how fast."""
    size = path.stat().st_size
    if path.suffix in BINARY:
        ways = WAYS[-1:]
    if importlib.util.find_spec("pyarrow") is None:  # the tokenizer would do its work unnamed
        ways = tuple(way for way in ways if way != "pyarrow")
    times: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    for _ in range(repeats + 1):  # the first warms caches and imports what is needed
        for way in ways:
            whole, graph = Spent(), None  # to let go of the graph before is not to read one
            with read_by(way), columns_timed() as columns, whole:
                graph = cg.read(path)
            times[way].append(
                {
                    "read_s": whole.clock_s,
                    "read_processor_s": whole.processor_s,
                    "columns_s": columns.clock_s,
                    "columns_processor_s": columns.processor_s,
                }
            )
    assert graph is not None  # noqa: S101 - for the type checker
    row: dict[str, Any] = {"file": path.name, "bytes": size, "n": graph.n, "m": graph.m}
    for way in ways:
        row[way] = {
            kind: statistics.median(one[kind] for one in times[way][1:]) for kind in times[way][0]
        }
    return row


def scipy_rows(data: Any, sources: Any, targets: Any, n: int) -> Any:
    """Have SciPy sort edges by source."""
    sparse = importlib.import_module("scipy.sparse")
    return sparse.coo_matrix((data, (sources, targets)), shape=(n, n)).tocsr()


def building(scale: int, repeats: int) -> list[dict[str, Any]]:
    """Time from_edges and SciPy in turn on sorted and on shuffled edges."""
    graph = drawn(scale)
    src, dst, _ = graph.listed_edges()
    order = np.random.default_rng(SEED).permutation(len(src))
    rows = []
    for name, sources, targets in (("sorted", src, dst), ("shuffled", src[order], dst[order])):
        for kind in (None, "integers"):
            costs = weights(kind, len(src))
            data = np.ones(len(src), np.int8) if costs is None else costs
            calls: dict[str, Callable[[], Any]] = {
                "clgraph": functools.partial(cg.from_edges, sources, targets, costs, n=graph.n),
                "scipy": functools.partial(scipy_rows, data, sources, targets, graph.n),
            }
            spent: dict[str, list[float]] = {library: [] for library in calls}
            for _ in range(repeats + 1):
                for library, call in calls.items():
                    begin = time.perf_counter()
                    call()
                    spent[library].append(time.perf_counter() - begin)
            row: dict[str, Any] = {"edges": name, "weighted": kind is not None, "m": len(src)}
            rows.append(row | {key: statistics.median(times[1:]) for key, times in spent.items()})
    return rows


def others(folder: Path, repeats: int) -> list[dict[str, Any]]:
    """Time other libraries' readers, those that are installed, on all cores they take."""
    text, matrix = folder / "graph.el", folder / "pattern.mtx"
    names = ["u", "v"]
    readers: dict[str, tuple[Path, Callable[[Any], Any]]] = {
        "pyarrow.csv": (
            text,
            lambda csv: csv.read_csv(
                text,
                read_options=csv.ReadOptions(column_names=names),
                parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
            ),
        ),
        "polars": (
            text,
            lambda polars: polars.read_csv(
                text, has_header=False, separator=" ", quote_char=None, new_columns=names
            ),
        ),
        "fast_matrix_market": (matrix, lambda fmm: fmm.read_coo(str(matrix))),
        "scipy.io": (matrix, lambda io: io.mmread(matrix)),
    }
    rows = []
    for name, (path, call) in readers.items():
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        times = []
        for _ in range(repeats + 1):
            spent = Spent()
            with spent:
                call(library)
            times.append((spent.clock_s, spent.processor_s))
        read_s, processor_s = (statistics.median(kind) for kind in zip(*times[1:], strict=True))
        rows.append(
            {
                "library": name,
                "file": path.name,
                "bytes": path.stat().st_size,
                "read_s": read_s,
                "read_processor_s": processor_s,
            }
        )
    return rows


def show(rows: list[dict[str, Any]], built: list[dict[str, Any]]) -> None:
    """Print what was found."""
    head = ["file", "MB"]
    for way in WAYS:
        head += [f"{way}: read, MB/s", "columns, MB/s", "columns, MB per processor second"]
    lines = []
    for row in rows:
        line = [row["file"], f"{row['bytes'] / 1e6:,.0f}"]
        for way in WAYS:
            for kind in ("read_s", "columns_s", "columns_processor_s"):
                seconds = row.get(way, {}).get(kind, 0.0)
                line.append(f"{row['bytes'] / 1e6 / seconds:,.0f}" if seconds else "")
        lines.append(line)
    print(table(head, lines))
    for row in built:
        kind = f"{row['edges']}, {'weighted' if row['weighted'] else 'no weights'}"
        print(f"from_edges, {kind}: {row['clgraph']:.3f} s, scipy {row['scipy']:.3f} s")


def main(words: Sequence[str] | None = None) -> int:
    """Run the study."""
    parser = command(__doc__, scale=18, repeats=3, commit=None)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--files", nargs="*", choices=FILES, default=list(FILES))
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("--make", action="store_true", help="write the files and end")
    args = parser.parse_args(words)
    make(args.folder, args.scale, args.files)
    if args.make:
        return 0
    rows = [rate_of(args.folder / name, args.repeats, args.ways) for name in args.files]
    built = building(args.scale, args.repeats)
    compared = others(args.folder, args.repeats)
    show(rows, built)
    for row in compared:
        rates = [row["bytes"] / 1e6 / row[kind] for kind in ("read_s", "read_processor_s")]
        print(
            f"{row['library']} reads {row['file']} at {rates[0]:,.0f} MB/s, "
            f"{rates[1]:,.0f} MB per processor second"
        )
    if args.output:
        record = {
            "schema": SCHEMA,
            "started": datetime.now(UTC).isoformat(),
            "machine": machine.describe(cg.device("pocl"), args.commit),
            "scale": args.scale,
            "repeats": args.repeats,
            "bar_mb_per_s": BAR_MB_PER_S,
            "files": rows,
            "building": built,
            "others": compared,
        }
        keep(record, args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
