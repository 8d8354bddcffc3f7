"""Write limits.json: what kernels take at most, as the compilers here say.

Run as ``python tests/offline/record_limits.py [DEVICE...]`` from the top of the checkout after a
change that is meant to take more, some five minutes a device; the difference belongs into the
commit.
"""

import json
import sys
import tempfile
from pathlib import Path

from test_compiled import LIMITS, compiled, programs

from bench.studies.plans import ALGORITHMS
from bench.studies.recorded import RECORDED


def measured(device, folder):
    """Give registers, bytes of stack and of local memory by file."""
    table = {}
    for algorithm in ALGORITHMS:
        for label, name, source in programs(device, algorithm.name):
            try:
                uses = compiled(device, name, source, folder).uses
            except AssertionError as error:
                sys.stderr.write(f"{label} for {device} is left out: {error}\n")
                continue
            for use in uses.values():
                most = table.get(label, [0, 0, 0])
                now = (use.registers, use.stack_bytes, use.local_bytes)
                table[label] = [max(pair) for pair in zip(most, now, strict=True)]
        sys.stderr.write(f"{device} {algorithm.name}\n")
    return table


def write(limits):
    lines = [
        f' "{device}": {{\n'
        + ",\n".join(f'  "{label}": {numbers}' for label, numbers in sorted(table.items()))
        + "\n }"
        for device, table in limits.items()
    ]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    assert json.loads(text) == limits
    (Path(__file__).parent / "limits.json").write_text(text)


def main():
    limits = dict(LIMITS)
    with tempfile.TemporaryDirectory() as folder:
        for device in sys.argv[1:] or RECORDED:
            limits[device] = measured(device, Path(folder))
            write(limits)


if __name__ == "__main__":
    main()
