"""Items that SIMD groups share out evenly, few or many."""

import numpy as np
import pytest
from searches import EMULATED_RUNTIMES
from unit.primitives_reference import KERNELS

from clgraph.device import Memory, load


@pytest.mark.runtimes("pocl", "intel", *EMULATED_RUNTIMES)
@pytest.mark.parametrize("count", [0, 1, 3, 17, 100, 1000])
def test_every_simd_group_has_some_before_one_has_more(device, count):
    lanes = device.traits.lanes
    size = lanes if device.traits.emulated else 2 * lanes
    groups = 4
    program = load(device, "tiles_check.cl", folders=(KERNELS,), group_size=size)
    memory = Memory(device)
    arrays = [memory.upload(name, np.zeros(max(count, 1), np.uint32)) for name in ("a", "b", "c")]
    kernel = program.kernel("check_shared_tiles")
    kernel.launch(groups * size, size, np.uint32(count), *arrays)
    visits, widths, owners = (array.read()[:count] for array in arrays)
    assert (visits == 1).all()
    if lanes > 1 and count:
        simd_groups = groups * size // lanes
        width = min(-(-count // simd_groups), lanes)
        assert (widths == width).all()
        assert np.bincount(owners).max() <= -(-count // (simd_groups * width)) * width
