"""Entry point of the ``clgraph`` command."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from clgraph.cli.algorithms import (
    bfs,
    centrality,
    communities,
    dynamic,
    ktruss,
    match,
    mine,
    scc,
    similarity,
    sssp,
    triangles,
)
from clgraph.cli.algorithms.whole import rank, structure, walk
from clgraph.cli.files import convert, generate, info
from clgraph.cli.text import as_json, printable, version_of
from clgraph.cli.tools import bench, devices, doctor, microbench, profile, tune
from clgraph.errors import (
    ClgraphError,
    DeviceMemoryError,
    DeviceNotFoundError,
    InvalidArgumentError,
    KernelBuildError,
    KernelTimeoutError,
    OutOfBoundsError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clgraph.cli.command import Command

__all__ = ["main"]

COMMANDS: tuple[Command, ...] = (
    devices.COMMAND,
    doctor.COMMAND,
    info.COMMAND,
    bfs.COMMAND,
    sssp.COMMAND,
    scc.COMMAND,
    scc.COMPONENTS_COMMAND,
    centrality.COMMAND,
    triangles.COMMAND,
    similarity.COMMAND,
    communities.COMMAND,
    dynamic.COMMAND,
    ktruss.COMMAND,
    rank.COMMAND,
    structure.CORE_COMMAND,
    structure.MST_COMMAND,
    structure.COLOR_COMMAND,
    walk.COMMAND,
    match.COMMAND,
    mine.COMMAND,
    convert.COMMAND,
    generate.COMMAND,
    bench.COMMAND,
    microbench.COMMAND,
    profile.COMMAND,
    tune.COMMAND,
)

INTERNAL_ERROR, BAD_INPUT, DEVICE_TROUBLE, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 130, 141
DEVICE_ERRORS = (DeviceNotFoundError, DeviceMemoryError, KernelTimeoutError, OutOfBoundsError)


class Parser(argparse.ArgumentParser):
    """A parser whose complaints take one line, and that is filled when it is to parse something.

    Attributes
    ----------
    declare : callable, optional
        Declares its arguments: those of all commands together take 25 ms.
    """

    declare: Callable[[], None] | None = None

    def parse_known_args(self, *given: Any, **named: Any) -> Any:
        """Parse, as the base class does."""
        declare, self.declare = self.declare, None
        if declare is not None:
            declare()
        return super().parse_known_args(*given, **named)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage."""
        raise InvalidArgumentError(f"{message}; see '{self.prog} --help'")


def build_parser() -> Parser:
    """Declare every subcommand; the arguments of one when it is chosen."""
    parser = Parser(prog="clgraph", description="Graph analytics on OpenCL devices.")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        sub = commands.add_parser(
            command.name, help=command.summary, description=command.summary + "."
        )
        sub.declare = partial(_declare, command, sub)
    return parser


def _declare(command: Command, sub: Parser) -> None:
    command.add_arguments(sub)
    if command.json_file:
        sub.add_argument(
            "--json",
            nargs="?",
            const=bench.STDOUT,
            metavar="FILE",
            help="write the record to FILE, or print it as one JSON object",
        )
    else:
        sub.add_argument("--json", action="store_true", help="print one JSON object")
    sub.add_argument("--verbose", "-v", action="store_true", help="log what is done to stderr")
    sub.set_defaults(chosen=command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; default is those of the process.

    Returns
    -------
    int
        0 on success, 1 for a fault of clgraph itself, 2 for bad arguments or bad input, 3 for
        device trouble, 130 after Ctrl-C, 141 when whoever read the output has gone.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        # Labels may have letters that a terminal's encoding has not.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run(words)
    except SystemExit as leaving:  # --help
        return int(leaving.code or 0)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        return _reader_has_gone()
    except Exception as error:
        status = _explain(error)
        if status == INTERNAL_ERROR and {"-v", "--verbose"} & set(words):
            raise
        return status


def _explain(error: Exception) -> int:
    """Say on one line what went wrong, and give the exit status for it."""
    pyopencl = sys.modules.get("pyopencl")
    if isinstance(error, KernelBuildError):
        sys.stderr.write(f"clgraph: {printable(str(error))}\n")  # shows the rendered source
        return DEVICE_TROUBLE
    status, text = BAD_INPUT, str(error)
    # What a driver reports while a kernel runs has no class of its own.
    if isinstance(error, DEVICE_ERRORS) or type(error) is ClgraphError:
        status = DEVICE_TROUBLE
    elif pyopencl is not None and isinstance(error, pyopencl.Error):
        status, text = DEVICE_TROUBLE, f"the OpenCL driver failed: {error}"
    elif isinstance(error, OSError) and error.strerror and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    elif isinstance(error, OSError) and error.strerror:
        text = error.strerror
    elif isinstance(error, MemoryError):
        text = f"this machine has too little memory: {error}"
    elif not isinstance(error, ClgraphError | OSError | ImportError):
        status = INTERNAL_ERROR
        text = f"internal error, please report it with what --verbose prints: {error!r}"
    return _complain(text, status)


def _reader_has_gone() -> int:
    # What is still buffered must not be flushed into the closed pipe when the process ends.
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE


def _run(argv: Sequence[str]) -> int:
    parser = build_parser()
    args = parser.parse_args(argv)
    if args.version:
        _print(f"clgraph {version_of('clgraph')}")
        return 0
    if args.command is None:
        parser.error("say which command to run")
    command: Command = args.chosen
    with _logging(verbose=args.verbose):
        record = command.run(args)
    if not record:  # another rank of the job has it
        return 0
    _print(as_json(record) if args.json in (True, bench.STDOUT) else command.render(record))
    return command.status(record)


def _print(text: str) -> None:
    if sys.stdout is None:  # closed by whoever started this
        return
    sys.stdout.write(printable(text) + "\n")
    sys.stdout.flush()


def _complain(problem: str, status: int) -> int:
    if sys.stderr is None:
        return status
    with contextlib.suppress(OSError):
        sys.stderr.write(f"clgraph: {printable(' '.join(problem.split()))}\n")
    return status


class _Printable(logging.Formatter):
    """Logs of what comes from files do nothing to a terminal either."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record for a terminal."""
        return printable(super().format(record))


@contextlib.contextmanager
def _logging(*, verbose: bool) -> Iterator[None]:
    """Show what the library logs: warnings, or with --verbose everything."""
    log = logging.getLogger("clgraph")
    handler = logging.StreamHandler()
    handler.setFormatter(_Printable("clgraph: %(message)s"))
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG if verbose else logging.WARNING)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
