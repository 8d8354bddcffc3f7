"""What a user declares of a search: arrays, arguments, snippets of OpenCL C, and sources."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.apart import apart
from clgraph.device.rendering.sources import source_folders
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import one_of, whole
from clgraph.graph.arrays import argument_array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike, NDArray

__all__ = [
    "Given",
    "State",
    "as_sources",
    "check_name",
    "check_snippets",
    "library_snippets",
    "sources_or_all",
]

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
# Arrays of a group in multi_search.cl; a state of such a name is known by another there.
TAKEN = frozenset({"queues", "offsets", "visited", "stamps", "aside"})
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
        What each search, or the run, finds in it; rounded where `dtype` is of floating point.

    Raises
    ------
    InvalidArgumentError
        If something of it is not as above, or `fill` does not fit `dtype`.
    """

    dtype: DTypeLike
    size: str | int = "n"
    per: str = "search"
    fill: float = 0

    def __post_init__(self) -> None:
        """Refuse what no kernel could be given."""
        element = _element(self.dtype)
        object.__setattr__(self, "dtype", element)
        one_of("per", self.per, PER)
        if isinstance(self.size, str):
            if self.size not in ("n", "m"):
                raise InvalidArgumentError(f"size={self.size!r} is not 'n', 'm' or a number.")
        else:
            whole("size", self.size)
        if not _holds(element, self.fill):
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
        known_as = f"search_{name}" if name in TAKEN else name
        ctype = C_TYPES[np.dtype(self.dtype).name]
        return SimpleNamespace(name=name, known_as=known_as, ctype=ctype, per=self.per)


class Given:
    """A number or an array that snippets only read.

    Parameters
    ----------
    name : str
        What snippets call it.
    value : NumPy scalar, int, float or array_like
        An int counts as int32 if it fits, else int64; a float as float32.

    Raises
    ------
    InvalidArgumentError
        If it is neither, or too large for its type.
    """

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        given = argument_array(f"argument {name!r}", value)
        if isinstance(value, (int, np.bool_)):
            whole = int(value)
            given = _as_c_number(name, whole, np.int32 if -(2**31) <= whole < 2**31 else np.int64)
        elif isinstance(value, float) and not isinstance(value, np.generic):
            given = _as_c_number(name, value, np.float32)
        if given.dtype.name not in C_TYPES:
            raise InvalidArgumentError(
                f"argument {name!r} is of type {given.dtype}; use numbers or arrays of one of "
                f"{', '.join(C_TYPES)}."
            )
        self.is_array = given.ndim > 0
        given = given.astype(given.dtype.newbyteorder("="), copy=False)
        self.value: Any = np.ascontiguousarray(given) if self.is_array else given[()]
        self.ctype = C_TYPES[given.dtype.name]


def _as_c_number(name: str, value: float, element: type[np.generic]) -> NDArray[Any]:
    if not _holds(np.dtype(element), value):
        raise InvalidArgumentError(
            f"argument {name!r} is {value!r}, which {element.__name__} does not hold; pass a NumPy "
            "scalar of a larger type."
        )
    return np.asarray(value, element)


def _element(dtype: DTypeLike) -> np.dtype[Any]:
    """Give the type of an array in this machine's byte order, or say that there is none such."""
    try:
        element = None if dtype is None else np.dtype(dtype)
    except TypeError:
        element = None
    if element is None or element.name not in C_TYPES:
        raise InvalidArgumentError(
            f"dtype={dtype if element is None else element} cannot be an array of a search; use "
            f"one of {', '.join(C_TYPES)}."
        )
    return element.newbyteorder("=")


def _holds(element: np.dtype[Any], value: Any) -> bool:
    """Report whether a type has a number, or one next to it where it is of floating point."""
    try:
        held = apart(np.errstate(all="ignore")(lambda: np.asarray(value).astype(element)))
        if held.ndim:
            return False
        if element.kind == "f":
            return bool(np.isfinite(held) == np.isfinite(value))
        return np.array_equal(held, np.asarray(value))
    except (TypeError, ValueError, OverflowError):
        return False


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
        barred = hook in ("where", "visit", "again", "back", "back_vertex")
        if barred and re.search(r"\bbarrier\b|\bGROUP_BARRIER\b", code):
            raise InvalidArgumentError(
                f"{hook} has a barrier, which work-items would reach in different numbers; "
                "barriers are for init, prior, post, exhausted and finalize."
            )
        if re.search(r"^\s*#\s*line\b", text, re.MULTILINE):
            raise InvalidArgumentError(f"{hook} has a #line directive, which clgraph sets itself.")
        found[hook] = text
    if "back" in found and "back_vertex" not in found:
        raise InvalidArgumentError("back sums for back_vertex, which is missing; give both.")
    if "again" not in found and ("exhausted" in found or "ASIDE" in found.get("visit", "")):
        raise InvalidArgumentError("what is set aside is asked about by again, which is missing.")
    return found


def library_snippets(name: str) -> dict[str, Any]:
    """Read the snippets of one of the library's own searches.

    Parameters
    ----------
    name : str
        File below ``kernels_cl/multi_search/searches/``, without its ending; its sections begin
        with a line ``//// hook``.

    Returns
    -------
    dict of str to str
        OpenCL C by hook.
    """
    folder, _ = source_folders()
    text = (folder / "multi_search" / "searches" / f"{name}.cl").read_text(encoding="utf-8")
    _, *parts = _SECTION.split(text)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def sources_or_all(sources: Any, n: int) -> NDArray[np.int64]:
    """Give those vertices as `as_sources` does, all of them for None."""
    return np.arange(n, dtype=np.int64) if sources is None else as_sources(sources, n)


def as_sources(sources: Any, n: int, name: str = "sources") -> NDArray[np.int64]:
    """Give vertex numbers as int64 [k], or say which of them is none."""
    plain = type(sources) is list or type(sources) is np.ndarray  # which takes the fewest calls
    try:
        given = np.asarray(sources) if plain else argument_array(name, sources)
    except InvalidArgumentError:
        raise
    except ValueError:
        given = argument_array(name, sources)  # which says what is wrong
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InvalidArgumentError(
            f"{name} must be a list of vertex numbers; a {given.dtype} array of shape "
            f"{given.shape} was given."
        )
    bad = np.flatnonzero((given < 0) | (given >= n)) if given.size else given
    if bad.size:
        raise InvalidArgumentError(
            f"{name}[{bad[0]}]={given[bad[0]]} is not a vertex of this graph; it has {n} vertices, "
            "numbered from 0."
        )
    return given.astype(np.int64)
