"""Write limits.json: what kernels take at most, as the compilers here say.

Run as ``python tests/offline/record_limits.py [DEVICE...]`` from the top of the checkout after a
change that is meant to take more, some five minutes a device; the difference belongs into the
commit. With ``--algorithms``, only what these build is compiled, and limits are raised for it, not
lowered, since others may build the same files.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from test_compiled import LIMITS, compiled, programs

from bench.studies.plans import ALGORITHMS
from bench.studies.recorded import RECORDED


def measured(device, folder, algorithms):
    """Give registers, bytes of stack and of local memory by file."""
    table = {}
    for algorithm in algorithms:
        for label, name, source in programs(device, algorithm):
            try:
                uses = compiled(device, name, source, folder).uses
            except AssertionError as error:
                sys.stderr.write(f"{label} for {device} is left out: {error}\n")
                continue
            for use in uses.values():
                most = table.get(label, [0, 0, 0])
                now = (use.registers, use.stack_bytes, use.local_bytes)
                table[label] = [max(pair) for pair in zip(most, now, strict=True)]
        sys.stderr.write(f"{device} {algorithm}\n")
    return table


def raised(table, found):
    """Give a table with limits that are at least those found."""
    merged = dict(table)
    for label, now in found.items():
        merged[label] = [max(pair) for pair in zip(table.get(label, now), now, strict=True)]
    return merged


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
    every = [algorithm.name for algorithm in ALGORITHMS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("devices", nargs="*", default=list(RECORDED), metavar="DEVICE")
    parser.add_argument("--algorithms", type=lambda text: text.split(","), metavar="NAME,...")
    args = parser.parse_args()
    if unknown := {*args.devices} - {*RECORDED} or {*(args.algorithms or ())} - {*every}:
        parser.error(f"not known: {', '.join(sorted(unknown))}")
    limits = dict(LIMITS)
    with tempfile.TemporaryDirectory() as folder:
        for device in args.devices:
            found = measured(device, Path(folder), args.algorithms or every)
            limits[device] = raised(limits[device], found) if args.algorithms else found
            write(limits)


if __name__ == "__main__":
    main()
