"""What sorts, scans, compactions and merges take, as shares of the bandwidth of a copy.

``python -m bench.studies.primitives --device nvidia --output record.json`` gives each primitive by
the bytes that a pass must move.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph.cli.text import table
from clgraph.device import Memory
from clgraph.dynamic.storage.store import copied
from clgraph.engine.sweeps import SweepLog
from clgraph.primitives.merging import Merge
from clgraph.primitives.radix import RadixSort, digit_passes
from clgraph.primitives.scanning import Compaction, Scan, SegmentedScan

from ..runner import machine
from .command import command, keep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph import Device

__all__ = ["main", "primitives", "shown"]

REPEATS = 5
SORTED_BITS = 32  # four whole digits
PASS = ("sort_sweep", "sort_count", "sort_offsets", "sort_scatter")
SEGMENT_SHARE = 0.01  # of elements that begin a segment


def spent(enqueue: Callable[[SweepLog], Any], *, within: Sequence[str] = ()) -> float:
    """Median device milliseconds of what is enqueued, or of launches of such names in it."""
    times = []
    for turn in range(REPEATS + 2):
        log = SweepLog(named=bool(within))
        enqueue(log)
        log.wait()
        if turn > 1:
            known = (log.parts.get(name, 0.0) for name in within)
            times.append(sum(known) if within else log.kernel_ms)
    return statistics.median(times)


def primitives(device: Device, n: int) -> dict[str, dict[str, float]]:
    """Milliseconds of each primitive, and the share of the bandwidth of a copy of as many bytes.

    Of a sort both a pass, which is what reads, ranks and writes by one digit, by the launches' own
    time; and a pass's part of a whole sort, from the first launch to the end of the last, with
    clearing, counting and what lies between launches.
    """
    memory = Memory(device)
    rng = np.random.default_rng(3)
    figures: dict[str, dict[str, float]] = {}
    copies: dict[int, float] = {}

    def copy_ms(moved: int) -> float:
        """Milliseconds of reading and writing so many bytes, half of them each."""
        if moved not in copies:
            source, target = (memory.allocate("copy", moved // 2, np.uint8) for _ in range(2))

            def copy(log: SweepLog) -> None:
                event = copied(source, target, moved // 2)
                log.add(event, event)

            copies[moved] = spent(copy)
        return copies[moved]

    def note(name: str, ms: float, moved: int) -> None:
        figures[name] = {"ms": ms, "share": copy_ms(moved) / ms}

    note("copy", copy_ms(16 * n), 16 * n)
    for key, value in ((4, 0), (8, 0), (4, 4), (8, 4), (8, 8)):
        keys = memory.upload("keys", rng.integers(0, 2**SORTED_BITS, n).astype(f"u{key}"))
        values = memory.upload("values", np.arange(n, dtype=f"u{value}")) if value else None
        given = memory.upload("given", keys.read())
        stage = RadixSort(device, f"u{key}", f"u{value}" if value else None)

        def one(log: SweepLog, stage: Any = stage, arrays: Any = (given, keys, values)) -> None:
            copied(arrays[0], arrays[1], n)  # in its first order once more
            stage.enqueue(log, arrays[1], n, arrays[2], bits=SORTED_BITS)

        passes, moved = digit_passes(SORTED_BITS), n * 2 * (key + value)
        note(f"sort u{key}+u{value}, a pass", spent(one, within=PASS) / passes, moved)
        note(f"sort u{key}+u{value}, all by passes", spent(one) / passes, moved)
    scan = Scan(device, np.uint32)
    numbers = memory.upload("numbers", np.ones(n, np.uint32))
    sums = memory.allocate("sums", n, np.uint32)
    note("scan u4", spent(lambda log: scan.enqueue(log, numbers, n, sums)), 8 * n)
    mask = memory.upload("mask", (rng.random(n) < 0.5).astype(np.uint8))
    for size_bytes in (4, 8):
        compaction = Compaction(device)
        half = tuple(memory.allocate(name, n, f"u{size_bytes}") for name in ("given", "kept"))

        def compact(log: SweepLog, stage: Compaction = compaction, half: Any = half) -> None:
            stage.enqueue(log, mask, n, half)

        ms = spent(compact)
        note(f"compact u{size_bytes}, half", ms, n + size_bytes * (n + n // 2))
    heads = memory.upload("heads", (rng.random(n) < SEGMENT_SHARE).astype(np.uint8))
    segmented = SegmentedScan(device, np.uint32)
    ms = spent(lambda log: segmented.enqueue(log, numbers, heads, n, sums))
    note("segmented scan u4", ms, 9 * n)
    for key, value in ((4, 0), (8, 0), (4, 4), (8, 4), (8, 8)):
        ms = spent(merging(device, n, key, value))
        note(f"merge u{key}+u{value}", ms, 2 * n * (key + value))
    return figures


def merging(device: Device, n: int, key: int, value: int) -> Callable[[SweepLog], None]:
    """Give what enqueues a merge of two halves of n elements, of as many bytes as these."""
    memory, rng = Memory(device), np.random.default_rng(5)
    half, rest = n // 2, n - n // 2
    sides = []
    for count in (half, rest):
        keys = np.sort(rng.integers(0, 2**SORTED_BITS, count)).astype(f"u{key}")
        sides.append((memory.upload("keys", keys), count))
    merged = memory.allocate("merged", n, f"u{key}")
    values = None
    if value:
        kind = f"u{value}"
        first, second = (memory.upload("values", np.arange(c, dtype=kind)) for c in (half, rest))
        values = (first, second, memory.allocate("moved", n, kind))
    stage = Merge(device, f"u{key}", f"u{value}" if value else None)
    return lambda log: stage.enqueue(log, sides[0], sides[1], merged, values)


def shown(figures: dict[str, dict[str, float]]) -> str:
    """Give the table of what was measured."""
    rows = [
        [name, f"{one['ms']:.3f}", f"{100 * one['share']:.0f} %"] for name, one in figures.items()
    ]
    return table(["primitive", "ms", "of copying"], rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study."""
    parser = command(__doc__)
    parser.add_argument("--elements", type=int, default=1 << 25, help="of arrays")
    args = parser.parse_args(argv)
    device = clgraph.device(args.device)
    record = machine.head_of("primitives", device) | {"elements": args.elements}
    record["primitives"] = primitives(device, args.elements)
    keep(record, args.output)
    print(shown(record["primitives"]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
