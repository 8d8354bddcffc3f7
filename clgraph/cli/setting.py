"""Configurations as commands take them: a preset by its name, and parameters over it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TypeVar

from clgraph.engine.strategies.presets import TUNED
from clgraph.engine.strategies.strategy import parsed, paths
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clgraph.engine.strategies.presets import Configuration
    from clgraph.engine.strategies.strategy import Strategy

__all__ = ["add_setting", "is_tuned", "wanted"]

AnyConfig = TypeVar("AnyConfig", bound="Configuration")


def add_setting(parser: argparse.ArgumentParser, kind: type[Strategy]) -> None:
    """Declare parameters of a configuration, and list them at the end of the help."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a parameter of the configuration, of those below (repeatable)",
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "parameters:\n" + "\n".join(_listed(kind))


def _listed(kind: type[Strategy]) -> Iterator[str]:
    """Every parameter by its dotted name, what it may be, and whose it is."""
    found: dict[tuple[str, str], list[str]] = {}
    for path, owner, check in paths(kind):
        found.setdefault((path, check.values), []).append(owner)
    for (path, values), owners in found.items():
        named = ", ".join(owner for owner in owners if owner)
        note = f"  ({named})" if named and "." in path else ""
        if values:
            yield f"  {path:27} {values}{note}"


def is_tuned(preset: str | None) -> bool:
    """Whether a preset is the name for what was tuned."""
    return preset is not None and preset.partition(":")[0] == TUNED


def wanted(kind: type[AnyConfig], preset: str | None, settings: list[str]) -> AnyConfig | str:
    """Give a preset with parameters set, or the name for what was tuned, which a plan looks up.

    Raises
    ------
    InvalidArgumentError
        If there is no such preset or parameter, or they do not go together.
    """
    if preset is not None and is_tuned(preset):
        if settings:
            raise InvalidArgumentError(
                "--set changes presets, and --config tuned takes an entry as it is; leave one out."
            )
        return preset
    return kind.of(preset).with_values(dict(parsed(kind, text) for text in settings))
