"""The parametric scheme: trimming, forward-backward, colouring, and how their closures run."""

import dataclasses
import functools
import itertools
import re

import numpy as np
import pytest
from digraphs import (
    canonical,
    chain_of_cycles,
    check_components,
    comb,
    cycle,
    dag,
    different_presets,
    digraph,
    nested_cycles,
    oracle,
    path,
    random_digraph,
    small,
)
from graphs import graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import MIXED_ONE_WAY

import clgraph as cg
from clgraph.algorithms.scc import stages as scc_stages
from clgraph.algorithms.scc import steps as scc_steps
from clgraph.algorithms.scc.config import (
    FINISHES,
    STRATEGIES,
    TABLE_ROWS,
    TRIM_SIZES,
    VIRTUAL_WARPS,
)

on_both = pytest.mark.runtimes("pocl", "intel")
SHAPES = ("mixed-one-way", "random", "comb", "chain-of-2-cycles", "self-loops", "complete", "dag")


def steps_of(graph, device, **config):
    """What was done, checked against the oracle: rows (phase, step, rounds, items, found)."""
    result = cg.scc(graph, config=cg.SCCConfig(**config), device=device)
    check_components(graph, result)
    names = ("phase", "step", "rounds", "items", "found")
    return [tuple(step.get(name) for name in names) for step in result.stats.steps]


@on_both
@pytest.mark.parametrize("preset", different_presets())
def test_every_preset(preset, device):
    """Scc checklist 1, 18 and 19: presets, the rows of table 9.3 and the baselines."""
    for name in SHAPES if device.traits.lanes > 1 else SHAPES[:3]:
        check_components(small(name), cg.scc(small(name), config=preset, device=device))


@pytest.mark.parametrize("finish", ["coloring", "signatures", "sequential", "forward-backward"])
@pytest.mark.parametrize("trim", [0, 1, 3, "full"])
@pytest.mark.parametrize("pairs", [0, 1, 2, 20])
def test_every_number_of_iterations(trim, pairs, finish, intel):
    """Scc checklist 2: the same result for every I_t, I_f and finish."""
    for name in SHAPES[:2]:
        steps_of(small(name), intel, trim=trim, forward_backward=pairs, finish=finish)


@pytest.mark.parametrize(("fb", "color"), list(itertools.product(STRATEGIES, repeat=2)))
def test_strategies_are_chosen_separately(fb, color, intel):
    """Scc checklist 2, 11 and 12: closures by strategy, trimming and colours never by queue."""
    graph = MIXED_ONE_WAY
    rows = steps_of(
        graph,
        intel,
        trim=1,
        forward_backward=1,
        finish="coloring",
        fb_strategy=fb,
        coloring_strategy=color,
    )
    for phase, strategy in (("forward-backward", fb), ("coloring", color)):
        used = {row[1] for row in rows if row[0] == phase}
        assert ("follow" in used) == (strategy == "L")
        assert ("scan" in used) == (strategy != "L")
    assert {row[3] for row in rows if row[1] == "trim"} == {graph.n}
    assert [row for row in rows if row[1] == "color"]


@pytest.mark.rest
@given(
    graph=graphs(max_vertices=40, directed=True),
    config=st.builds(
        cg.SCCConfig,
        trim=st.sampled_from([0, 1, 2, 5, "full", "adaptive"]),
        trim_size=st.sampled_from(TRIM_SIZES),
        forward_backward=st.sampled_from([0, 1, 2, 20]),
        finish=st.sampled_from(FINISHES),
        fb_strategy=st.sampled_from(STRATEGIES),
        coloring_strategy=st.sampled_from(STRATEGIES),
        scan_budget=st.sampled_from([None, 1]),
    ),
)
@settings(max_examples=200)
def test_every_combination(intel, graph, config):
    """Scc checklist 2: the same result for any dimensions of the configuration."""
    check_components(graph, cg.scc(graph, config=config, device=intel))


@pytest.mark.parametrize("width", [2, 4])
def test_virtual_warps_on_emulated_lanes(width, intel):
    """Scc checklist 11: several vertices to a SIMD group, as 8 lanes and more have them."""
    closures = {"fb_strategy": "Q_VW", "coloring_strategy": "Q_VW", "virtual_warp": width}
    config = {"trim": 1, "forward_backward": 2, "finish": "coloring", "schedule": "stepped"}
    for name in ("comb", "random"):
        steps_of(small(name), intel.emulating(8), **config, **closures)


