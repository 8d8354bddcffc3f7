"""How many joules a run cost, by the device's own meter, and ``None`` where there is none."""

from clgraph.energy.estimating import model
from clgraph.energy.measuring import measure
from clgraph.energy.meters import NoMeter, find_meter
from clgraph.energy.model import EnergyModel, Fit, fit
from clgraph.energy.readings import Meter, Source
from clgraph.energy.runs import RunEnergy, per_run
from clgraph.energy.steady import SteadyPower, idle_baseline, steady_power
from clgraph.energy.target import PowerTarget
from clgraph.energy.window import Measurement

__all__ = [
    "EnergyModel",
    "Fit",
    "Measurement",
    "Meter",
    "NoMeter",
    "PowerTarget",
    "RunEnergy",
    "Source",
    "SteadyPower",
    "find_meter",
    "fit",
    "idle_baseline",
    "measure",
    "model",
    "per_run",
    "steady_power",
]
