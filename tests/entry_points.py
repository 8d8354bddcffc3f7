"""The entry points of pyproject.toml, where the checkout is not installed."""

import atexit
import importlib.metadata
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def provide() -> None:
    """Let networkx find the backend, in this process and by `folder` in its children.

    A distribution of another name stands in, so that no version of clgraph is made up.
    """
    if importlib.metadata.entry_points(group="networkx.backends", name="clgraph"):
        return
    made = Path(tempfile.mkdtemp(prefix="clgraph-entry-points-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    info = made / "clgraph_entry_points-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: clgraph-entry-points\nVersion: 0\n"
    )
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "entry-points"
    ]
    lines = [
        line
        for group, points in declared.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for folder in (made, ROOT):
        if str(folder) not in sys.path:
            sys.path.append(str(folder))


def folder() -> str:
    """Give what children need on their path to see the entry points; empty if nothing."""
    return next((path for path in sys.path if "clgraph-entry-points-" in path), "")