@pytest.mark.parametrize("width", VIRTUAL_WARPS)
def test_virtual_warps(width, intel):
    """Scc checklist 11: lanes that share a vertex."""
    for name in SHAPES:
        steps_of(
            small(name),
            intel,
            forward_backward=2,
            finish="coloring",
            fb_strategy="Q_VW",
            coloring_strategy="Q_VW",
            virtual_warp=width,
        )


@pytest.mark.parametrize("width", VIRTUAL_WARPS)
def test_so_many_lanes_share_a_vertex(width, intel):
    """Scc checklist 11, in what the kernel is told and in its text."""
    strategies = {"fb_strategy": "Q_VW", "coloring_strategy": "Q", "virtual_warp": width}
    config = cg.SCCConfig(forward_backward=1, **strategies)
    told = scc_steps._parameters(config, 32)
    assert 2 ** told["pair_lanes"][0] == width
    assert told["color_lanes"][0] == 0
    text = program_text(random_digraph(50, 2, 1), config, intel)
    assert "const uint shift = coloring ? color_lanes : pair_lanes;" in text
    assert "for (offset_t e = open ? indptr[u] + share : 0; e < row_end; e += 1u << shift)" in text


@pytest.mark.parametrize("synchronisation", ["persistent", "stepped"])
@pytest.mark.parametrize("name", ["comb"])
def test_emulated_lanes(name, synchronisation, intel):
    for strategy in STRATEGIES:
        steps_of(
            small(name),
            intel.emulating(8),
            trim=1,
            forward_backward=2,
            finish="coloring",
            fb_strategy=strategy,
            coloring_strategy=strategy,
            schedule=synchronisation,
        )


@pytest.mark.parametrize("pairs", [0, 1])
def test_emulated_lanes_without_trimming(pairs, intel):
    """One kernel a stage: the launch that begins must have the stage that begins."""
    for name in ("comb", "random"):
        config = {"forward_backward": pairs, "finish": "coloring"}
        assert steps_of(small(name), intel.emulating(8), **config)[0][1] != "trim"


def test_iterations_are_those_executed(intel):
    """Scc checklist 3: 1 means one; what has nothing left stops early."""
    graph = path(60, shuffle=3)
    one = cg.schedule.Persistent(groups=1)  # of several one sees what another has just taken out
    for limit in (1, 2, 5):
        rows = steps_of(graph, intel, trim=limit, finish="sequential", schedule=one)
        assert rows[0][:3] == ("trim", "trim", limit)
        assert rows[0][4] >= 2 * limit
    rows = steps_of(graph, intel, trim="full", finish="coloring", schedule=one)
    assert [row[1] for row in rows] == ["trim"]
    rows = steps_of(cycle(50), intel, forward_backward=9, finish="coloring")
    assert [row[1] for row in rows].count("pivot") == 1
    rows = steps_of(MIXED_ONE_WAY, intel, forward_backward=3, finish="sequential")
    assert [row[1] for row in rows].count("pivot") == 3


def test_trimming(intel):
    """Scc checklist 4 and 5: loops and what is gone do not count; only in the beginning."""
    # A path of vertices with loops, which leads into a cycle and out of it.
    loops = np.arange(10)
    graph = digraph(
        np.r_[loops, np.arange(9), [9, 10, 11]],
        np.r_[loops, np.arange(1, 10), [10, 11, 4]],
    )
    rows = steps_of(graph, intel, trim="full", finish="sequential")
    trivial = np.count_nonzero(np.bincount(oracle(graph)) == 1)
    assert rows[0][:2] == ("trim", "trim")
    assert rows[0][4] == trivial
    rows = steps_of(MIXED_ONE_WAY, intel, trim=2, forward_backward=6, finish="coloring")
    assert [row[1] for row in rows].index("trim") == 0
    assert [row[1] for row in rows].count("trim") == 1
    lasting = steps_of(chain_of_cycles(10, 2), intel, trim="full", finish="sequential")
    assert lasting[0][4] == 0


@functools.cache
def trimmed(name, size):
    """Vertices that one iteration takes out: no more than `size` reach them, or are reached."""
    graph = small(name)
    reach = graph.to_scipy().toarray().astype(np.float32) + np.eye(graph.n, dtype=np.float32)
    for _ in range(graph.n.bit_length()):
        reach = (reach @ reach > 0).astype(np.float32)
    return np.count_nonzero((reach.sum(0) <= size) | (reach.sum(1) <= size))


