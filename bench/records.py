"""Records of runs: one JSON object per run, written whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TypeAlias

from clgraph.cli.text import plain
from clgraph.errors import InvalidArgumentError

__all__ = ["SCHEMA", "Record", "load", "save"]

Record: TypeAlias = dict[str, Any]

SCHEMA = "clgraph-bench/1"


def save(record: Record, path: str | Path) -> None:
    """Write a record under a temporary name and rename it: a reader never sees half of one."""
    target = Path(path)
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        aside.write_text(_layout(plain(record)) + "\n", encoding="utf-8")
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


def _layout(record: Record) -> str:
    """One field and one case per line, so that version control shows which case changed."""

    def dump(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)

    cases = ",\n".join(dump(case) for case in record.get("cases", []))
    fields = [f'"{name}":{dump(value)}' for name, value in record.items() if name != "cases"]
    return "{" + ",\n".join([*fields, f'"cases":[\n{cases}\n]']) + "}"


def load(path: str | Path) -> Record:
    """Read a record.

    Raises
    ------
    InvalidArgumentError
        If the file is not a record of this schema.
    OSError
        If it cannot be read.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidArgumentError(f"{path} is not JSON: {error}.") from None
    schema = found.get("schema") if isinstance(found, dict) else None
    if schema != SCHEMA:
        raise InvalidArgumentError(
            f"{path} is no record that this version reads: its schema is {schema!r}, not {SCHEMA!r}"
        )
    record: Record = found
    return record
