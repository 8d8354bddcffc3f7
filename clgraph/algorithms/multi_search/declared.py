"""A search as its user declares it: what its snippets need of a plan, and its kernel."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from clgraph.algorithms.multi_search.run import STATUS_WORDS
from clgraph.algorithms.multi_search.state import Given, State, check_name, check_snippets
from clgraph.device.rendering.sources import render
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clgraph.algorithms.multi_search.config import ResolvedSearch
    from clgraph.device import Device

__all__ = ["KERNEL", "Declared"]

KERNEL = "multi_search/multi_search.cl"

# Names by which snippets see where edges are stored.
_PLACES = re.compile(r"\b(e|indptr|indices)\b")


class Declared:
    """Arrays, arguments and snippets of a search, which fit together.

    Parameters
    ----------
    state, arguments : dict
        As of `MultiSearch`.
    snippets : dict of str to str or None
        OpenCL C by hook.
    keep_levels : bool
        Whether `finalize` may ask for levels.

    Attributes
    ----------
    states : dict of str to State
        Arrays that are read and written.
    arguments : list of Given
        What is only read.
    hooks : dict of str to str
        The snippets that there are.
    keeps_levels, sets_aside, visited : bool
        Whether a search needs its levels until it ends, room for vertices set aside, and marks.

    Raises
    ------
    InvalidArgumentError
        If a name or a snippet cannot be.
    """

    def __init__(
        self,
        state: Mapping[str, State],
        arguments: Mapping[str, Any],
        snippets: Mapping[str, str | None],
        *,
        keep_levels: bool,
    ) -> None:
        self.states: dict[str, State] = _by_name("state", state)
        self.arguments = [
            Given(name, value) for name, value in _by_name("arguments", arguments).items()
        ]
        self._check_names()
        self.hooks = check_snippets(snippets)
        self.keeps_levels = bool(keep_levels) or "back_vertex" in self.hooks
        self.sets_aside = "again" in self.hooks
        self.visited = any("FIRST" in text or "SEEN" in text for text in self.hooks.values())

    def _check_names(self) -> None:
        names = [*self.states, *(given.name for given in self.arguments)]
        for name in names:
            check_name(name)
        if len(set(names)) < len(names):
            raise InvalidArgumentError("an argument has the name of a state; rename one of them.")
        for name, state in self.states.items():
            if not isinstance(state, State):
                raise InvalidArgumentError(
                    f"state {name!r} is a {type(state).__name__}; pass a clgraph.State."
                )

    def needs_packed(self, method: str | None) -> str:
        """Say what packed rows are needed for; "" where rows in blocks will do."""
        if method == "all-edges":
            return "method='all-edges' reads the edges one after the other"
        if any(_PLACES.search(text) for text in self.hooks.values()):
            return "snippets say where edges are stored"
        if any(isinstance(state, State) and state.size == "m" for state in self.states.values()):
            return "a state has an element for each edge"
        return ""

    def source(self, config: ResolvedSearch, device: Device) -> str:
        """Render the kernel for a device, or say what that lacks."""
        traits = device.traits
        uses_double = any(np.dtype(s.dtype) == np.float64 for s in self.states.values())
        if uses_double and not traits.fp64:
            raise InvalidArgumentError(
                f"{device.name} has no double precision; declare float32 arrays."
            )
        return render(
            KERNEL,
            {
                "traits": traits,
                "config": config,
                "hooks": self.hooks,
                "states": [state.named(name) for name, state in self.states.items()],
                "arguments": self.arguments,
                "problem": SimpleNamespace(
                    visited=self.visited,
                    decreased=any("DECREASE" in text for text in self.hooks.values()),
                    keep_levels=config.keep_levels,
                    sum_type="double" if traits.fp64 else "float",
                ),
                "status_words": STATUS_WORDS,
            },
        )

    def instead(self, arguments: Mapping[str, Any]) -> Iterator[tuple[int, Given]]:
        """Give what a run has in place of the plan's arguments, with the places of these."""
        places = {known.name: place for place, known in enumerate(self.arguments)}
        for name, value in _by_name("arguments", arguments).items():
            if name not in places:
                raise InvalidArgumentError(
                    f"the plan has no argument {name!r}; give it one when it is made."
                )
            known, now = self.arguments[places[name]], Given(name, value)
            if (known.is_array, known.ctype) != (now.is_array, now.ctype):
                kinds = [
                    f"{'an array' if x.is_array else 'a number'} of {x.ctype}" for x in (known, now)
                ]
                raise InvalidArgumentError(
                    f"argument {name!r} is {kinds[0]} in the plan; {kinds[1]} was given."
                )
            yield places[name], now


def _by_name(what: str, given: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(given)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            f"{what} is a {type(given).__name__}; pass a dict by the names that snippets use."
        ) from None
