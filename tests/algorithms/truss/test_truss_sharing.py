"""Plans of one graph share what it keeps, its edges turned; and lists share the device's memory."""

import numpy as np
import pytest
from peeling import random_graph, truss_numbers_of

import clgraph as cg
from clgraph.algorithms.triangles.config import Bitmap
from clgraph.algorithms.triangles.orient import Orientation
from clgraph.device import Kernel, Memory

BITMAP = cg.TrianglesConfig(intersect=Bitmap(), order="degree")


@pytest.fixture
def graph():
    return random_graph(70, 1100, 5)


def test_a_run_has_the_turned_edges_to_itself(graph, pocl, monkeypatch):
    """Turned anew between two launches they would be others, and lists run over."""
    trusses = cg.Truss(graph, config="lists", device=pocl, ordered=True)
    triangles = cg.Triangles(graph, config=BITMAP, device=pocl)
    shared = {id(turned): turned for turned in graph.kept[Orientation].values()}.values()
    launch, held = Kernel.launch_bound, []

    def noted(self, *args, **options):
        held.append(any(turned.alone._is_owned() for turned in shared))
        return launch(self, *args, **options)

    monkeypatch.setattr(Kernel, "launch_bound", noted)
    for ask in (
        trusses.run,
        lambda: trusses.run(greatest=True, prepare=True),
        trusses.run,
        trusses.removals,
        trusses.on_device,
        lambda: triangles.run(prepare=True),
        lambda: triangles.run("edge"),
        lambda: list(triangles.blocks(100)),
    ):
        held.clear()
        ask()
        assert held
        assert all(held)
    assert not any(turned.alone._is_owned() for turned in shared)


def test_an_order_of_removals_after_edges_were_turned_anew(graph, pocl):
    """It is noted by the numbers that edges had, which are of no use then."""
    plan = cg.Truss(graph, config="lists", device=pocl, ordered=True)
    numbers = plan.run().numbers
    turned = plan._trusses.edges._turned
    other = cg.Triangles(graph, config=BITMAP, device=pocl)
    other._counting.turned = other._counting.rows = turned
    other.run(prepare=True)
    assert plan._trusses.listed_fills != turned.fills
    found = plan.on_device()
    assert plan._trusses.listed_fills == turned.fills
    np.testing.assert_array_equal(found[0].read(), numbers)
    edges = numbers > 0
    assert len(np.unique(plan.removals()[edges])) == graph.m // 2


def test_blocks_end_where_edges_are_turned_anew(graph, pocl):
    """Which triangles there are left to list is known by owners, who are others then."""
    plan = cg.Triangles(graph, config=BITMAP, device=pocl)
    blocks = plan.blocks(100)
    next(blocks)
    plan.run()
    next(blocks)
    plan.run(prepare=True)
    with pytest.raises(cg.InvalidArgumentError, match="ask for blocks again"):
        next(blocks)
    assert sum(len(block) for block in plan.blocks(100)) == plan.run().count


def test_lists_leave_room_for_what_peels_by_them(graph, pocl, monkeypatch):
    """Where they do not, triangles are looked up in rows; lists that are there count once."""
    plan = cg.Truss(graph, device=pocl)
    edges = plan._trusses.edges
    plan.run()
    assert plan.method == "lists"
    lists = edges.list_bytes(claimed=False)
    free = lists
    monkeypatch.setattr(Memory, "free_bytes", property(lambda _: free))
    tight = cg.Truss(graph, device=pocl)
    assert (tight.run().numbers == truss_numbers_of(graph)).all()
    assert tight.method == "rows"
    free = 25 * edges.count  # as its lists are there already
    assert edges.may_list(claimed=False)
    free -= 64
    assert not edges.may_list(claimed=False)
