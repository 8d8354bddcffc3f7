"""What each operation of a device takes, in time and in energy, by kernels that do only that.

Kernels are rendered from templates with instruction, length of the straight line, chains, lanes and
footprint as parameters; where instructions can be named they are, and the assembler's text is
checked for how pure they came out.

References
----------
N. Bombieri, F. Busato, F. Fummi, M. Scala, "MIPP: a microbenchmark suite for performance, power and
energy consumption characterization of GPU architectures", Symposium on Industrial Embedded Systems,
2016.
"""

from clgraph.profile.microbenchmarks.catalogue import CATALOGUE, COSTS, Entry, choose
from clgraph.profile.microbenchmarks.measuring import Protocol, measure_entry
from clgraph.profile.microbenchmarks.quantities import UNITS, Result
from clgraph.profile.microbenchmarks.suite import (
    characterisation,
    results_of,
    run,
    store,
    validated,
)
from clgraph.profile.microbenchmarks.work import Scale

__all__ = [
    "CATALOGUE",
    "COSTS",
    "UNITS",
    "Entry",
    "Protocol",
    "Result",
    "Scale",
    "characterisation",
    "choose",
    "measure_entry",
    "results_of",
    "run",
    "store",
    "validated",
]
