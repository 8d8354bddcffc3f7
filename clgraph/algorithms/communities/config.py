"""How communities are found: where sums by community are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from clgraph.engine.strategies.parameters import choice
from clgraph.engine.strategies.presets import Configuration
from clgraph.errors import InvalidArgumentError

if TYPE_CHECKING:
    from clgraph.device import Device

__all__ = ["CommunitiesConfig"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CommunitiesConfig(Configuration):
    """How communities are found; a configuration changes speed and memory, never results.

    Parameters
    ----------
    tables : {"dense", "local", "global"}, optional
        Where the edges of a vertex are summed by community: in an array over all communities for
        every work-item, in hash tables in local memory with those of long rows in global memory, or
        in hash tables in global memory alone. None takes arrays where work-items are threads of a
        processor, else local memory.
    """

    tables: str | None = choice("dense", "local", "global")

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "auto": {},
        "dense": {"tables": "dense"},
        "local": {"tables": "local"},
        "global": {"tables": "global"},
    }

    def tables_on(self, device: Device) -> str:
        """Give what is meant on a device.

        Raises
        ------
        InvalidArgumentError
            If arrays are wanted where work-items are not threads.
        """
        lanes = device.traits.lanes
        if self.tables == "dense" and lanes > 1:
            raise InvalidArgumentError(
                f"tables='dense' needs an array for every work-item, and {device.name} runs "
                f"{lanes} of them together; use 'local' or 'global'."
            )
        return self.tables or ("dense" if lanes == 1 else "local")
