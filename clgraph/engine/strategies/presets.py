"""Named configurations, and what may be passed as ``config=``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from clgraph.engine.strategies.parameters import parameter
from clgraph.engine.strategies.strategy import Strategy
from clgraph.errors import InvalidArgumentError
from clgraph.graph.arguments import shown
from clgraph.graph.modules import module

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph.device import Device
    from clgraph.graph import Graph

__all__ = ["TUNED", "Configuration", "Presets", "check_origin"]

TUNED = "tuned"  # the name for what the tuning database has
LONGEST_ORIGIN = 400


def check_origin(origin: Any) -> None:
    """Refuse what is no line of text.

    Raises
    ------
    InvalidArgumentError
        If it is not.
    """
    if origin is not None and not (
        isinstance(origin, str) and origin.isprintable() and len(origin) <= LONGEST_ORIGIN
    ):
        raise InvalidArgumentError(f"origin={shown(origin)} is not one line of text.")


@dataclass(frozen=True, slots=True)
class _Origin:
    """Checks where a configuration is from; not among what is listed for users to set."""

    values = ""

    def check(self, name: str, value: Any) -> Any:
        del name
        check_origin(value)
        return value

    def parse(self, name: str, text: str) -> Any:
        return self.check(name, text)


class Presets:
    """Base of what has names: `PRESETS` holds the keywords of each."""

    __slots__ = ()

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {"auto": {}}

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """Names of the published and recommended configurations."""
        return tuple(cls.PRESETS)

    @classmethod
    def preset(cls, name: str) -> Self:
        """Give the configuration called `name`.

        Raises
        ------
        InvalidArgumentError
            If there is no such preset; the message lists those there are.
        """
        if not isinstance(name, str) or name not in cls.PRESETS:
            raise InvalidArgumentError(
                f"config={shown(name)} is not a preset; choose one of {', '.join(cls.PRESETS)}."
            )
        return cls(**cls.PRESETS[name])

    @classmethod
    def of(cls, config: Self | str | None) -> Self:
        """Give a configuration for whatever a caller passed as ``config=``.

        Raises
        ------
        InvalidArgumentError
            If it is neither a configuration of this class nor the name of one.
        """
        if config is None:
            return cls.preset("auto")
        if isinstance(config, str):
            return cls.preset(config)
        if isinstance(config, cls):
            return config
        raise InvalidArgumentError(
            f"config is a {type(config).__name__}; pass a {cls.__name__}, a preset name or None."
        )

    @classmethod
    def on(cls, config: Self | str | None, algorithm: str, graph: Graph, device: Device) -> Self:
        """Give a configuration as `of` does, or by "tuned" what is kept for such a graph.

        Parameters
        ----------
        config : configuration or str, optional
            "tuned", or "tuned:energy" and the like for another objective than time; or as for `of`.
        algorithm : str
            As the tuning database calls it.
        graph, device : Graph, Device
            What is to be run, and where.

        Raises
        ------
        InvalidArgumentError
            If it is neither a configuration of this class nor the name of one.
        """
        name, _, objective = config.partition(":") if isinstance(config, str) else ("", "", "")
        if name != TUNED:
            return cls.of(config)
        database = module("clgraph.tune.database")
        found: Self = database.configured(graph, algorithm, device, objective or "time")
        return found


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Configuration(Presets, Strategy):
    """Base of configurations that are trees of strategies.

    Parameters
    ----------
    origin : str, optional
        Where it is from, as ``config="tuned"`` says it; changes nothing.
    """

    origin: str | None = parameter(_Origin(), None)
