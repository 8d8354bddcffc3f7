"""What the presets of strong components switch on: by the steps that ran, and by what they did.

The kernel of trimming, closures and colouring takes how often and how each runs as arguments, so
these presets share a text and differ in the arguments; signatures and the sequential search have
kernels of their own. The rows of the published table are compared with the argument values.
"""

import pytest
from digraphs import check_components, random_digraph, small

import clgraph as cg
from clgraph.algorithms.scc.config import TABLE_ROWS
from clgraph.algorithms.scc.steps import _parameters

GRAPH = random_digraph(1500, 2, 7)
CHAINS = small("comb")


def steps_of(graph, config, device):
    plan = cg.SCC(graph, config=config, device=device)
    result = plan.run()
    check_components(graph, result)
    return (
        plan,
        {
            phase: rounds
            for phase, rounds in (
                (name, sum(s["rounds"] for s in result.stats.steps if s["phase"] == name))
                for name in ("trim", "forward-backward", "coloring")
            )
            if rounds
        },
        {step["step"] for step in result.stats.steps},
    )


# Preset, what switches a mechanism off, and which figure differs: rounds of a phase, or its steps.
ROWS = {
    "forward-backward: trims once": ("forward-backward", {"trim": 0}, "trim"),
    "forward-backward: goes on until all is found": (
        "forward-backward", {"finish": "coloring"}, "coloring",
    ),
    "coloring: trims once": ("coloring", {"trim": 0}, "trim"),
    "coloring: colours what is left": ("coloring", {"finish": "forward-backward"}, "coloring"),
    "multistep: trims until nothing goes": ("multistep", {"trim": 1}, "trim"),
    "multistep: one forward-backward iteration": (
        "multistep", {"forward_backward": 0}, "forward-backward",
    ),
    "devshatwar: one forward-backward iteration": (
        "devshatwar", {"forward_backward": 0}, "forward-backward",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_every_mechanism_is_there(name, intel):
    preset, off, phase = ROWS[name]
    config = cg.SCCConfig.preset(preset)
    rounds = [
        steps_of(GRAPH, each, intel)[1].get(phase, 0) for each in (config, config.with_values(off))
    ]
    assert rounds[0] != rounds[1]


@pytest.mark.parametrize("preset", ["devshatwar", "multistep"])
def test_closures_are_traversed_as_the_preset_says(preset, intel):
    """Scans over all vertices have steps of their own, and frontiers others."""
    scans = preset == "devshatwar"
    _, _, steps = steps_of(CHAINS, preset, intel)
    assert ("scan" in steps) == scans
    assert ("follow" in steps) != scans


@pytest.mark.parametrize("preset", ["signatures", "sequential"])
def test_kernels_of_their_own(preset, intel):
    plan, _, steps = steps_of(CHAINS, preset, intel)
    other, _, others = steps_of(CHAINS, "multistep", intel)
    assert plan.source_hash != other.source_hash
    assert not steps & others


@pytest.mark.parametrize("name", TABLE_ROWS)
def test_rows_of_the_published_table_reach_the_kernel(name):
    trim, pairs, fb, coloring = TABLE_ROWS[name]
    values = {key: value for key, (value, _) in _parameters(cg.SCCConfig.preset(name), 32).items()}
    assert values["trim_limit"] == (trim if isinstance(trim, int) else values["trim_limit"])
    assert (values["trim_limit"] > 1000) == (trim == "full")
    assert values["pair_limit"] - values.get("pair_first", 0) == pairs
    assert (values["pair_lanes"] > 0) == (fb == "Q_VW")
    assert (values["color_lanes"] > 0) == (coloring == "Q_VW")
    queued = values["queued_closures"]
    assert (bool(queued & 1), bool(queued & 2)) == (fb == "L", coloring == "L")
