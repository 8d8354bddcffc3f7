"""What a user declares of a search: its arrays, its arguments and its snippets of OpenCL C."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.device.sources import source_folders
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike

__all__ = ["HOOKS", "Given", "State", "check_name", "check_snippets", "library_snippets"]

HOOKS = ("init", "prior", "where", "visit", "post", "back", "back_vertex", "finalize")
C_TYPES = {
    "int8": "char",
    "uint8": "uchar",
    "int16": "short",
    "uint16": "ushort",
    "int32": "int",
    "uint32": "uint",
    "int64": "long",
    "uint64": "ulong",
    "float32": "float",
    "float64": "double",
}
PER = ("search", "group", "run")
# Words of C and of the vocabulary that snippets are given; a state cannot have their names.
RESERVED_TEXT = """
auto bool break case char const constant continue default do double else enum extern float for
global goto half if inline int kernel local long private register restrict return short signed
size_t sizeof static struct switch typedef uchar uint ulong union unsigned ushort void volatile
while i src u v e level frontier_size lid n m k indptr indices levels sum barrier
"""
RESERVED = frozenset(RESERVED_TEXT.split())
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_SECTION = re.compile(r"^//// (\w+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class State:
    """An array that the snippets of a `MultiSearch` read and write.

    Parameters
    ----------
    dtype : dtype_like
        Integers of 8 to 64 bits, float32 or float64.
    size : {"n", "m"} or int
        Elements: one per vertex, one per edge, or a number.
    per : {"search", "group", "run"}
        Who has one. "search": every search its own, all of them are kept (the *store* mode).
        "group": every work-group, used by one search after the other (the *scratch* mode), not
        part of the result. "run": one, which all searches share.
    fill : number
        What each search, or the run, finds in it.

    Raises
    ------
    InvalidArgumentError
        If something of it is not as above, or `fill` is no value of `dtype`.
    """

    dtype: DTypeLike
    size: str | int = "n"
    per: str = "search"
    fill: float = 0

    def __post_init__(self) -> None:
        """Refuse what no kernel could be given."""
        element = np.dtype(self.dtype)
        if element.name not in C_TYPES:
            raise InvalidArgumentError(
                f"dtype={element} cannot be an array of a search; use one of {', '.join(C_TYPES)}."
            )
        if self.per not in PER:
            raise InvalidArgumentError(f"per={self.per!r} is not one of {', '.join(PER)}.")
        if isinstance(self.size, str):
            if self.size not in ("n", "m"):
                raise InvalidArgumentError(f"size={self.size!r} is not 'n', 'm' or a number.")
        else:
            whole("size", self.size)
        with np.errstate(all="ignore"):
            filled = np.asarray(self.fill).astype(element)
        if not np.array_equal(filled, np.asarray(self.fill), equal_nan=True):
            raise InvalidArgumentError(f"fill={self.fill!r} is not a value of {element}.")

    def count(self, n: int, m: int) -> int:
        """Elements that one owner has."""
        return {"n": n, "m": m}[self.size] if isinstance(self.size, str) else int(self.size)

    def fill_scalar(self) -> np.generic:
        """Give `fill` as a kernel takes it."""
        scalar: np.generic = np.array([self.fill]).astype(self.dtype)[0]
        return scalar

    def named(self, name: str) -> SimpleNamespace:
        """Give what templates see of it."""
        return SimpleNamespace(name=name, ctype=C_TYPES[np.dtype(self.dtype).name], per=self.per)


class Given:
    """A number or an array that snippets only read.

    Parameters
    ----------
    name : str
        What snippets call it.
    value : NumPy scalar, int, float or array_like
        An int counts as int32 if it fits, else int64; a float as float32.
    """

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.is_array = np.ndim(value) > 0
        if isinstance(value, float) and not isinstance(value, np.generic):
            value = np.float32(value)
        elif isinstance(value, (int, np.bool_)):
            value = np.int32(value) if -(2**31) <= value < 2**31 else np.int64(value)
        self.value: Any = np.ascontiguousarray(value) if self.is_array else np.asarray(value)[()]
        if self.value.dtype.name not in C_TYPES:
            raise InvalidArgumentError(
                f"argument {name!r} is of type {self.value.dtype}; use numbers or arrays of one of "
                f"{', '.join(C_TYPES)}."
            )
        self.ctype = C_TYPES[self.value.dtype.name]


def check_name(name: str) -> None:
    """Refuse a name that snippets cannot use."""
    if (
        not isinstance(name, str)
        or not _NAME.match(name)
        or name in RESERVED
        or name.startswith(("search_", "lane", "atom"))
        or name.isupper()
    ):
        raise InvalidArgumentError(
            f"{name!r} cannot name an array of a search: use a C identifier that is no word of "
            "OpenCL C, has a lower-case letter and is none of the names in scope, such as i, src, "
            "u, v, e, level."
        )


def check_snippets(snippets: Mapping[str, str | None]) -> dict[str, str]:
    """Give the snippets that are not empty, or say what is wrong with one."""
    found: dict[str, str] = {}
    for hook, text in snippets.items():
        if text is None:
            continue
        if not isinstance(text, str):
            raise InvalidArgumentError(
                f"{hook} is a {type(text).__name__}; pass OpenCL C as a string."
            )
        code = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
        if not code.strip():
            continue
        barred = hook in ("where", "visit", "back", "back_vertex")
        if barred and re.search(r"\bbarrier\b|\bGROUP_BARRIER\b", code):
            raise InvalidArgumentError(
                f"{hook} has a barrier, which work-items would reach in different numbers; "
                "barriers are for init, prior, post and finalize."
            )
        if re.search(r"^\s*#\s*line\b", text, re.MULTILINE):
            raise InvalidArgumentError(f"{hook} has a #line directive, which clgraph sets itself.")
        found[hook] = text
    if "back" in found and "back_vertex" not in found:
        raise InvalidArgumentError("back sums for back_vertex, which is missing; give both.")
    return found


def library_snippets(name: str) -> dict[str, Any]:
    """Read the snippets of one of the library's own searches.

    Parameters
    ----------
    name : str
        File below ``kernels_cl/searches/``, without its ending; its sections begin with a line
        ``//// hook``.

    Returns
    -------
    dict of str to str
        OpenCL C by hook.
    """
    folder, _ = source_folders()
    text = (folder / "searches" / f"{name}.cl").read_text(encoding="utf-8")
    _, *parts = _SECTION.split(text)
    return dict(zip(parts[::2], parts[1::2], strict=True))