@on_both
@pytest.mark.parametrize("size", TRIM_SIZES)
def test_trimming_of_small_components(size, device):
    """Issue 5, trim-2, trim-3: pairs and triples that nothing else reaches, or that reach none."""
    for name in (*SHAPES[:5], "random-sparse", "dag"):
        graph = small(name)
        rows = steps_of(graph, device, trim=1, trim_size=size, finish="sequential")
        expected = trimmed(name, size)
        assert rows[0][4] >= expected if size == 1 else rows[0][4] == expected
    for length in (2, 3):
        graph = chain_of_cycles(20, length, shuffle=length)
        rows = steps_of(graph, device, trim="full", trim_size=size, finish="coloring")
        assert ([row[1] for row in rows] == ["trim"]) == (length <= size)


@pytest.mark.parametrize(("runtime", "examples"), [("intel", 60), ("pocl", 15)])
@pytest.mark.parametrize("size", [2, 3])
def test_trimming_of_random_digraphs(runtime, examples, size, request):
    device = request.getfixturevalue(runtime)
    config = cg.SCCConfig(trim="full", trim_size=size, finish="sequential")

    @given(graph=graphs(max_vertices=30, directed=True))
    @settings(max_examples=examples)
    def check(graph):
        check_components(graph, cg.scc(graph, config=config, device=device))

    check()


def test_adaptive_trimming_stops_where_it_does_not_pay(intel):
    """Scc checklist 3 and 18: an iteration must remove one in 32 of those left for another."""
    star_then_path = digraph(
        np.r_[np.zeros(500, int), np.arange(501, 900)], np.r_[1:501, 502:901], n=901, shuffle=1
    )
    rows = steps_of(star_then_path, intel, trim="adaptive", trim_size=2, finish="sequential")
    assert rows[0][:3] == ("trim", "trim", 2)
    rows = steps_of(cycle(50), intel, trim="adaptive", finish="sequential")
    assert rows[0][:3] == ("trim", "trim", 1)
    rows = steps_of(small("dag"), intel, trim="adaptive", finish="sequential")
    assert rows[0][2] > 1


@on_both
def test_the_pivot_has_the_greatest_degree_product(device):
    """Scc checklist 6: the first round takes out the component of that vertex."""
    for name in ("mixed-one-way", "random", "nested-cycles", "grid"):
        graph = small(name)
        products = graph.degrees.astype(np.int64) * graph.transpose().degrees
        best = np.flatnonzero(products == products.max())
        sizes = np.bincount(oracle(graph))[oracle(graph)[best]]
        rows = steps_of(graph, device, forward_backward=1, finish="sequential")
        assert next(row[4] for row in rows if row[1] == "update") == sizes[-1]
        assert next(row[4] for row in rows if row[1] == "seed") == 1


@on_both
def test_the_pivot_is_not_that_of_the_greatest_sum(device):
    """Scc checklist 6: five edges out and in are worth more than twelve out and one in."""
    clique = np.nonzero(~np.eye(6, dtype=bool))
    graph = digraph(
        np.r_[clique[0], np.full(12, 6), 7], np.r_[clique[1], 7, np.arange(8, 19), 6], n=19
    )
    rows = steps_of(graph, device, trim=0, forward_backward=1, finish="sequential")
    assert next(row[4] for row in rows if row[1] == "update") == 6


def test_the_first_pivot_is_sought_by_lanes(intel):
    """Scc checklist 6, in the text: all are in one range, whose word sees a SIMD group's best."""
    config = cg.SCCConfig(forward_backward=1)
    text = program_text(random_digraph(50, 2, 1), config, intel)
    stage = text[text.index("now.mode == PIVOT") :]
    assert "const int single = now.iteration == 0;" in stage
    best = stage.index("if (single) best = key > best ? key : best;")
    assert best < stage.index("lane_reduce_min_ulong(~best)") < stage.index("now.mode == SEED")


def program_text(graph, config, device):
    return cg.SCC(graph, config=config, device=device)._steps._stages.program.source


def test_several_pivots_in_one_traversal(intel):
    """Scc checklist 6 and 7: a pivot for every live range, whose closures run together."""
    graph = comb(30, 3, 5)
    rows = steps_of(graph, intel, forward_backward=4, finish="sequential")
    seeds = [row[4] for row in rows if row[1] == "seed"]
    assert len(seeds) == 8
    assert seeds[::2] == seeds[1::2]
    assert seeds[0] == 1
    assert max(seeds) > 1
    names = [row[1] for row in rows[:-1]]
    assert names == ["pivot", "seed", "follow", "seed", "follow", "update"] * 4


