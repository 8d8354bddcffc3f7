"""``python -m bench.run``: the same as ``clgraph bench``, from a checkout that is not installed."""

from __future__ import annotations

import sys

from clgraph.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))
