r"""Native codes beside ours: a command template and a regular expression for its time.

A file in TOML has one table for each code::

    [gunrock]
    version = "1.2"
    command = ["/opt/gunrock/bfs", "market", "{graph}", "--src={source}", "--undirected"]
    format = "mtx"                          # what {graph} is written as; default mtx
    time = 'elapsed:\s*([0-9.]+)\s*ms'        # the first group is the time, in `unit`
    unit = "ms"                             # s, ms or us; default ms
    algorithms = ["bfs"]                    # kinds of cases; default ["bfs"]
    first_vertex = 0                        # number of vertex 0 in {source}; default 0
    timeout_s = 60                          # default 60
    checks = { reached = 'visited (\d+)' }   # figures of ours that its output must repeat
    output = { unreached = ["-1", "inf"] }  # it writes a value per vertex to {output}

The command is a list of words, started without a shell; ``{graph}``, ``{source}``, ``{output}``
and ``{n}``, ``{m}`` are replaced within words, and other braces are kept. Of each line of the
output file the last number is taken. A code that has neither `checks` nor `output` is recorded as
unchecked. Writing the graph counts as its conversion; what it reads at each start does not count.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph.errors import InvalidArgumentError

from .peer import Peer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph import Graph

    from ..runner.problem import Problem

__all__ = ["Code", "load", "peers_of"]

UNITS_MS = {"s": 1e3, "ms": 1.0, "us": 1e-3}
SHOWN_OUTPUT = 300
LONGEST_TIMEOUT_S = 1e6  # what systems take


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_time(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 < value <= LONGEST_TIMEOUT_S


def _is_output(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) <= {"unreached"}
        and all(map(_is_words, value.values()))
    )


# What the keys of a table must have: a test, and in words.
TYPES = {
    "version": (_is_text, "a text"),
    "command": (_is_words, "a list of words"),
    "format": (_is_text, "a text"),
    "time": (_is_text, "an expression"),
    "unit": (lambda value: _is_text(value) and value in UNITS_MS, f"one of {', '.join(UNITS_MS)}"),
    "algorithms": (_is_words, "a list of kinds of cases"),
    "first_vertex": (lambda value: type(value) is int, "a whole number"),
    "timeout_s": (_is_time, f"seconds, above 0 and at most {LONGEST_TIMEOUT_S:g}"),
    "checks": (
        lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
        "a table of expressions",
    ),
    "output": (_is_output, "a table with the list of words unreached, or nothing"),
}


@dataclass(frozen=True, slots=True)
class Code:
    """One native code, as its table describes it; called with a graph it gives a peer.

    Attributes
    ----------
    name : str
        Of the table.
    command : tuple of str
        Words of the command line, with placeholders.
    time : str
        Regular expression whose first group is the time.
    version, format, unit : str
        As in the table.
    algorithms : tuple of str
        Kinds of cases it can run.
    first_vertex : int
        Number that it gives to vertex 0.
    timeout_s : float
        After which it is stopped.
    checks : mapping of str to str
        Regular expressions by the name of a count.
    unreached : tuple of str or None
        Words for no value, where it writes a file of values.
    """

    name: str
    command: tuple[str, ...]
    time: str
    version: str = "unknown"
    format: str = "mtx"
    unit: str = "ms"
    algorithms: tuple[str, ...] = ("bfs",)
    first_vertex: int = 0
    timeout_s: float = 60.0
    checks: Mapping[str, str] = field(default_factory=dict)
    unreached: tuple[str, ...] | None = None

    package = ""  # no Python distribution
    limit_edges = 1 << 40

    def __call__(self, graph: Graph) -> Peer:
        """Write the graph as this code reads it."""
        return _Started(graph, self)


class _Started(Peer):
    """A code with its graph in a folder of its own, which `close` removes."""

    def __init__(self, graph: Graph, code: Code) -> None:
        super().__init__(graph)
        self._code = code
        self._folder = tempfile.TemporaryDirectory(prefix="clgraph-bench-")
        folder = Path(self._folder.name)
        self._output = folder / "values.txt"
        path = folder / f"graph.{code.format}"
        try:
            clgraph.write(graph, path, format=code.format)
        except BaseException:
            self.close()
            raise
        self._words = {"graph": path, "output": self._output, "n": graph.n, "m": graph.m}
        checked = bool(code.checks) or code.unreached is not None
        self.remarks = {"external": True, "checked": checked}

    def close(self) -> None:
        """Remove the folder."""
        self._folder.cleanup()

    def timed(self, given: int) -> tuple[Any, float]:
        """Start it once; the time is the one that it reports."""
        code = self._code
        words = {**self._words, "source": given + code.first_vertex}
        self._output.unlink(missing_ok=True)
        done = subprocess.run(
            [_filled(word, words) for word in code.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            timeout=code.timeout_s,
            cwd=self._folder.name,
        )
        tail = done.stdout.strip()[-SHOWN_OUTPUT:]
        if done.returncode:
            raise RuntimeError(f"{code.name} exits with {done.returncode}: {tail}")
        match = re.search(code.time, done.stdout)
        if match is None:
            raise RuntimeError(f"{code.name} reports no time that {code.time!r} finds: {tail}")
        return done.stdout, float(match.group(1)) * UNITS_MS[code.unit]

    def values(self, answer: Any, given: int) -> Any:  # noqa: ARG002 (they are in a file)
        """Read the file of values; where it says there is none, -1."""
        missing = self._code.unreached or ()
        lines = self._output.read_text(encoding="utf-8").splitlines()
        last = [line.replace(",", " ").split()[-1] for line in lines if line.strip()]
        return np.array([-1.0 if word in missing else float(word) for word in last])

    def complaint(self, answer: Any, given: int, wanted: Any, counts: Mapping[str, float]) -> str:
        """Compare what it prints with our counts, and its file with our values."""
        for name, pattern in self._code.checks.items():
            if name not in counts:
                return f"checks names {name!r}, which is none of {', '.join(counts)}"
            match = re.search(pattern, answer)
            if match is None:
                return f"reports no {name} that {pattern!r} finds"
            if float(match.group(1)) != counts[name]:
                return (
                    f"reports {match.group(1)} as {name} of run {given}; ours is {counts[name]:g}"
                )
        if self._code.unreached is None:
            return ""
        expected = np.where(np.isfinite(wanted), wanted, -1.0)
        return super().complaint(answer, given, expected, counts)


def _filled(word: str, words: Mapping[str, Any]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: str(words.get(found[1], found[0])), word)


def load(path: str | Path) -> dict[str, Code]:
    """Read a file of codes.

    Parameters
    ----------
    path : path
        TOML as the module describes it.

    Returns
    -------
    dict of str to Code
        By name.

    Raises
    ------
    InvalidArgumentError
        If it is not TOML, or a table lacks something, has something unknown or of another type, or
        has an expression that does not compile or has no group.
    OSError
        If it cannot be read.
    """
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # the second of tables within tables
        raise InvalidArgumentError(f"{path} is not TOML: {error}.") from None
    return {name: _code(path, name, table) for name, table in tables.items()}


def _code(path: str | Path, name: str, table: Any) -> Code:
    where = f"{path}, [{name}]"
    if not isinstance(table, dict):
        raise InvalidArgumentError(f"{path}: {name} stands outside of a table.")
    unknown = set(table) - set(TYPES)
    if unknown:
        raise InvalidArgumentError(
            f"{where}: {', '.join(sorted(unknown))} is none of {', '.join(sorted(TYPES))}."
        )
    if not table.get("command"):
        raise InvalidArgumentError(f"{where}: command is missing; give a list of words.")
    for key, value in table.items():
        fits, wanted = TYPES[key]
        if not fits(value):
            raise InvalidArgumentError(f"{where}: {key} must be {wanted}, not {value!r}.")
    command, time = table["command"], table.get("time")
    checks = table.get("checks", {})
    for pattern in (time, *checks.values()):
        _check_expression(where, pattern)
    output = table.get("output")
    rest = {key: table[key] for key in ("version", "format", "unit", "checks") if key in table}
    return Code(
        name,
        tuple(command),
        str(time),
        algorithms=tuple(table.get("algorithms", ("bfs",))),
        first_vertex=table.get("first_vertex", 0),
        timeout_s=float(table.get("timeout_s", 60.0)),
        unreached=None if output is None else tuple(output.get("unreached", ["-1"])),
        **rest,
    )


def _check_expression(where: str, pattern: Any) -> None:
    try:
        groups = re.compile(pattern).groups
    except (re.error, TypeError) as error:
        raise InvalidArgumentError(f"{where}: {pattern!r} is no expression: {error}.") from None
    if groups < 1:
        raise InvalidArgumentError(f"{where}: {pattern!r} has no group to take the figure from.")


def peers_of(path: Path, problem: Problem) -> dict[str, Code]:
    """Codes of a file that can run a problem."""
    return {name: code for name, code in load(path).items() if problem.kind in code.algorithms}
