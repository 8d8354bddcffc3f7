"""What a card reaches, made up near an H200, for what follows from it."""

from clgraph.profile.characterise import Ceilings

CEILINGS = Ceilings(
    copy=4e12,
    cache=7e12,
    random_reads=((4e6, 160e9), (1e9, 45e9)),
    atomics=((4e6, 100e9), (1e9, 18e9)),
    integer=29e12,
    local=33e12,
    launch_s=2e-6,
    cache_bytes=50 << 20,
    latencies={"l2": 200e-9, "l1": 20e-9, "shared": 10e-9},
    grid_barriers=((132.0, 1e-6), (1056.0, 2e-6)),
    contended=2e9,
    units=132,
)