@on_both
def test_ranges_stay_unique_at_any_depth(device):
    """Scc checklist 8: dozens of rounds, each of which splits ranges."""
    for graph in (chain_of_cycles(40, 2), comb(40, 3), dag(300, 2, 6), nested_cycles(8)):
        steps_of(graph, device, forward_backward=60, finish="coloring")
        steps_of(graph, device, finish="forward-backward")


@on_both
def test_four_classes_of_a_round_have_ranges_of_their_own(device):
    """Scc checklist 8: what is behind, ahead and apart has a pivot each, whatever joins them."""
    clique = np.nonzero(~np.eye(4, dtype=bool))
    others = [np.array([4, 5, 6]), np.array([7, 8, 9]), np.array([10, 11, 12])]
    behind, ahead, apart = others
    graph = digraph(
        np.concatenate([clique[0], *others, behind, [0], apart]),
        np.concatenate([clique[1], *(np.roll(ring, 1) for ring in others), [0, 7, 7], [7], ahead]),
    )
    rows = steps_of(graph, device, trim=0, forward_backward=2, finish="sequential")
    assert [row[4] for row in rows if row[1] == "seed"] == [1, 1, 3, 3]


def test_colours(intel):
    """Scc checklist 9 and 10: roots are those that no greater vertex reaches; all leave a round."""
    graph = random_digraph(120, 2, 7)
    reach = graph.to_scipy().toarray() + np.eye(graph.n, dtype=int)
    for _ in range(7):
        reach = np.minimum(reach @ reach, 1)
    colours = np.array([np.flatnonzero(column).max() for column in reach.T])
    roots = np.flatnonzero(colours == np.arange(graph.n))
    labels = canonical(oracle(graph))
    gone = np.isin(labels, labels[roots])
    rows = steps_of(graph, intel, finish="coloring")
    assert [row[1] for row in rows[:4]] == ["color", "seed", "follow", "update"]
    assert rows[1][4] == roots.size
    assert rows[3][4] == np.count_nonzero(gone)
    assert rows[4][3] == graph.n - np.count_nonzero(gone)


@on_both
def test_colours_stay_in_their_range(device):
    """Scc checklist 9: what one pivot parted is coloured in one round, whatever joins the parts."""
    clique = np.nonzero(~np.eye(4, dtype=bool))
    behind, ahead = np.array([4, 5, 6]), np.array([7, 8, 9])
    graph = digraph(
        np.r_[clique[0], behind, ahead, 7, 3, 8],
        np.r_[clique[1], np.roll(behind, 1), np.roll(ahead, 1), 0, 4, 5],
    )
    rows = steps_of(graph, device, trim=0, forward_backward=1, finish="coloring")
    assert [row[1] for row in rows].count("color") == 1


@on_both
def test_leftovers_are_coloured_apart(device):
    """Scc checklist 10: 2 leads to 1, but they had colours 8 and 9: both are roots next time."""
    graph = digraph([9, 8, 2], [1, 2, 1], n=10)
    rows = steps_of(graph, device, trim=0, forward_backward=0, finish="coloring")
    assert [row[4] for row in rows if row[1] == "seed"] == [8, 2]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_who_is_reached_is_noted_by_an_atomic(strategy, intel):
    """Scc checklist 20, in the text: races that lose a bit, or queue a vertex twice, are rare."""
    config = cg.SCCConfig(forward_backward=1, fb_strategy=strategy, coloring_strategy=strategy)
    text = program_text(random_digraph(50, 2, 1), config, intel)
    assert re.search(r"!\(atomic_or\(&packed\[v\d*\], bit\) & bit\)", text)
    assert not re.search(r"packed\[[^]]*\]\s*[|&^]=", text)


def test_memory_and_limits(intel, monkeypatch):
    """Scc checklist 13 and 14: one reverse graph, packed words, a limit of vertices."""
    graph = random_digraph(1000, 3, 8)
    assert graph.transpose() is graph.transpose()
    plan = cg.SCC(graph, config="multistep", device=intel)
    assert (
        plan._steps._stages.table["packed"].size_bytes == plan._component.size_bytes == 4 * graph.n
    )
    assert plan.run().stats.device_bytes >= 8 * graph.m
    monkeypatch.setattr(scc_steps, "MOST_VERTICES", 1000)
    with pytest.raises(cg.InvalidGraphError, match="28 bits"):
        cg.SCC(graph, config="multistep", device=intel)
    cg.SCC(graph, config="signatures", device=intel)


