"""Steps by the statistics of a graph (scc checklist 18): the published table, and overrides."""

import pytest
from digraphs import check_components, small

import clgraph as cg
from clgraph.algorithms.scc.choose import Shape, shape_of, table_choice
from clgraph.algorithms.scc.config import TABLE_ROWS

# Of the published graphs: vertices, mean and deviation of the out-degrees, share of sinks, depth.
# Means that contradict edges over vertices are these; depths of roads are of the hundreds.
GRAPHS = {
    "amazon-2008": (0.7e6, 7.0, 3.9, 0.120, 25.7),
    "livejournal": (4.8e6, 14.2, 36.1, 0.111, 12.6),
    "flickr": (2.3e6, 14.4, 87.7, 0.323, 8.0),
    "r-mat": (10e6, 12.0, 22.3, 0.202, 7.8),
    "cit-patents": (3.8e6, 4.4, 7.8, 0.446, 4.2),
    "random": (10e6, 12.0, 3.5, 0.0, 9.0),
    "pokec": (1.6e6, 18.8, 32.1, 0.124, 9.9),
    "language": (0.4e6, 3.0, 20.7, 0.0, 33.6),
    "baidu": (23.9e6, 8.3, 23.2, 0.227, 12.8),
    "pre2": (0.7e6, 9.0, 22.1, 0.0, 60.7),
    "ca-road": (2.0e6, 2.8, 1.0, 0.003, 655.9),
    "web-berkstan": (0.9e6, 8.4, 16.4, 0.007, 465.6),
    "ssca8": (8.4e6, 11.8, 4.4, 0.002, 1535.9),
    "trec-w10g": (1.6e6, 5.0, 72.0, 0.044, 54.8),
    "fullchip": (3.0e6, 8.9, 23.1, 0.0, 37.2),
    "usa-road": (23.9e6, 2.4, 0.9, 0.0, 6277.0),
    "wiki-talk": (18.3e6, 7.0, 80.0, 0.938, 0.4),
}
# What the rules say otherwise than the table: statistics do not tell these graphs from others.
OTHERWISE = {
    "pokec": {"coloring_strategy": "Q"},
    "language": {"forward_backward": 1, "coloring_strategy": "L"},
    "baidu": {"trim": 1, "fb_strategy": "Q_VW", "coloring_strategy": "Q"},
    "trec-w10g": {"trim": "full", "forward_backward": 17},
    "usa-road": {"coloring_strategy": "L"},
}
NAMES = ("trim", "forward_backward", "fb_strategy", "coloring_strategy")


@pytest.mark.parametrize("name", TABLE_ROWS)
def test_the_published_table(name):
    published = dict(zip(NAMES, TABLE_ROWS[name], strict=True))
    choice = table_choice(Shape(*GRAPHS[name]))
    assert choice == published | OTHERWISE.get(name, {}) | {"finish": "coloring"}


def test_deep_graphs_of_even_degrees_have_no_middling_components():
    """Full trimming and many iterations are for uneven degrees; the table has no such graph."""
    even, uneven = (table_choice(Shape(1e6, 4.0, dev, 0.1, 500.0)) for dev in (1.0, 9.0))
    assert (even["trim"], even["forward_backward"]) == (1, 1)
    assert (uneven["trim"], uneven["forward_backward"]) == ("full", 17)


def test_most_of_the_table_is_met():
    assert len(OTHERWISE) <= 5
    assert sum(len(row) for row in OTHERWISE.values()) <= 0.15 * len(NAMES) * len(TABLE_ROWS)


@pytest.mark.runtimes("pocl", "intel")
@pytest.mark.parametrize("name", ["grid", "dag", "no-edges", "star-out"])
def test_statistics_decide(name, device):
    graph = small(name)
    plan = cg.SCC(graph, config="selected", device=device)
    result = plan.run()
    check_components(graph, result)
    choice = table_choice(shape_of(graph, device))
    assert {key: result.stats.config[key] for key in choice} == choice


def test_what_is_given_stays(any_device):
    graph = small("dag")
    config = cg.SCCConfig(rules="table", trim=7, finish="forward-backward")
    plan = cg.SCC(graph, config=config, device=any_device)
    assert (plan.config.trim, plan.config.finish) == (7, "forward-backward")
    assert plan.config.forward_backward is not None
    check_components(graph, plan.run())
    for empty in ("no-vertices",):
        check_components(small(empty), cg.scc(small(empty), config="selected", device=any_device))


def test_the_shape_of_a_graph(any_device):
    shape = shape_of(cg.from_edges([0, 1, 2, 3], [1, 2, 3, 4], n=5), any_device)
    assert (shape.n, shape.mean_degree, shape.sinks) == (5, 0.8, 0.2)
    assert shape.depth == (4 + 3 + 2 + 0) / 4
