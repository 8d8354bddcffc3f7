"""What a decomposition into strong components may do in more than one way."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

from clgraph.errors import InvalidArgumentError

__all__ = ["FINISHES", "SCCConfig"]

FINISHES = ("signatures", "sequential")
LARGEST = 1 << 20  # largest number that a dimension may be given


@dataclass(frozen=True, slots=True, kw_only=True)
class SCCConfig:
    """A point in the configuration space of the decomposition into strong components.

    A configuration changes speed, never results. ``None`` leaves a dimension to the graph and the
    device.

    Parameters
    ----------
    finish : {"signatures", "sequential"}, optional
        What decomposes the graph: two-sided signatures with path compression, contraction and
        removal of edges between components; or a depth-first search by one work-item.
    group_size, groups : int, optional
        Work-items in a work-group and work-groups in a launch.
    synchronisation : {"persistent", "stepped"}, optional
        All stages in one launch, or one launch per stage.
    scan_budget : int, optional
        How many times the size of the graph scans may cost before the sequential search takes over.

    Notes
    -----
    Whatever the configuration, no graph takes quadratic time: scans that have cost more than
    ``scan_budget`` times the size of the graph leave the rest to the sequential search.
    """

    finish: str | None = None
    group_size: int | None = None
    groups: int | None = None
    synchronisation: str | None = None
    scan_budget: int | None = None

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "auto": {},
        "signatures": {"finish": "signatures"},
        "sequential": {"finish": "sequential"},
    }

    def __post_init__(self) -> None:
        """Refuse what is not legal as soon as it is written down."""
        self.validate()

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
        if name not in cls.PRESETS:
            raise InvalidArgumentError(
                f"config={name!r} is not a preset; choose one of {', '.join(cls.PRESETS)}."
            )
        return cls(**cls.PRESETS[name])

    @classmethod
    def of(cls, config: Self | str | None) -> Self:
        """Give a configuration for whatever a caller passed as ``config=``."""
        if config is None:
            return cls.preset("auto")
        if isinstance(config, str):
            return cls.preset(config)
        if isinstance(config, cls):
            return config
        raise InvalidArgumentError(
            f"config is a {type(config).__name__}; pass a {cls.__name__}, a preset name or None."
        )

    def validate(self) -> None:
        """Check every dimension.

        Raises
        ------
        InvalidArgumentError
            One sentence on the first thing that is not legal.
        """
        choices: dict[str, tuple[Any, ...]] = {
            "finish": FINISHES,
            "synchronisation": ("persistent", "stepped"),
        }
        for name, allowed in choices.items():
            value = getattr(self, name)
            if value is not None and value not in allowed:
                raise InvalidArgumentError(
                    f"{name}={value!r} is not one of {', '.join(map(str, allowed))}."
                )
        _check_count("scan_budget", self.scan_budget, 1)
        for name in ("group_size", "groups"):
            _check_count(name, getattr(self, name), 1)

    def as_dict(self) -> dict[str, Any]:
        """Every dimension by name, for records."""
        return asdict(self)


def _check_count(name: str, value: Any, least: int) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidArgumentError(f"{name}={value!r} is not an integer.")
    if not least <= value <= LARGEST:
        raise InvalidArgumentError(
            f"{name}={value} is out of range; it must be from {least} to {LARGEST}."
        )
