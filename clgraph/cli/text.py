"""Turning records into text and JSON."""

from __future__ import annotations

import importlib.metadata
import json
import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["as_json", "count_bytes", "pairs", "plain", "printable", "table", "version_of"]

# Everything that moves a cursor, changes a terminal's state or the order of letters.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Make visible what would make a terminal do something: file names, labels, file contents."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def plain(value: Any) -> Any:
    """Make a value of Python's own types: NumPy scalars, arrays, tuples, NaN and infinity."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def as_json(record: dict[str, Any]) -> str:
    """One JSON object; what is not a finite number is null."""
    return json.dumps(plain(record), indent=2, allow_nan=False)


def version_of(package: str) -> str:
    """Say which version of a package is installed; a checkout may be used without being so."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Lines of a name and what it is, the names in one column."""
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"{name:<{width}}  {text}".rstrip() for name, text in rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Right-aligned columns under their names."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


def count_bytes(size_bytes: float) -> str:
    """Readable size: 1.5 GiB."""
    if size_bytes < 1024:
        return f"{size_bytes:.0f} bytes"
    power = min(int(math.log2(size_bytes)) // 10, 4)
    return f"{size_bytes / 1024**power:.4g} {('KiB', 'MiB', 'GiB', 'TiB')[power - 1]}"
