"""Run the command line as ``python -m clgraph``."""

import sys

from clgraph.cli.main import main

sys.exit(main())
