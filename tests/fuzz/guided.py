"""Search for files that reach code of a reader which no file before has reached, with Atheris.

``python tests/fuzz/guided.py mtx --seconds 600`` begins with what `corpus/mtx.txt` keeps, one file
a line in hexadecimal, and leaves the fewest files there that reach as much. An input that a reader
neither takes for a graph nor refuses in a sentence ends it and is shown. Needs ``pip install
atheris``, which has wheels for Linux. ``--plain N`` needs nothing: of N mutated files it keeps
those that reach new lines, which is what a search begins with.
"""

import argparse
import importlib
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LONGEST_BYTES = 600
STRUCTURED = 0.7  # of the changes know the format; the others are libFuzzer's


def fuzz(name: str, words: list[str]) -> None:
    """Run libFuzzer, which ends the process."""
    import atheris  # noqa: PLC0415 - only here, and not for the tests

    with atheris.instrument_imports(include=["clgraph.graph"]):
        sys.path[:0] = [str(HERE.parent.parent), str(HERE.parent), str(HERE)]
        importlib.import_module(f"clgraph.graph.formats.{module_of(name)}")
        from mutation import mutated, written  # noqa: PLC0415
        from test_formats import read_or_refuse  # noqa: PLC0415
    file = Path(f"/proc/self/fd/{os.memfd_create('graph')}")

    def read(data: bytes) -> None:
        file.write_bytes(data)
        read_or_refuse(file, name, {})

    def change(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)  # noqa: S311 - not a secret
        if rng.random() < STRUCTURED:
            return mutated(name, data or written(name, rng), rng)[:most]
        return atheris.Mutate(data, most)

    atheris.Setup([sys.argv[0], *words], read, custom_mutator=change)
    atheris.Fuzz()


def module_of(name: str) -> str:
    return name if name not in {"el", "wel", "sg", "wsg"} else "gap"


class Reached:
    """The lines of a reader that files have reached so far."""

    def __init__(self, name: str) -> None:
        sys.path[:0] = [str(HERE.parent.parent), str(HERE.parent), str(HERE)]
        self._read = importlib.import_module("test_formats").read_or_refuse
        self._name = name
        self._file = Path(f"/proc/self/fd/{os.memfd_create('graph')}")
        self._seen = set()

    def _watch(self, frame, *_):
        path = frame.f_code.co_filename
        if "/graph/formats/" not in path:
            return None

        def line(frame, *_):
            self._seen.add((path, frame.f_lineno))
            return line

        return line

    def adds(self, data: bytes) -> tuple[bool, bool]:
        """Whether a file reaches new lines, and whether it is accepted."""
        known = len(self._seen)
        self._file.write_bytes(data)
        sys.settrace(self._watch)
        try:
            found = self._read(self._file, self._name, {})
        finally:
            sys.settrace(None)
        return len(self._seen) > known, found is not None


def save(name: str, files: list[bytes]) -> None:
    """Keep the shortest files that together reach all lines that these reach."""
    reached = Reached(name)
    shortest = sorted({data for data in files if data}, key=lambda data: (len(data), data))
    kept = [data for data in shortest if reached.adds(data)[0]]
    text = "".join(f"{data.hex()}\n" for data in kept)
    (HERE / "corpus" / f"{name}.txt").write_text(text, encoding="ascii")


def saved(name: str) -> list[bytes]:
    corpus = HERE / "corpus" / f"{name}.txt"
    lines = corpus.read_text(encoding="ascii").split() if corpus.exists() else []
    return [bytes.fromhex(line) for line in lines]


def plain(name: str, count: int) -> int:
    """Add what reaches new lines of a reader, of mutated files."""
    reached = Reached(name)
    files = importlib.import_module("mutation").Files(name, 1)
    kept = saved(name)
    for data in kept:
        reached.adds(data)
    for _ in range(count):
        data = files.next()
        is_new, is_accepted = reached.adds(data)
        if is_accepted:
            files.accepted(data)
        if is_new:
            kept.append(data)
    save(name, kept)
    return 0


def search(name: str, seconds: int) -> int:
    """Fuzz for some time from what is kept, then keep what is worth it."""
    with tempfile.TemporaryDirectory() as folder:
        for place, data in enumerate(saved(name)):
            Path(folder, str(place)).write_bytes(data)
        words = [f"-max_len={LONGEST_BYTES}", f"-max_total_time={seconds}", folder]
        command = [sys.executable, __file__, name, "--fuzz", *words]
        done = subprocess.run(command, cwd=folder, check=False)
        if done.returncode:
            return done.returncode
        save(name, [path.read_bytes() for path in Path(folder).iterdir()])
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Coverage-guided fuzzing of a reader.")
    parser.add_argument("format")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--plain", type=int, metavar="N")
    parser.add_argument("--fuzz", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fuzz is not None:
        fuzz(given.format, given.fuzz)
    if given.plain is not None:
        sys.exit(plain(given.format, given.plain))
    sys.exit(search(given.format, given.seconds))
