"""What the lanes of a SIMD group do together, none of them may skip.

Every kernel that is compiled for NVIDIA's cards is looked at, in test_compiled.py. Here are those
of which that was wrong once, in their smallest and their usual shapes.
"""

import struct

import pytest
from collectives import collectives, sections, skipped
from compilers import nvidia, ptxas

from bench.studies.recorded import RECORDED
from clgraph.device.hardware.measured import SWEEP_SHAPES
from clgraph.device.rendering.sources import render
from clgraph.primitives.stages import STATE_HEAD

pytestmark = pytest.mark.skipif(ptxas() is None, reason="ptxas is not installed")
H200 = RECORDED["h200"]
SMALLEST = (32, 4, 0)  # one SIMD group, whose loops over a tile are unrolled
SWEEPS = {
    "scan_sweep": {"type": "uint", "operator": "add"},
    "segmented_sweep": {"type": "uint", "operator": "min", "inclusive": False},
    "compact_sweep": {"kinds": ("uint",)},
}


def sweep(name, shape, looks=1):
    size, items, ahead = shape
    about = {"index": "uint", "traits": H200, "state_head": STATE_HEAD, "looks": looks}
    about |= {"group_size": size, "items": items, "ahead": ahead}
    return render(f"primitives/{name}.cl", about | SWEEPS[name])


@pytest.mark.parametrize("looks", [1, 2])
@pytest.mark.parametrize("name", SWEEPS)
def test_no_lane_skips_a_part_of_a_sweep(name, looks, tmp_path):
    for shape in (SMALLEST, SWEEP_SHAPES.on(H200)[name, 4]):
        built = nvidia(sweep(name, shape, looks), tmp_path)
        assert not built.complaints
        assert "REDUX" in {one.operation for one in collectives(built.binary)}
        assert skipped(built.binary) == []


def test_what_lanes_skip_is_found(tmp_path):
    """The test above can fail: of a reduction that is put under the predicate !P1."""
    binary = nvidia(sweep("compact_sweep", SMALLEST), tmp_path).binary
    first = next(one for one in collectives(binary) if one.operation == "REDUX")
    code = sections(binary)[f".text.{first.kernel}"]
    (word,) = struct.unpack_from("<Q", code, first.address)
    under = word & ~0xF000 | 0x9000
    changed = binary.replace(struct.pack("<Q", word), struct.pack("<Q", under), 1)
    assert skipped(changed) == [f"{first.kernel}: REDUX at {first.address:#x} under !P1"]
