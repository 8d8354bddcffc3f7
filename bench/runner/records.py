"""Records of runs: one JSON object per run, written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from clgraph.cli.text import plain
from clgraph.errors import InvalidArgumentError
from clgraph.graph.formats.writing import written

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SCHEMA", "Record", "by_device", "load", "newest_first", "save", "tables"]

Record: TypeAlias = dict[str, Any]

SCHEMA = "clgraph-bench/1"


def save(record: Record, path: str | Path) -> None:
    """Write a record whole: a reader never sees half of one."""
    with written(path, compress=False) as file:
        file.write((_layout(plain(record)) + "\n").encode("utf-8", "backslashreplace"))


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
    except (ValueError, RecursionError) as error:  # the second of lists within lists
        raise InvalidArgumentError(f"{path} is not JSON: {error}.") from None
    schema = found.get("schema") if isinstance(found, dict) else None
    if schema != SCHEMA:
        raise InvalidArgumentError(
            f"{path} is no record that this version reads: its schema is {schema!r}, not {SCHEMA!r}"
        )
    record: Record = found
    parts = {"settings": dict, "machine": dict, "cases": list}
    missing = [name for name, kind in parts.items() if not isinstance(record.get(name), kind)]
    if missing:
        raise InvalidArgumentError(f"{path} is no whole record: it has no {', '.join(missing)}.")
    return record


def newest_first(found: list[tuple[str, Record]]) -> list[tuple[str, Record]]:
    """Sort files and their records by when they were started."""
    return sorted(found, key=lambda item: str(item[1]["started"]), reverse=True)


def tables(folder: Path, key: str, value: str) -> list[tuple[str, Record]]:
    """List the records in a folder that are no runs but tables, newest first.

    Parameters
    ----------
    folder : Path
        Where files end in .json.
    key, value : str
        What each says of itself.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(record, dict) and record.get(key) == value:
            found.append((path.name, record))
    return newest_first(found)


def by_device(records: Sequence[tuple[str, Record]]) -> list[tuple[str, list[tuple[str, Record]]]]:
    """Group files and their records by the name of the device, in the order of names."""
    devices: dict[str, list[tuple[str, Record]]] = {}
    for name, record in records:
        devices.setdefault(record["machine"]["device"]["name"], []).append((name, record))
    return sorted(devices.items())
