"""Whether the limiter that a profile names is the right one: everything is left out in turn.

``python -m bench.studies.profiling.limiters --device nvidia --output record.json`` runs kernels
that read, add, use local memory and count by atomics in other shares each. What saves most when it
is left out (accesses in a row instead of anywhere, a stride without conflicts, no additions, no
atomics) is the right limiter, and the one named by the profile is compared with it.
"""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.studies import KERNELS
from clgraph import device as find_device
from clgraph import profile
from clgraph.cli.text import table
from clgraph.device import Memory, load, wait

from ...runner import machine
from ..command import command, keep
from .crossed import features

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clgraph import Device
    from clgraph.device import Kernel

__all__ = ["MIXES", "Mix", "judged", "main", "removals"]

SLOTS, GROUP = 1024, 256
CONFLICTS = 32  # words from lane to lane: all of them meet on one bank
CLEAR = 0.1  # two removals that save as much within a tenth are both right


@dataclass(frozen=True)
class Mix:
    """What a kernel does for each work-item.

    `scale` is of the array and `items` of the work-items, as powers of two.
    """

    scale: int = 24
    items: int = 20
    reads: int = 0
    scattered: bool = False
    additions: int = 0
    passes: int = 0
    stride: int = 1
    atomics: int = 0


# Each with one of the parts in front, and the others behind it in more than one order.
MIXES = (
    Mix(reads=16, scattered=True),
    Mix(reads=16, scattered=True, additions=16),
    Mix(reads=16, scattered=True, passes=16, stride=1),
    Mix(reads=32, scattered=True, additions=64),
    Mix(scale=27, reads=16, scattered=True, additions=16),
    Mix(scale=27, reads=8, scattered=True, passes=32),
    Mix(scale=16, reads=32, scattered=True, additions=8),
    Mix(reads=32),
    Mix(scale=27, items=22, reads=32, additions=2),
    Mix(scale=27, items=22, reads=32, passes=2),
    Mix(additions=512),
    Mix(reads=2, additions=1024),
    Mix(reads=4, scattered=True, additions=2048),
    Mix(additions=1024, passes=32),
    Mix(additions=1024, atomics=1),
    Mix(passes=256, stride=CONFLICTS),
    Mix(passes=256, stride=CONFLICTS, additions=32),
    Mix(passes=512, stride=CONFLICTS, reads=4, scattered=True),
    Mix(passes=512, stride=8, reads=2),
    Mix(passes=256, stride=16, atomics=1),
    Mix(atomics=16),
    Mix(atomics=16, additions=32),
    Mix(atomics=16, reads=2, scattered=True),
    Mix(scale=27, atomics=8, reads=4),
    Mix(scale=27, atomics=8, passes=32, stride=4),
    Mix(scale=16, atomics=32, additions=64),
)


def removals(mix: Mix) -> dict[str, Mix]:
    """Give what a kernel becomes without each of its parts, by the limiter that goes with it."""
    found = {}
    if mix.reads and mix.scattered:
        found["random"] = replace(mix, scattered=False)
    elif mix.reads:
        found["stream"] = replace(mix, reads=0)
    if mix.additions:
        found["integer"] = replace(mix, additions=0)
    if mix.passes:
        # Conflicts go where there are any; without them, the accesses.
        found["local"] = replace(mix, stride=1) if mix.stride > 1 else replace(mix, passes=0)
    if mix.atomics:
        found["atomics"] = replace(mix, atomics=0)
    return found


