"""Build failures that show the rendered lines the compiler means."""

from __future__ import annotations

import contextlib
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.device.folders import cache_root, private_folder, write_atomically
from clgraph.errors import KernelBuildError

if TYPE_CHECKING:
    from clgraph.device.discovery import Device

__all__ = ["build_error", "error_lines", "excerpt", "inserted_parts", "keep_source"]

CONTEXT_LINES = 2
SHOWN_ERRORS = 3
SHOWN_LOG_CHARACTERS = 4000
# clang's "file:line:column: error: text", PoCL's "error: file:line:column: text".
_CLANG = re.compile(r"(?P<file>.*?):?(?P<line>\d+):\d+: (?:fatal )?error: (?P<text>.*)$")
_POCL = re.compile(r"error: (?P<file>.*?):(?P<line>\d+):\d+: (?P<text>.*)$")
_LINE_DIRECTIVE = re.compile(r'#line 1 "(?P<file>[^"]*)"$')


def error_lines(build_log: str) -> list[tuple[int, str]]:
    """Find what a compiler complains about.

    Parameters
    ----------
    build_log : str
        The log of a failed build.

    Returns
    -------
    list of (int, str)
        Line of the rendered source, from 1, and message; empty where the log names none.
    """
    return [(line, text) for _, line, text in _complaints(build_log)]


def _complaints(build_log: str) -> list[tuple[str, int, str]]:
    found: list[tuple[str, int, str]] = []
    for line in build_log.splitlines():
        match = _CLANG.match(line) or _POCL.search(line)
        if match:
            entry = (match["file"], int(match["line"]), match["text"].strip())
            if entry not in found:
                found.append(entry)
    return found


def inserted_parts(source: str) -> dict[str, str]:
    """Find the texts that a rendered source has from elsewhere, each after a line directive.

    Parameters
    ----------
    source : str
        OpenCL C; a part begins after ``#line 1 "name"`` and ends before the next directive.

    Returns
    -------
    dict of str to str
        Text by name; empty where there are no directives.
    """
    parts: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in source.splitlines():
        match = _LINE_DIRECTIVE.match(line)
        if match:
            lines = parts.setdefault(match["file"], [])
        elif lines is not None:
            lines.append(line)
    return {name: "\n".join(text) for name, text in parts.items()}


def excerpt(source: str, line: int) -> str:
    """Quote the lines around one, which is marked; empty if the source has no such line."""
    lines = source.splitlines()
    if not 1 <= line <= len(lines):
        return ""
    first, last = max(line - CONTEXT_LINES, 1), min(line + CONTEXT_LINES, len(lines))
    return "\n".join(
        f"  {'>' if number == line else ' '} {number:4} | {lines[number - 1]}"
        for number in range(first, last + 1)
    )


def keep_source(source: str, label: str, source_hash: str) -> Path | None:
    """Write a rendered source to the cache folder, or a temporary one; None if neither works."""
    name = f"{re.sub(r'[^A-Za-z0-9_.-]', '_', label)}-{source_hash[:12]}.cl"
    with contextlib.suppress(OSError):
        path = private_folder(cache_root() / "failed") / name
        write_atomically(path, source.encode())
        return path
    with contextlib.suppress(OSError):
        path = Path(tempfile.mkdtemp(prefix="clgraph-failed-")) / name
        write_atomically(path, source.encode())
        return path
    return None


def build_error(
    device: Device, label: str, config: str, source: str, source_hash: str, build_log: str
) -> KernelBuildError:
    """Describe a failed build.

    Parameters
    ----------
    device : Device
        The device it was for.
    label : str
        File of the kernel.
    config : str
        What it was rendered with, empty if nothing.
    source, source_hash : str
        The rendered text, which is kept on disk.
    build_log : str
        What the compiler said.

    Returns
    -------
    KernelBuildError
        Ready to be raised.
    """
    kept = keep_source(source, label, source_hash)
    with_config = f" with {config}" if config else ""
    parts = [f"{label} did not compile on {device.name} (driver {device.driver}){with_config}:"]
    complaints = _complaints(build_log)
    inserted = inserted_parts(source)
    for file, line, text in complaints[:SHOWN_ERRORS]:
        of_file = f" of {file}" if file in inserted else ""
        parts += [f"line {line}{of_file}: {text}", excerpt(inserted.get(file, source), line)]
    if len(complaints) > SHOWN_ERRORS:
        parts.append(f"... and {len(complaints) - SHOWN_ERRORS} more errors")
    if not complaints:
        parts.append(build_log.strip()[-SHOWN_LOG_CHARACTERS:] or "the compiler gave no reason")
    if kept is not None:
        parts.append(f"The rendered source is in {kept}")
    return KernelBuildError("\n".join(parts))
