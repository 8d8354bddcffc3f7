"""Ctrl-C at a chosen instruction of whatever Python runs below a call.

CPython answers signals after calls, at jumps backward and where functions begin, and nowhere else:
not between the body of a ``with`` statement and the call of ``__exit__``, on which every lock
depends. So opcodes count that follow one of these under the same handlers, and lines unless a
``with`` statement is left there.
"""

import dis
import gc
import sys
from collections import Counter
from functools import cache

ANSWERING = ("RESUME", "CALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD")


class SwallowedError(AssertionError):
    """An interruption that nobody got to see, because it came in a finalizer."""


class _Watch:
    """Sees every line, or every opcode, that a call comes to."""

    def __init__(self, *, opcodes):
        self.seen = Counter()
        self._opcodes = opcodes

    def __call__(self, frame, *_):
        frame.f_trace_opcodes, frame.f_trace_lines = self._opcodes, not self._opcodes
        before = None

        def follow(frame, event, _):
            nonlocal before
            code, place = frame.f_code, frame.f_lasti
            if event == "opcode":
                if before is not None and _may_come_between(code, before, place):
                    self.come_to((code, place))
                before = place
            elif event == "line" and place not in _ends_of_with(code):
                self.come_to((code, frame.f_lineno))
            return follow

        return follow

    def come_to(self, site):
        self.seen[site] += 1


class _Interrupter(_Watch):
    """Raises when it comes to one place."""

    def __init__(self, place, *, opcodes):
        super().__init__(opcodes=opcodes)
        self._site, self._turn = place
        self.done = False

    def come_to(self, site):
        if site != self._site or self.done:
            return
        self.seen[site] += 1
        if self.seen[site] == self._turn:
            self.done = True
            raise KeyboardInterrupt


@cache
def _instructions(code):
    return {one.offset: one for one in dis.get_instructions(code)}


@cache
def _handlers(code):
    return [(one.start, one.end, one.target) for one in dis.Bytecode(code).exception_entries]


@cache
def _may_come_between(code, before, place):
    """Whether an exception of the opcode `before`, once it is done, is the same as one here."""
    if not _instructions(code)[before].opname.startswith(ANSWERING):
        return False

    def handlers(offset):
        return [target for start, end, target in _handlers(code) if start <= offset < end]

    return handlers(before) == handlers(place)


@cache
def _ends_of_with(code):
    """Where ``__exit__(None, None, None)`` begins to be called."""
    listed = [one for one in _instructions(code).values() if one.opname != "CACHE"]
    found = set()
    for at, one in enumerate(listed):
        rest = listed[at + (one.opname == "SWAP") :][:5]
        names = [other.opname for other in rest if other.opname != "PRECALL"]
        if names[:4] == ["LOAD_CONST"] * 3 + ["CALL"] and all(
            other.argval is None for other in rest[:3]
        ):
            found.add(one.offset)
    return frozenset(found)


def _watched(call, watch):
    """Call with a watch; errors in finalizers, which Python reports and forgets, are errors."""
    lost = []
    before = sys.gettrace()
    reported, sys.unraisablehook = sys.unraisablehook, lost.append
    collects = gc.isenabled()
    gc.disable()  # so that a place is the same each time
    try:
        sys.settrace(watch)
        try:
            call()
        finally:
            sys.settrace(before)
    finally:
        sys.unraisablehook = reported
        if collects:
            gc.enable()
    if lost:
        raise SwallowedError(f"{lost[0].exc_value!r} in {lost[0].object!r}: {lost[0].err_msg}")


def interrupt(call, place, *, opcodes=False):
    """Call, and raise KeyboardInterrupt just before one of the `places`.

    Returns
    -------
    bool
        Whether the call was interrupted; what it polls for may take fewer turns than before.
    """
    watch = _Interrupter(place, opcodes=opcodes)
    try:
        _watched(call, watch)
    except KeyboardInterrupt:
        return True
    return False


def places(call, *, opcodes=False):
    """Every place that a call comes to: a line or an opcode, and for which time it is there."""
    watch = _Watch(opcodes=opcodes)
    _watched(call, watch)
    return [(site, turn) for site, times in watch.seen.items() for turn in range(1, times + 1)]


def some(found, wanted, rng):
    """Choose places: all for 0, else at most so many, evenly among the sites."""
    if not wanted or wanted >= len(found):
        return found
    order = rng.permutation(len(found))
    # Any turn of each site before a second one of any.
    rank = Counter()
    keys = []
    for at in order.tolist():
        keys.append((rank[found[at][0]], len(keys), at))
        rank[found[at][0]] += 1
    return [found[at] for _, _, at in sorted(keys)[:wanted]]
