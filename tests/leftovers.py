"""What a test may not leave otherwise than it found it, for those after it in the process see it.

Most of what is here is changed by tests, and by parts of the library while they are at work.
"""

import contextvars
import gc
import logging
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from clocks import happens

from clgraph.device import observing, waiting
from clgraph.device.memory import copying, staging
from clgraph.device.programs import kernel
from clgraph.threads import at_work

SIGNALS = (signal.SIGINT, signal.SIGTERM)  # pytest-timeout has SIGALRM and its timer
# Libraries set others when they are first imported: pyopencl, matplotlib, and who knows.
VARIABLES = ("CLGRAPH_", "POCL_", "OCL_", "XDG_", "PYTHON", "PATH", "HOME", "TMPDIR")
LOGGERS = ("", "clgraph")
NOTHING = "nothing"
# Threads of a device, which keeps them for the next call.
KEPT = (waiting.THREAD, staging.THREAD)


def found() -> dict[str, object]:
    """Give what this process has one of, by what a message calls it."""
    state: dict[str, object] = {
        "the folder": Path.cwd(),
        "whether garbage is collected": gc.isenabled(),
        "what follows calls": (sys.gettrace(), sys.getprofile()),
        "NumPy's handling of errors": np.geterr(),
        "who has waits leave the interpreter": set(waiting._sharing),
        "what launches go to": kernel._instead,
        "who takes note of copies": copying._noting,
        "who is watching": observing.observer(),
    }
    ours = {name: value for name, value in os.environ.items() if name.startswith(VARIABLES)}
    state |= {f"${name}": value for name, value in ours.items()}
    state |= {f"the handler of {each.name}": signal.getsignal(each) for each in SIGNALS}
    for name in LOGGERS:
        logger = logging.getLogger(name)
        state[f"the logger {name!r}"] = (logger.level, logger.propagate, list(logger.handlers))
    return state | {f"{name} of the context": value for name, value in _context().items()}


def changes(before: dict[str, object]) -> list[str]:
    """Say what is not as it was, a line for each."""
    after = found()
    return [
        f"{name}: {after.get(name, NOTHING)!r}; it was {before.get(name, NOTHING)!r}"
        for name in sorted(before | after)
        if after.get(name, NOTHING) != before.get(name, NOTHING)
    ]


def workers() -> Counter[str]:
    """Count the threads that work for somebody, by name, but those that devices keep."""
    return Counter(name for name in at_work() if name not in KEPT)


def have_ended(before: Counter[str]) -> bool:
    """Whether the threads that were not there before end, if not at once."""
    if workers() - before:
        gc.collect()  # an error that a test has kept holds whom they work for
    return happens(lambda: not workers() - before)


def _context() -> dict[str, object]:
    """Context variables of the library that do not have their default."""
    nothing = contextvars.Context()
    values = {}
    for variable, value in contextvars.copy_context().items():
        if value is not nothing.run(variable.get, None):
            values[variable.name] = value
    return values
