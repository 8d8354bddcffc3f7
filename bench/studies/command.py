"""What studies begin and end with: options that they have alike, and the record that they write."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from clgraph.cli.text import plain

__all__ = ["command", "keep"]

USUAL: dict[str, dict[str, Any]] = {
    "commit": {"help": "what is measured, where the checkout cannot tell"},
    "data": {"type": Path, "metavar": "DIR", "help": "folder of real graphs"},
    "graphs": {"type": Path, "metavar": "DIR", "help": "folder of NAME.bcsr graphs"},
    "repeats": {"type": int},
    "scale": {"type": int, "help": "of generated graphs, a power of two"},
    "seconds": {"type": float, "help": "begin nothing later than this"},
    "sources": {"type": int, "help": "of searches of each graph"},
}


def command(
    about: str | None, record: str = "--output", *, device: str | None = None, **usual: Any
) -> argparse.ArgumentParser:
    """Give what reads the command line of a study, which adds its own options.

    Parameters
    ----------
    about : str
        Docstring of the study.
    record : str
        The option that says where its record goes.
    device : str, optional
        The device, if no other is named.
    **usual
        Those of `USUAL` that it has, with their defaults.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--device", default=device, help="as 'clgraph devices' shows it")
    parser.add_argument(record, type=Path, metavar="FILE", help="where the record goes")
    for name, default in usual.items():
        parser.add_argument(f"--{name}", default=default, **USUAL[name])
    return parser


def keep(record: Any, path: Path | None, *, indent: int | None = 1) -> None:
    """Write a record as far as it has come, if it is wanted; what is no finite number is null."""
    if path is not None:
        path.write_text(json.dumps(plain(record), indent=indent) + "\n", encoding="utf-8")
