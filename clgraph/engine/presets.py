"""Named configurations, and what may be passed as ``config=``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from clgraph.engine.strategy import Strategy
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Configuration", "Presets"]


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
                f"config={name!r} is not a preset; choose one of {', '.join(cls.PRESETS)}."
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Configuration(Presets, Strategy):
    """Base of configurations that are trees of strategies."""
