"""``python -m bench.run``: measure a suite from a checkout."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from clgraph.errors import ClgraphError

from . import command, text

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Measure; 0 if every case ran or was skipped for a reason, 1 if one failed, 2 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m bench.run", description=__doc__)
    command.add_arguments(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the record goes")
    args = parser.parse_args(argv)
    try:
        record = command.measure(args, args.json)
    except ClgraphError as error:
        sys.stderr.write(f"bench: {error}\n")
        return 2
    print(text.render(record))
    return 1 if any(case["status"] == "failed" for case in record["cases"]) else 0


if __name__ == "__main__":
    sys.exit(main())
