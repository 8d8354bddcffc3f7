"""Ctrl-C at a chosen instruction of whatever Python runs below a call.

CPython answers signals after calls, at jumps backward and where functions begin, and nowhere else:
not between the body of a ``with`` statement and the call of ``__exit__``, on which every lock
depends. So opcodes count that follow one of these under the same handlers, and lines unless a
``with`` statement is left there.
"""

import dis
import gc
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import ClassVar

ANSWERING = ("RESUME", "CALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD")
# What Python 3.12 does without a call, as at the end of a generator that is closed.
INTRINSIC = "CALL_INTRINSIC"


class SwallowedError(AssertionError):
    """An interruption that nobody got to see, because it came in a finalizer."""


class _Code:
    """Facts about a code object; unlike that, quick to hash."""

    known: ClassVar[dict[int, "_Code"]] = {}

    def __init__(self, code):
        self._code = code  # so that nothing else gets its id
        self.name = code.co_qualname
        self._instructions = {one.offset: one for one in dis.get_instructions(code)}
        self._handlers = [
            (one.start, one.end, one.target) for one in dis.Bytecode(code).exception_entries
        ]
        self._between = {}
        # Where no signal is answered: what does nothing, and what leaves a with statement or an
        # except clause, whose exception the interpreter would keep for good.
        idle = {
            one.offset for one in self._instructions.values() if one.opname in {"NOP", "POP_EXCEPT"}
        }
        self.deaf = frozenset(idle.union(self._ends_of_with()))

    def __repr__(self):
        return f"{self.name} in {Path(self._code.co_filename).name}"

    @classmethod
    def of(cls, code):
        found = cls.known.get(id(code))
        if found is None:
            found = cls.known[id(code)] = cls(code)
        return found

    def is_of(self, frame):
        return frame.f_code is self._code

    def may_come_between(self, before, place):
        """Whether an exception of the opcode `before`, once it is done, is the same as one here."""
        key = before, place
        if key not in self._between:
            name = self._instructions[before].opname
            answers = name.startswith(ANSWERING) and not name.startswith(INTRINSIC)
            same = self._handlers_of(before) == self._handlers_of(place)
            self._between[key] = answers and same
        return self._between[key]

    def _handlers_of(self, offset):
        return [target for start, end, target in self._handlers if start <= offset < end]

    def _ends_of_with(self):
        """Where ``__exit__(None, None, None)`` begins to be called."""
        listed = [one for one in self._instructions.values() if one.opname != "CACHE"]
        for at in range(len(listed)):
            rest = [one for one in listed[at : at + 5] if one.opname != "PRECALL"][:4]
            nothing = all(one.opname == "LOAD_CONST" and one.argval is None for one in rest[:3])
            if nothing and rest[-1].opname == "CALL":
                yield listed[at].offset
                while listed[at - 1].opname in {"NOP", "SWAP"}:
                    at -= 1  # noqa: PLW2901 - what leads there
                    yield listed[at].offset


class _Watch:
    """Sees every line, or every opcode, that a call comes to."""

    def __init__(self, *, opcodes):
        self.seen = Counter()
        self._opcodes = opcodes

    def __call__(self, frame, *_):
        # Where a function begins or goes on, which Python 3.11 has no event of its own for.
        before, code = frame.f_lasti, _Code.of(frame.f_code)

        def follow(frame, event, _):
            nonlocal before
            place = frame.f_lasti
            if event == "opcode":
                if place != before and code.may_come_between(before, place):
                    self.come_to((code, place))
                before = place
            elif event == "line" and place not in code.deaf:
                self.come_to((code, frame.f_lineno))
            return follow

        frame.f_trace = follow  # Python 3.13 gives no opcodes to a frame that has none of it yet
        frame.f_trace_opcodes, frame.f_trace_lines = self._opcodes, not self._opcodes
        return follow

    def come_to(self, site):
        self.seen[site] += 1


class _Interrupter(_Watch):
    """Raises when it comes to one place; follows no code but that which has it, to be quick."""

    def __init__(self, place, *, opcodes):
        super().__init__(opcodes=opcodes)
        self._site, self._turn = place
        self.done = False

    def __call__(self, frame, *_):
        followed = not self.done and self._site[0].is_of(frame)
        return super().__call__(frame) if followed else None

    def come_to(self, site):
        if site != self._site or self.done:
            return
        self.seen[site] += 1
        if self.seen[site] == self._turn:
            self.done = True
            raise KeyboardInterrupt


def _watched(call, watch):
    """Call with a watch; errors in finalizers, which Python reports and forgets, are errors.

    What others have called at each garbage collection, as Hypothesis does, is not the call's.
    """
    lost = []
    others, gc.callbacks[:] = gc.callbacks[:], []
    before = sys.gettrace()
    reported, sys.unraisablehook = sys.unraisablehook, lost.append
    collects = gc.isenabled()
    gc.disable()  # so that a place is the same each time
    # Python 3.12 follows no opcodes unless a frame asked for them before anything is followed.
    sys._getframe().f_trace_opcodes = True
    try:
        sys.settrace(watch)
        try:
            call()
        finally:
            sys.settrace(before)
    finally:
        sys.unraisablehook = reported
        gc.callbacks[:] = others
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


def sites(call, *, opcodes=False):
    """The lines or opcodes that a call comes to."""
    return {site for site, _ in places(call, opcodes=opcodes)}


def shared(found, part):
    """Give the part of some places that a process has: ``(2, 5)`` is the second of five.

    Which it is depends on the place alone: what polls has a few more of them in another process.
    """
    which, parts = part
    return [place for place in found if zlib.crc32(repr(place).encode()) % parts == which - 1]


def some(found, wanted, rng):
    """Choose places: all for 0, else at most so many; each site for once before one again."""
    order = rng.permutation(len(found))
    # Any turn of each site before a second one of any.
    rank = Counter()
    keys = []
    for at in order.tolist():
        keys.append((rank[found[at][0]], len(keys), at))
        rank[found[at][0]] += 1
    return [found[at] for _, _, at in sorted(keys)[: wanted or len(found)]]


def holders(kind, depth=3):
    """Say what keeps objects of a class alive, for the message of a test that found some."""
    told = []
    for found in [thing for thing in gc.get_objects() if isinstance(thing, kind)]:
        chain, thing = [kind.__name__], found
        for _ in range(depth):
            others = [one for one in gc.get_referrers(thing) if one is not chain and _is_else(one)]
            if not others:
                break
            thing = others[0]
            chain.append(f"{type(thing).__name__} {str(thing)[:80]}")
        told.append(" <- ".join(chain))
    return "; ".join(told)


def _is_else(thing):
    """Whether it is none of what looking makes itself: frames of this file, and their lists."""
    return getattr(getattr(thing, "f_code", None), "co_filename", "") != __file__ and not (
        isinstance(thing, list)
    )
