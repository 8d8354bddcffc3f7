"""How many joules a run cost, by the device's own meter, and ``None`` where there is none."""

from clgraph.energy.measuring import measure
from clgraph.energy.meters import Meter, NoMeter, Source, find_meter
from clgraph.energy.runs import RunEnergy, per_run
from clgraph.energy.target import PowerTarget
from clgraph.energy.window import Measurement

__all__ = [
    "Measurement",
    "Meter",
    "NoMeter",
    "PowerTarget",
    "RunEnergy",
    "Source",
    "find_meter",
    "measure",
    "per_run",
]
