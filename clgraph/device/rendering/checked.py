"""Checked renderings: rewriting a kernel's text so that every access to global memory is bounded.

A text is rewritten after it was rendered, so that templates know nothing of checks and nobody can
forget one. ``array[i]`` becomes ``array[CHECKED(array, i)]``, and where ``array + i`` is handed to
a function or dereferenced, ``i`` becomes ``CHECKED(array, i)``, with the check of
``templates/memory/checked.mako``. Where a function of the text only takes elements of what it is
handed, each with a check of its own, it becomes ``CHECKED_ROW(array, i)``, by which a row without
elements may begin anywhere. Each kernel, and each function that needs it, gets one more
parameter: the table that `clgraph.device.programs.checks` makes and reads, where kernels write the
addresses of their arguments first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from clgraph.device.rendering.source_text import Edits, Function, Text
from clgraph.device.rendering.sources import render

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TABLE", "CheckedSource", "checked_source"]

# Words of the table: what the first bad access was, a place for what bad accesses read and write,
# then the sizes of a kernel's arguments in bytes, and their addresses, which the kernel writes.
TABLE = {"taken": 0, "line": 1, "array": 2, "index": 3, "bound": 4, "waste": 16, "sizes": 32}

_NO_ACCESS = frozenset({"prefetch_global", "sizeof"})


class CheckedSource(NamedTuple):
    """A rewritten text and what it takes to explain what its checks find.

    Attributes
    ----------
    text : str
        OpenCL C.
    extra_lines : int
        How many lines come before the first of the rendered source.
    arrays : int
        Arguments that a table has room for.
    arguments : dict of str to tuple of str
        The names of each kernel's own parameters.
    """

    text: str
    extra_lines: int
    arrays: int
    arguments: dict[str, tuple[str, ...]]


def checked_source(source: str) -> CheckedSource:
    """Rewrite a rendered source so that its accesses to global memory are checked.

    Parameters
    ----------
    source : str
        OpenCL C.

    Returns
    -------
    CheckedSource
        The same program with checks, line by line; line directives are blanked.
    """
    text = Text(re.sub(r"^#line .*$", "", source, flags=re.MULTILINE))
    functions = text.functions()
    arguments = {
        function.name: text.parameters(function) for function in functions if function.is_kernel
    }
    arrays = max(map(len, arguments.values()), default=0)
    prelude = render("memory/checked.mako", {"arrays": arrays, "table": TABLE})
    edits = _edits(text, functions, arguments)
    return CheckedSource(prelude + edits.applied(text), prelude.count("\n"), arrays, arguments)


def _edits(
    text: Text,
    functions: list[Function],
    arguments: dict[str, tuple[str, ...]],
) -> Edits:
    """Decide what is put where."""
    edits = Edits()
    macros = text.macros()
    taking = {
        function.name: _elements_alone(text, function)
        for function in functions
        if not function.is_kernel
    }
    needing = {
        name
        for name, (body, names) in macros.items()
        if _check_accesses(text, body, text.pointers | set(names), taking, edits)
    }
    needing |= {
        function.name
        for function in functions
        if _check_accesses(text, function.body, text.pointers_in(function), taking, edits)
    }
    bodies = {name: body for name, (body, _) in macros.items()}
    bodies |= {function.name: function.body for function in functions}
    needing = text.reaching(needing, bodies)
    for body in bodies.values():
        for place in body:
            after = text.step(place)
            if text.at(place) in taking.keys() & needing and text.at(after) == "(":
                edits.around(text.partner[after], before=", CHECKED_ARGUMENT")
    for function in functions:
        if function.is_kernel:
            stores = "".join(
                f" CHECKED_BEGIN({index}, {name});"
                for index, name in enumerate(arguments[function.name])
                if name in text.pointers_in(function)
            )
            edits.around(function.body.start - 1, after=stores)
        if function.is_kernel or function.name in needing:
            edits.around(function.closing, before=", CHECKED_PARAMETER")
    return edits


def _elements_alone(text: Text, function: Function) -> set[int]:
    """Find the parameters, by number, of which a function only takes elements."""
    return {
        number
        for number, name in enumerate(text.parameters(function))
        if all(
            text.at(text.step(place)) in {"[", "+"}
            for place in function.body
            if text.at(place) == name
        )
    }


def _check_accesses(
    text: Text, body: range, names: set[str], taking: Mapping[str, set[int]], edits: Edits
) -> bool:
    """Add the checks of some text, and report whether there were any.

    ``taking`` has of each function the parameters whose elements it checks itself.
    """
    found = False
    callees: dict[int, str] = {}
    inside: list[list[int]] = []  # brackets that are open, with the number of the argument there
    for place in body:
        piece = text.at(place)
        if piece == "[" and place in text.partner:
            name = text.step(place, -1)
            pointer = text.pointer_before(place, names)
            if pointer or (text.at(name) in text.fixed and not text.declares(name)):
                found = True
                check = f"CHECKED({pointer}, " if pointer else f"CHECKED_IN({text.at(name)}, "
                edits.around(place, after=check)
                edits.around(text.partner[place], before=")")
        if piece == "(":
            inside.append([place, 0])
            callees[place] = text.at(text.step(place, -1))
        if piece == "," and inside:
            inside[-1][1] += 1
        if piece in {"(", ","} and inside:
            opening, number = inside[-1]
            callee = callees[opening]
            plus, pointer = text.pointer_from(text.step(place), names)
            begin = text.step(plus) if text.at(plus) == "+" else -1
            end = text.end_of_place(begin)
            if pointer and end >= 0 and callee not in _NO_ACCESS:
                found = True
                check = "CHECKED_ROW" if number in taking.get(callee, ()) else "CHECKED"
                edits.around(begin, before=f"{check}({pointer}, ")
                edits.around(end, before=")")
        if piece == ")" and inside:
            inside.pop()
    return found