def test_phases_are_timed(any_device):
    """Scc checklist 16: rounds and time of each phase."""
    # Of one work-group: where several trim, one sees what another has just taken out, or not.
    config = cg.SCCConfig.preset("wiki-talk").with_values({"schedule.groups": 1})
    result = cg.scc(MIXED_ONE_WAY, config=config, device=any_device)
    phases = result.stats.phases
    assert list(phases) == ["trim", "forward-backward", "coloring"]
    assert phases["trim"]["rounds"] == 5
    assert sum(row["rounds"] for row in phases.values()) == result.stats.levels
    for step in result.stats.steps:  # not every device has a clock that kernels can read
        step["milliseconds"] = {"trim": 5.0}.get(step["phase"], 0.25)
    parts = [sum(step["phase"] == phase for step in result.stats.steps) for phase in phases]
    took = [row["milliseconds"] for row in result.stats.phases.values()]
    assert took == [5.0 * parts[0], 0.25 * parts[1], 0.25 * parts[2]]


def test_rounds_that_are_not_recorded_are_counted(intel, monkeypatch):
    one = cg.schedule.Persistent(groups=1)  # of several it is chance how many rounds there are
    config = dataclasses.replace(cg.SCCConfig.preset("forward-backward"), schedule=one)
    monkeypatch.setattr(scc_stages, "HISTORY_CAPACITY", 10)
    result = cg.scc(small("grid"), config=config, device=intel)
    monkeypatch.undo()
    expected = cg.scc(small("grid"), config=config, device=intel).stats.levels
    assert result.stats.steps[-1]["step"] == "not recorded"
    assert result.stats.levels == expected > 100
    check_components(small("grid"), result)


def test_the_rows_of_table_9_3():
    """Scc checklist 18: seventeen rows, of which one may be overridden."""
    assert len(TABLE_ROWS) == 17
    row = cg.SCCConfig.preset("web-berkstan")
    assert dataclasses.replace(row, trim=2).trim == 2
    assert (row.trim, row.forward_backward) == ("full", 17)
    assert (row.fb_strategy, row.coloring_strategy) == ("L", "L")
    assert set(cg.SCCConfig.presets()) >= {"auto", "multistep", "devshatwar", *TABLE_ROWS}


@pytest.mark.parametrize("strategy", ["L", "Q"])
@pytest.mark.parametrize("make", [cycle, path], ids=["cycle", "path"])
def test_long_shapes(make, strategy, intel):
    """Scc checklist 21: L and Q agree on what is long, without help of the sequential search."""
    rows = steps_of(
        make(500),
        intel,
        trim=1,
        forward_backward=1,
        finish="coloring",
        fb_strategy=strategy,
        coloring_strategy=strategy,
        scan_budget=1 << 20,
    )
    assert "sequential" not in {row[1] for row in rows}


@pytest.mark.parametrize("preset", ["coloring", "devshatwar", "forward-backward"])
def test_what_scans_leave_is_found_by_the_sequential_search(preset, intel):
    config = dict(cg.SCCConfig.PRESETS[preset], scan_budget=1)
    rows = steps_of(comb(300, 4, 3), intel, **config)
    assert rows[-1][1] == "sequential"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"trim": "all"}, 'trim=\'all\' is not an integer, "full" or "adaptive"'),
        ({"trim_size": 4}, "trim_size=4 is not one of 1, 2, 3"),
        ({"trim": -1}, "trim=-1 is out of range"),
        ({"forward_backward": 1.5}, r"forward_backward=1.5 is not an integer\."),
        ({"fb_strategy": "QQ"}, "fb_strategy='QQ' is not one of Q, Q_VW, L"),
        ({"virtual_warp": 3}, "virtual_warp=3 is not one of 2, 4"),
        ({"virtual_warp": 8.0}, r"virtual_warp=8\.0 is not one of 2, 4"),
        ({"trim_size": True}, "trim_size=True is not one of 1, 2, 3"),
        ({"trim_size": np.arange(2)}, r"trim_size=array\(\[0, 1\]\) is not one of 1, 2, 3"),
        ({"trim": np.arange(2)}, r"trim=array\(\[0, 1\]\) is not an integer"),
    ],
)
def test_what_is_refused(arguments, said):
    with pytest.raises(cg.InvalidArgumentError, match=said):
        cg.SCCConfig(**arguments)


def test_numbers_may_be_those_of_numpy():
    """Another library's integers are what they say, and json takes them."""
    config = cg.SCCConfig(trim=np.int64(2), virtual_warp=np.uint8(8), scan_budget=np.int32(5))
    assert config == cg.SCCConfig(trim=2, virtual_warp=8, scan_budget=5)
    assert {type(value) for value in config.as_dict().values()} == {int}
