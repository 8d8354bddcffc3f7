"""What is measured of a device once and kept as JSON: numbers by name."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clgraph.device.folders import cache_root, private_folder
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clgraph.device import Device

__all__ = ["device_file", "load_kept", "private_place", "save_kept"]

T = TypeVar("T")


def load_kept(
    path: str | Path,
    schema: str,
    what: str,
    about: Callable[[Mapping[str, Any]], T],
) -> tuple[dict[str, float], T]:
    """Read a file that `save_kept` wrote.

    Parameters
    ----------
    path : str or Path
        The file.
    schema : str
        It must say that it is of this one.
    what : str
        The field that has the numbers, which is also what errors call them.
    about : callable
        Takes the other fields out of what the file holds.

    Returns
    -------
    tuple
        The numbers by name, and what `about` gave.

    Raises
    ------
    InvalidArgumentError
        If it is no such file.
    """
    wrong = f"{path} holds no {what} of schema {schema}."
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        is_ours = record["schema"] == schema
        values = {str(name): float(value) for name, value in dict(record[what]).items()}
        others = about(record)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidArgumentError(wrong) from error
    if not is_ours:
        raise InvalidArgumentError(wrong)
    return values, others


def save_kept(path: str | Path, schema: str, **fields: object) -> None:
    """Write fields as JSON, whole or not at all."""
    from clgraph.graph.formats.writing import write_whole  # noqa: PLC0415 - only who saves

    write_whole(path, json.dumps({"schema": schema, **fields}, indent=1) + "\n")


def device_file(device: Device, mark: str, ending: str = "") -> Path:
    """Say where what was measured of a device is kept.

    Parameters
    ----------
    device : Device
        Whose name the file has.
    mark : str
        What the measurement depends on: where it differs, so does the file.
    ending : str
        Of the name, before its suffix.
    """
    name = re.sub(r"[^\w.-]+", "-", device.name).strip("-")[:60]
    digest = hashlib.sha256(mark.encode()).hexdigest()
    return cache_root() / "devices" / f"{name}-{digest[:12]}{ending}.json"


def private_place(path: Path) -> Path:
    """Make the folders of what `device_file` gives, and give it back.

    Raises
    ------
    OSError
        If one cannot be made, or is not this user's alone.
    """
    private_folder(path.parent.parent)
    private_folder(path.parent)
    return path