class _Bench:
    """A device with arrays that are large enough for every mix."""

    def __init__(self, device: Device, less: int = 0) -> None:
        self.device, self._less = device, less
        traits = device.traits
        self._size = traits.lanes if traits.emulated else traits.group_of(GROUP)
        program = load(
            device, "limiters.cl", folders=(KERNELS,), group_size=self._size, slots=SLOTS
        )
        self._kernel: Kernel = program.kernel("limiters_mixed")
        self._memory = Memory(device)
        self._arrays: dict[int, tuple[Any, ...]] = {}
        most = 1 << (max(mix.items for mix in MIXES) - less)
        self._to = self._memory.allocate("to", most, np.uint32)

    def launch(self, mix: Mix) -> Any:
        """Launch it."""
        scale, items = mix.scale - self._less, 1 << (mix.items - self._less)
        if scale not in self._arrays:
            values = np.arange(1 << scale, dtype=np.uint32)
            self._arrays[scale] = tuple(
                self._memory.upload(f"{name} {scale}", values) for name in ("from", "counts")
            )
        source, counts = self._arrays[scale]
        numbers = (mix.reads, int(mix.scattered), mix.additions, mix.passes, mix.stride)
        event = self._kernel.launch(
            items,
            self._size,
            *(source, self._to, counts, np.uint32((1 << scale) - 1)),
            *(np.uint32(number) for number in (*numbers, mix.atomics)),
        )
        wait(event)
        return event

    def time_s(self, mix: Mix, repeats: int) -> float:
        """Time it plainly."""
        self.launch(mix)
        events = [self.launch(mix) for _ in range(repeats)]
        return float(statistics.median(e.profile.end - e.profile.start for e in events)) * 1e-9


def judged(
    limiter: str | None, time_s: float, without: dict[str, float]
) -> tuple[str, bool | None]:
    """Say what saves most, and whether that was named.

    Parameters
    ----------
    limiter : str or None
        As the profile names it.
    time_s : float
        With everything.
    without : dict of str to float
        Seconds without each part.

    Returns
    -------
    tuple of (str, bool or None)
        The right limiter, and whether it was named; None where nothing saves a tenth.
    """
    saved = {name: time_s - other for name, other in without.items()}
    best = max(saved, key=lambda name: saved[name])
    if saved[best] < CLEAR * time_s:
        return best, None
    return best, saved.get(limiter or "", 0.0) >= (1.0 - CLEAR) * saved[best]


def studied(device: Device, less: int = 0, repeats: int = 5) -> list[dict[str, Any]]:
    """Profile every mix and leave out its parts; `less` makes sizes smaller by powers of two."""
    bench, rows = _Bench(device, less), []
    for mix in MIXES:
        time_s = bench.time_s(mix, repeats)
        without = {name: bench.time_s(other, repeats) for name, other in removals(mix).items()}
        report = profile(
            lambda mix=mix: bench.launch(mix), device=device, passes=("counters",), repeats=3
        )
        (kernel,) = report.kernels
        right, named = judged(kernel.limiter, time_s, without)
        rows.append(
            {
                "mix": asdict(mix),
                "time_s": time_s,
                "without_s": without,
                "limiter": kernel.limiter,
                "right": right,
                "named": named,
                "predicted_s": kernel.prediction.time_s,
                "bounds_s": dict(kernel.prediction.bounds),
                **features(kernel, device),
            }
        )
    return rows


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """Show what was named and what was right."""
    shown = table(
        ("mix", "us", "predicted", "named", "right", "saves"),
        [
            (
                " ".join(f"{key}={value}" for key, value in row["mix"].items() if value),
                f"{row['time_s'] * 1e6:.1f}",
                f"{row['predicted_s'] * 1e6:.1f}",
                f"{row['limiter']}{'' if row['named'] in {True, None} else ' (wrong)'}",
                row["right"],
                f"{1.0 - row['without_s'][row['right']] / row['time_s']:.0%}",
            )
            for row in rows
        ],
    )
    clear = [row for row in rows if row["named"] is not None]
    return f"{shown}\n{sum(row['named'] for row in clear)} of {len(clear)} limiters are right"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study."""
    parser = command(__doc__, commit=None)
    parser.add_argument("--less", type=int, default=0, help="powers of two less of everything")
    args = parser.parse_args(argv)
    device = find_device(args.device)
    rows = studied(device, args.less)
    if args.output is not None:
        record = {"machine": machine.describe(device, args.commit), "limiters": rows}
        keep(record, args.output)
    print(summary(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
