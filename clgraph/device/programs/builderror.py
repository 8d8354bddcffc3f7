"""Build failures that show the rendered lines the compiler means."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.device.folders import cache_root, private_folder, write_atomically
from clgraph.errors import KernelBuildError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from _typeshed import DataclassInstance

    from clgraph.device.discovery import Device

__all__ = [
    "build_error",
    "complaints_in",
    "differences",
    "excerpt",
    "first_error",
    "inserted_parts",
    "keep_source",
]

CONTEXT_LINES = 2
SHOWN_CHARACTERS = 160
# clang's "file:line:column: error: text", PoCL's "error: file:line:column: text".
_CLANG = re.compile(r"(?P<file>.*?):?(?P<line>\d+):\d+: (?:fatal )?error: (?P<text>.*)$")
_POCL = re.compile(r"error: (?P<file>.*?):(?P<line>\d+):\d+: (?P<text>.*)$")
_LINE_DIRECTIVE = re.compile(r'#line 1 "(?P<file>[^"]*)"$')


def complaints_in(build_log: str) -> list[tuple[str, int, str]]:
    """Find what a compiler complains about.

    Parameters
    ----------
    build_log : str
        The log of a failed build.

    Returns
    -------
    list of (str, int, str)
        File, line of the rendered source, from 1, and message; empty where the log names none.
    """
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


def keep_source(source: str, build_log: str, label: str, source_hash: str) -> Path | None:
    """Write a rendered source, and beside it what the compiler said of it, to disk.

    Returns
    -------
    pathlib.Path or None
        The source, in the cache folder or a temporary one; the log has ``.log`` behind its name.
        None where neither folder can be written to.
    """
    name = f"{re.sub(r'[^A-Za-z0-9_.-]', '_', label)}-{source_hash[:12]}.cl"
    for folder in (_cache_folder, _temporary_folder):
        with contextlib.suppress(OSError):
            path = folder() / name
            write_atomically(path, source.encode())
            write_atomically(path.with_name(f"{name}.log"), build_log.encode())
            return path
    return None


def _cache_folder() -> Path:
    return private_folder(cache_root() / "failed")


def _temporary_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="clgraph-failed-"))


def first_error(build_log: str) -> str:
    """Give the first complaint of a compiler on one line, without its place."""
    complaints = complaints_in(build_log)
    if complaints:
        return complaints[0][2]
    lines = [line.strip() for line in build_log.splitlines() if line.strip()]
    wrong = [line for line in lines if "error" in line.casefold() or "fatal" in line.casefold()]
    text = next(iter(wrong or lines), "the compiler gave no reason")
    return text.removeprefix("error: ")[:SHOWN_CHARACTERS]


def differences(values: Mapping[str, object]) -> str:
    """Say on less than a line which values were asked for.

    Parameters
    ----------
    values : mapping of str to object
        Parameters by name. A configuration among them stands for its fields that do not have their
        defaults, as its ``as_dict`` names them where it has one; numbers, texts and switches for
        themselves; anything else is left out.

    Returns
    -------
    str
        "name=value, name=value", cut after `SHOWN_CHARACTERS`.
    """
    text = ", ".join(_differing(values))
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return text[: text.rindex(", ", 0, SHOWN_CHARACTERS) if ", " in text else 0] + ", ..."


def _differing(values: Mapping[str, object]) -> Iterator[str]:
    for name, value in values.items():
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            yield from _differing(_changed(value))
        elif isinstance(value, bool | int | float | str) and name.islower():
            yield f"{name}={value}"


def _changed(config: DataclassInstance) -> dict[str, object]:
    named: dict[str, object] | None = getattr(config, "as_dict", dict)()
    if named:
        return named
    found: dict[str, object] = {}
    for field in dataclasses.fields(config):
        default, now = field.default, getattr(config, field.name)
        if default is dataclasses.MISSING or now == default:
            continue
        if dataclasses.is_dataclass(now) and not isinstance(now, type):
            found[field.name] = type(now).__name__
            found.update({f"{field.name}.{name}": value for name, value in _changed(now).items()})
        else:
            found[field.name] = now
    return found


def build_error(
    device: Device, label: str, config: str, source: str, source_hash: str, build_log: str
) -> KernelBuildError:
    """Describe a failed build: a sentence, the rendered lines around the error, where the rest is.

    Parameters
    ----------
    device : Device
        The device it was for.
    label : str
        File of the kernel.
    config : str
        What it was rendered with, as `differences` says it; empty if nothing.
    source, source_hash : str
        The rendered text, which is kept on disk.
    build_log : str
        What the compiler said, which is kept beside it.

    Returns
    -------
    KernelBuildError
        Ready to be raised.
    """
    kept = keep_source(source, build_log, label, source_hash)
    with_config = f" with {config}" if config else ""
    complaints = complaints_in(build_log)
    inserted = inserted_parts(source)
    where, lines = "", ""
    if complaints:
        file, line, _ = complaints[0]
        where = f" (line {line}{f' of {file}' if file in inserted else ''})"
        lines = excerpt(inserted.get(file, source), line)
    parts = [
        f"{label} did not compile on {device.name} (driver {device.driver}){with_config}: "
        f"{first_error(build_log)}{where}",
        lines,
    ]
    more = f"{len(complaints) - 1} more errors, the " if len(complaints) > 2 else "The "
    more = "Another error, the " if len(complaints) == 2 else more
    if kept is not None:
        parts.append(f"{more}rendered source and the compiler's log are in {kept} and .log")
    return KernelBuildError("\n".join(part for part in parts if part))
