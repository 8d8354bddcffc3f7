"""What the host takes for the least there is to launch: what other times are measured against."""

import time

import numpy as np

from clgraph.device import Memory, wait
from clgraph.device.programs import program

TIMES = 500
SOURCE = "__kernel void f(__global uint *a, const uint x) { a[get_global_id(0)] = x; }"


def overheads_ms(device):
    """Medians: of a launch, and of a launch and the wait for it beyond what the kernel takes."""
    kernel = program.build(device, SOURCE, label="f.cl").kernel("f")
    array = Memory(device).allocate("a", 64, np.uint32)
    launches, totals = [], []
    for x in range(TIMES):
        begin = time.perf_counter()
        event = kernel.launch(64, 32, array, np.uint32(x))
        middle = time.perf_counter()
        wait(event)
        end = time.perf_counter()
        launches.append((middle - begin) * 1e3)
        totals.append((end - begin) * 1e3 - (event.profile.end - event.profile.start) * 1e-6)
    return np.median(launches), np.median(totals)
