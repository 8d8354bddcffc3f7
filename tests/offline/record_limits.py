"""Write limits.json: what kernels take at most, as the compilers here say.

Run as ``python tests/offline/record_limits.py [DEVICE...]`` from the top of the checkout after a
change that is meant to take more, some five minutes a device; the difference belongs into the
commit.
"""

import json
import sys
import tempfile
from pathlib import Path

from compilers import build
from test_compiled import LIMITS, programs

from bench.studies.plans import ALGORITHMS

DEVICES = ("gfx90a", "gfx942", "gfx1100", "h200")  # whose compilers tell


def main():
    limits = dict(LIMITS)
    with tempfile.TemporaryDirectory() as folder:
        for device in sys.argv[1:] or DEVICES:
            table = limits[device] = {}
            for algorithm in ALGORITHMS:
                for label, name, source in programs(device, algorithm.name):
                    built = build(source, Path(folder), device)
                    assert not built.complaints, f"{name} for {device}: {built.complaints}"
                    for use in built.uses.values():
                        most = table.get(label, [0, 0, 0])
                        now = (use.registers, use.stack_bytes, use.local_bytes)
                        table[label] = [max(pair) for pair in zip(most, now, strict=True)]
    lines = [
        f' "{device}": {{\n'
        + ",\n".join(f'  "{label}": {numbers}' for label, numbers in sorted(table.items()))
        + "\n }"
        for device, table in limits.items()
    ]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    assert json.loads(text) == limits
    (Path(__file__).parent / "limits.json").write_text(text)


if __name__ == "__main__":
    main()
