"""The ``clgraph`` command, also run as ``python -m clgraph``."""

import sys

__all__ = ["main"]

INTERRUPTED = 130


def main() -> int:
    """Import and run the command, answering Ctrl-C from the first import on.

    Returns
    -------
    int
        The exit status: see `clgraph.cli.main.main`.
    """
    try:
        from clgraph.cli.main import main as run

        return run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("clgraph: interrupted\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
