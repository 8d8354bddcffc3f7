"""Which cases a run takes: so many of each test function, or exactly those that such a run leaves.

Most functions are tried on every runtime, graph and preset, which together take longer than one
waits before a push. ``--cases N`` takes N cases of each function, so that it leaves out nothing
that tests state but what is marked rest, a hundred functions of three thousand that take two fifths
of the time, and ``--other-cases N`` the others, so that both runs together are everything.
PoCL builds a kernel in half the time of Intel's runtime: most functions of the share run on it; but
where it emulates lanes it takes the longest, which most functions leave to the others.
"""

import hashlib
import subprocess
from collections import defaultdict
from collections.abc import Collection
from heapq import nsmallest

import pytest
import runtimes

# Fixtures that give a device, for which kernels are built: that is what takes time.
DEVICES = {"device", "pocl", "intel", "any_device", "target", "gpu"}
# Tests of a module that has one of these start processes, which takes time too.
STARTERS = (
    subprocess,
    runtimes.run_python,
    runtimes.run_under_pocl_threads,
    runtimes.run_under_oclgrind,
    runtimes.calls_under_oclgrind,
)


# The runtime of the share's cases in this many of four functions, and always with `any_device`; and
# what these take last: 8 s for one case of PageRank, and 0.4 on Intel's.
FIRST, LAST, OF_FOUR = "pocl", "pocl+lanes32", 3


def settled(items: list[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Divide cases into those that any run has and those of `any_device` that add nothing.

    What must hold on any device is tried in every case on the first of `runtimes.ANYWHERE`, and in
    one case of each function on `FIRST`, for the share.

    Parameters
    ----------
    items : list of pytest.Item
        What pytest collected, with the marks by which tests are skipped.

    Returns
    -------
    kept, left : list of pytest.Item
    """
    functions = defaultdict(list)
    for item in items:
        if spec_of(item, "any_device"):
            functions[function_of(item)].append(item)
    left = set()
    for cases in functions.values():
        first = sorted((item for item in cases if spec_of(item) == FIRST), key=place)
        if len(first) < len(cases):
            left.update(first[1:])
    return [item for item in items if item not in left], [item for item in items if item in left]


def divided(
    items: list[pytest.Item],
    most: int,
    added: Collection[pytest.Item] = (),
    *,
    rest: bool = True,
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Divide cases into a share of `most` of each function and the others, both in their order.

    The names of cases decide, which are ordered by a hash: every process of a run and every machine
    divides alike, a new test changes nothing for others, and no graph is preferred. Cases that
    would be skipped come last, those marked long or slow before them, and in most functions those
    on `FIRST` first and those on `LAST` last. Functions that neither need a device nor start
    processes are quick, and all their cases are in the share. No slow case is where others of its
    function are added: what takes longest is done once.

    Parameters
    ----------
    items : list of pytest.Item
        What pytest collected, with the marks by which tests are skipped.
    most : int
        Cases of a function in the share.
    added : collection of pytest.Item
        Cases that are in the share as well.
    rest : bool
        Whether functions marked rest, which take longest, are in the share at all.

    Returns
    -------
    share, others : list of pytest.Item
    """
    functions = defaultdict(list)
    for item in items:
        functions[function_of(item)].append(item)
    share, drawn = set(added), set(map(function_of, added))
    for function, cases in functions.items():
        chosen = cases if is_quick(cases[0]) else nsmallest(most, cases, key=place)
        share.update(
            case
            for case in chosen
            if not (function in drawn and is_slow(case))
            and (rest or case.get_closest_marker("rest") is None)
        )
    return [item for item in items if item in share], [item for item in items if item not in share]


def slow_ones(items: list[pytest.Item], most: int, seed: str) -> list[pytest.Item]:
    """Give so many of the slow cases of every second function that has some; `seed` decides which.

    All of them take hours: with the commit as the seed, each function has its turn within a few
    commits, and so has each of its cases.
    """
    functions = defaultdict(list)
    for item in items:
        if is_slow(item):
            functions[function_of(item)].append(item)
    chosen = []
    for function in half_of(functions, seed):
        chosen += nsmallest(
            most,
            functions[function],
            key=lambda item: (is_skipped(item), hashed(seed + item.nodeid)),
        )
    return chosen


def turn(
    items: list[pytest.Item], most: int, seed: str
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Divide cases into what a run has its turn at beside ``make test`` and the others, and these.

    Those two have all that is not slow, with kernels that are not optimised. So tests that build
    none are left to them; and of functions marked rest, which take longest, as of those with slow
    cases, every second one has its turn, with other ones for another `seed`. Slow cases come first:
    of processes that take over tests from each other, none is left alone with a long one.
    """
    slow = set(slow_ones(items, most, seed))
    rest = {function_of(item) for item in items if item.get_closest_marker("rest") is not None}
    absent = rest - set(half_of(rest, seed))
    first, then, left = [], [], []
    for item in items:
        if item in slow:
            first.append(item)
        elif is_slow(item) or is_quick(item) or function_of(item) in absent:
            left.append(item)
        else:
            then.append(item)
    return first + then, left


def half_of(functions: Collection[str], seed: str) -> list[str]:
    """Give every second function, which `seed` decides."""
    return nsmallest(-(-len(functions) // 2), functions, key=lambda name: hashed(seed + name))


def function_of(item: pytest.Item) -> str:
    """Give the name of a case without its parameters."""
    return item.nodeid.partition("[")[0]


def spec_of(item: pytest.Item, *fixtures: str) -> str | None:
    """Give the runtime that a case is for by one of these fixtures, or by either; or nothing."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    found = (params.get(name) for name in fixtures or ("device", "any_device"))
    return next((spec for spec in found if isinstance(spec, str)), None)


def place(item: pytest.Item) -> tuple[bool, bool, int, bytes]:
    """Give what cases of a function are ordered by."""
    late = {FIRST: 0, LAST: 2}.get(spec_of(item), 1) if prefers_first(item) else 0
    is_long = any(item.get_closest_marker(name) for name in ("long", "slow"))
    return is_skipped(item), is_long, late, hashed(item.nodeid)


def prefers_first(item: pytest.Item) -> bool:
    """Whether cases on `FIRST` come before others: each runtime has functions of its own, too."""
    return bool(spec_of(item, "any_device")) or hashed(function_of(item))[0] % 4 < OF_FOUR


def hashed(name: str) -> bytes:
    """Give what is alike on every machine, and otherwise by chance."""
    return hashlib.sha256(name.encode()).digest()


def is_slow(item: pytest.Item) -> bool:
    """Whether a case is marked so."""
    return item.get_closest_marker("slow") is not None


def is_skipped(item: pytest.Item) -> bool:
    """Whether a case is marked so, or for a runtime that is not installed here."""
    spec = spec_of(item)
    absent = spec in runtimes.RUNTIMES and not runtimes.is_installed(spec)
    return absent or item.get_closest_marker("skip") is not None


def is_quick(item: pytest.Item) -> bool:
    """Whether its function is given no device, none by name either, starts nothing and is short."""
    if item.get_closest_marker("long") is not None:
        return False
    starts = any(value is starter for value in vars(item.module).values() for starter in STARTERS)
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    named = any(value in runtimes.RUNTIMES for value in values if isinstance(value, str))
    return DEVICES.isdisjoint(item.fixturenames) and not starts and not named
