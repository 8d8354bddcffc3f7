"""Docstrings that describe each argument once: a call takes from its plan what it does not say.

``help(cg.bfs)`` and the reference then have every argument and error in full, in the words of the
class or function that has them in its own docstring.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["documented"]

T = TypeVar("T", bound="Callable[..., Any]")

CHECKED = "VerificationError"  # only where a result can be checked
_TITLE = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
_NEXT = re.compile(r"\n(?=\S)")


def documented(*others: Callable[..., Any]) -> Callable[[T], T]:
    """Complete the numpydoc docstring of a function or class by what others say.

    Arguments that it does not describe are taken by name, in the order of its signature, and so
    are errors that it does not name, and attributes of a class; where several describe one, that is
    put together. What is returned is taken from the first that says so, where a function itself
    does not.

    Parameters
    ----------
    others : callable
        Functions, methods and classes.
    """

    def complete(called: T) -> T:
        if called.__doc__:  # Python may run without docstrings
            called.__doc__ = _completed(called, [_sections(other) for other in others])
        return called

    return complete


def _completed(called: Callable[..., Any], others: list[dict[str, str]]) -> str:
    own = _sections(called)
    takes = list(inspect.signature(called).parameters)
    described = _merged(own, others, "Parameters")
    parts = {
        "": own.pop(""),
        "Parameters": "".join(dict.fromkeys(described[n] for n in takes if n in described)),
    }
    gives = [each for each in (own, *others) if each.keys() & {"Returns", "Yields"}]
    if isinstance(called, type):
        parts["Attributes"] = "".join(dict.fromkeys(_merged(own, others, "Attributes").values()))
    elif gives:
        parts |= {title: gives[0][title] for title in ("Returns", "Yields") if title in gives[0]}
    errors = _merged(own, others, "Raises")
    if "verify" not in takes:
        errors.pop(CHECKED, None)
    parts["Raises"] = "".join(dict.fromkeys(errors.values()))
    parts |= {title: text for title, text in own.items() if title not in parts}
    written = (f"{t}\n{'-' * len(t)}\n{text}" if t else text for t, text in parts.items() if text)
    return "\n".join(written).rstrip()


def _merged(own: dict[str, str], others: list[dict[str, str]], title: str) -> dict[str, str]:
    """Give the entries of a section by name: its own, and of others what is not among these."""
    found = dict(_entries(own.get(title, "")))
    said = set(found)
    for other in others:
        for name, entry in _entries(other.get(title, "")):
            if name not in found:
                found[name] = entry
            elif name not in said:
                more = entry.partition("\n")[2]
                found[name] += more if more not in found[name] else ""
    return found


def _sections(called: Callable[..., Any]) -> dict[str, str]:
    """Split a docstring: text by title, that of what comes before by ""."""
    first, *rest = _TITLE.split(inspect.cleandoc(called.__doc__ or ""))
    texts = [text.strip("\n") + "\n" for text in (first, *rest[1::2])]
    return dict(zip(("", *rest[::2]), texts, strict=True))


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Split a section: each name that is described there, and the entry, perhaps of several."""
    for entry in _NEXT.split(text.rstrip("\n")):
        names = entry.partition("\n")[0].partition(" : ")[0].split(",")
        yield from ((name.strip(" *"), f"{entry}\n") for name in names if name.strip())
