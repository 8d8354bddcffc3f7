"""Which cases a run takes: so many of each test function, or exactly those that such a run leaves.

Most functions are tried on every runtime, graph and preset, which together take longer than one
waits before a push. ``--cases N`` takes N cases of each function, so that it leaves out nothing
that tests state, and ``--other-cases N`` the others, so that both runs together are everything.
"""

import hashlib
import subprocess
from collections import defaultdict
from heapq import nsmallest

import pytest
import runtimes

# Fixtures that give a device, for which kernels are built: that is what takes time.
DEVICES = {"device", "pocl", "intel", "any_device", "gpu"}
# Tests of a module that has one of these start processes, which takes time too.
STARTERS = (
    subprocess,
    runtimes.run_python,
    runtimes.run_under_pocl_threads,
    runtimes.run_under_oclgrind,
    runtimes.calls_under_oclgrind,
)


def divided(items: list[pytest.Item], most: int) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Divide cases into a share of `most` of each function and the others, both in their order.

    The names of cases decide, which are ordered by a hash: every process of a run and every machine
    divides alike, a new test changes nothing for others, and no runtime or graph is preferred.
    Cases that would be skipped come last. Functions that neither need a device nor start processes
    are quick, and all their cases are in the share.

    Parameters
    ----------
    items : list of pytest.Item
        What pytest collected, with the marks by which tests are skipped.
    most : int
        Cases of a function in the share.

    Returns
    -------
    share, others : list of pytest.Item
    """
    functions = defaultdict(list)
    for item in items:
        functions[function_of(item)].append(item)
    share = set()
    for cases in functions.values():
        share.update(cases if is_quick(cases[0]) else nsmallest(most, cases, key=place))
    return [item for item in items if item in share], [item for item in items if item not in share]


def function_of(item: pytest.Item) -> str:
    """Give the name of a case without its parameters."""
    return item.nodeid.partition("[")[0]


def place(item: pytest.Item) -> tuple[bool, bytes]:
    """Give what cases of a function are ordered by."""
    return is_skipped(item), hashlib.sha256(item.nodeid.encode()).digest()


def is_skipped(item: pytest.Item) -> bool:
    """Whether a case is marked so, or for a runtime that is not installed here."""
    spec = getattr(item, "callspec", None) and item.callspec.params.get("device")
    absent = spec in runtimes.RUNTIMES and not runtimes.is_installed(spec)
    return absent or item.get_closest_marker("skip") is not None


def is_quick(item: pytest.Item) -> bool:
    """Whether its function is given no device, none by name either, and starts no processes."""
    starts = any(value is starter for value in vars(item.module).values() for starter in STARTERS)
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    named = any(value in runtimes.RUNTIMES for value in values if isinstance(value, str))
    return DEVICES.isdisjoint(item.fixturenames) and not starts and not named
