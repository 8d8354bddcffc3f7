"""Tables of what the backend serves: for docs/networkx.md, and for what networkx reads of us.

``python -m clgraph.interop.networkx.table`` writes both anew; a test compares.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from clgraph.interop.networkx import Backend

if TYPE_CHECKING:
    from clgraph.interop.networkx.serving import Served

__all__ = ["listing", "main", "markdown"]

BEGIN, END = "<!-- functions: begin -->", "<!-- functions: end -->"
ROOT = Path(__file__).resolve().parents[3]


def _limits(served: Served) -> str:
    """Say in a few words what of a function is left to networkx."""
    said = []
    if not served.directed:
        said.append("undirected graphs")
    if not served.undirected:
        said.append("directed graphs")
    if not served.multigraph:
        said.append("no multigraphs")
    if not served.weighted:
        said.append("no weights")
    said += [f"no `{name}`" for name in served.refuses]
    return "; ".join([*said, *([served.note] if served.note else [])])


def markdown() -> str:
    """Give the table of functions for the documentation."""
    lines = ["| function | limits |", "|---|---|"]
    group = ""
    for name, served in Backend.served().items():
        if served.group != group:
            group = served.group
            lines.append(f"| **{group}** | |")
        lines.append(f"| `{name}` | {_limits(served)} |")
    return "\n".join(lines)


def listing() -> str:
    """Give the names as ``_clgraph_networkx_info`` has them."""
    names = "".join(f'    "{name}",\n' for name in sorted(Backend.served()))
    return f"FUNCTIONS = (\n{names})\n"


def main() -> None:
    """Write the table and the names into a checkout."""
    page = ROOT / "docs" / "networkx.md"
    before, rest = page.read_text("utf-8").split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n{markdown()}\n{END}{after}", "utf-8")
    info = ROOT / "_clgraph_networkx_info.py"
    text = info.read_text("utf-8")
    info.write_text(re.sub(r"FUNCTIONS = \(.*?\)\n", listing(), text, flags=re.DOTALL), "utf-8")


if __name__ == "__main__":
    main()
