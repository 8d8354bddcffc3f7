"""CLGRAPH_CHECK=1: kernels with bounds checks say where they left an array, and which."""

import numpy as np
import pytest
from configs import bfs_config, changed
from searches import MIXED, MIXED_SOURCES, check_search

import clgraph as cg
from clgraph import primitives
from clgraph.device import Memory, load, wait
from clgraph.device.rendering.checked import checked_source
from clgraph.errors import OutOfBoundsError

# Each writes `values`, of 8 elements, where `place` says, in a way of its own; the last two use a
# local array of 4.
WAYS = {
    "subscript": "values[place] = 1;",
    "address": "atomic_inc(&values[place]);",
    "sum": "atomic_inc(values + place);",
    "cast": "*(__global ulong *)(values + place) = 1;",
    "subscript of a cast": "((__global uchar *)values)[4 * place] = 1;",
    "choice": "(place ? values : other)[place] = 1;",
    "macro": "VALUE_AT(place) = 1;",
    "function": "store(values, place);",
    "function that takes an element": "store(values + place, 0);",
    "function that hands on": "add(other, values + place);",
    "part of an array": "__global uint *const part = values + 4; part[place - 4] = 1;",
    "nested": "values[other[place]] = 1;",
    "local": "few[place & 7] = 1; values[0] = few[0];",
}
KERNEL = """#define VALUE_AT(place_) values[place_]
static void store(__global uint *to, const int at) { to[at] = 1; }
static void add(const __global uint *from, __global uint *to) { atomic_add(to, from[1]); }
static uint sum(const __global uint *of, uint left) { return left ? of[--left] : 0u; }
__kernel void leave(
    __global uint *values,   // [8]
    __global uint *other,    // [16]
    const int place)
{
    __local uint few[4];
    ${way}
}
"""


@pytest.fixture
def checks(monkeypatch):
    monkeypatch.setenv("CLGRAPH_CHECK", "1")


def leaving(device, folder, way):
    """Build the kernel; give what launches it with a place."""
    (folder / "leave.cl").write_text(KERNEL)
    kernel = load(device, "leave.cl", folders=(folder,), way=WAYS.get(way, way)).kernel("leave")
    memory = Memory(device)

    def launch(place):
        values = memory.upload("values", np.zeros(8, np.uint32))
        other = memory.upload("other", np.arange(16, dtype=np.uint32))
        wait(kernel.launch(1, 1, values, other, np.int32(place)))
        return values.read(), other.read()

    return launch


def leave(device, folder, way, place):
    return leaving(device, folder, way)(place)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.runtimes("intel")
@pytest.mark.usefixtures("checks")
def test_an_access_beyond_an_array_is_reported_and_not_made(way, device, tmp_path):
    with pytest.raises(OutOfBoundsError, match=r"leave on .*CLGRAPH_CHECK=1") as caught:
        leave(device, tmp_path, way, 12 if way != "local" else 5)
    error = caught.value
    assert error.kernel == "leave"
    unnamed = {"local", "function that takes an element"}
    assert error.array == (None if way in unnamed else "values")
    if way == "function that takes an element":
        assert "a pointer that is in none of its arrays" in str(error)
    elif way != "subscript of a cast":
        assert (error.index, error.bound) == ((5, 4) if way == "local" else (12, 8))
    lines = {"function": 2, "function that takes an element": 2}
    assert error.line == lines.get(way, 11)
    assert KERNEL.splitlines()[error.line - 1].strip().replace("${way}", WAYS[way]) in str(error)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.runtimes("intel")
@pytest.mark.usefixtures("checks")
def test_an_access_within_an_array_is_made(way, device, tmp_path):
    place = 3 if way == "local" else 6
    values, other = leave(device, tmp_path, way, place)
    expected = np.zeros(8, np.uint32)
    if way != "local":
        expected[place] = 1
        np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(other, np.arange(16))


@pytest.mark.parametrize("place", [8, -1])
@pytest.mark.runtimes("pocl", "intel")
@pytest.mark.usefixtures("checks")
def test_a_row_without_elements_may_begin_anywhere(place, device, tmp_path):
    leave(device, tmp_path, "other[0] = sum(values + place, other[0]);", place)
    with pytest.raises(OutOfBoundsError, match="in none of its arrays"):
        leave(device, tmp_path, "other[0] = sum(values + place, other[1]);", place)


@pytest.mark.runtimes("pocl", "intel")
@pytest.mark.usefixtures("checks")
def test_indices_below_an_array_and_the_first_of_several(device, tmp_path):
    launch = leaving(device, tmp_path, "subscript")
    with pytest.raises(OutOfBoundsError, match="index -3 of 'values', which has 8 elements"):
        launch(-3)
    launch(7)  # which begins with a clean table


@pytest.mark.runtimes("pocl", "intel")
@pytest.mark.usefixtures("checks")
def test_a_search_with_checks_finds_the_same_and_nothing_wrong(device):
    plan = cg.BFS(MIXED, predecessors=True, device=device)
    for source in MIXED_SOURCES:
        check_search(MIXED, source, plan.run(source))


@pytest.fixture
def planted(monkeypatch):
    """One head of every graph that is uploaded is made a vertex that is not there."""
    monkeypatch.setenv("CLGRAPH_CHECK", "1")
    upload = Memory.upload

    def wrong(self, name, array, **options):
        if name == "indices":
            array = array.copy()
            array[array.size // 2] = 15000
        return upload(self, name, array, **options)

    monkeypatch.setattr(Memory, "upload", wrong)


def ring_with_chords(weights=None):
    targets = np.random.default_rng(5).integers(0, 300, 300)
    places = np.arange(300)
    edges = (np.tile(places, 2), np.concatenate([(places + 1) % 300, targets]))
    return cg.from_edges(*edges, weights, n=300)


@pytest.mark.parametrize("preset", ["auto", "merrill-hybrid"])
@pytest.mark.runtimes("intel")
@pytest.mark.usefixtures("planted")
def test_a_wrong_index_of_a_graph_is_found_by_a_search(preset, device):
    config = changed(cg.BFSConfig.preset(preset), direction="push")
    plan = cg.BFS(ring_with_chords(), config=config, device=device)
    for _ in range(2):
        with pytest.raises(OutOfBoundsError, match=r"bfs on .* used index \d+ of '\w+', which"):
            plan.run(0)


@pytest.mark.runtimes("pocl")
@pytest.mark.usefixtures("planted")
def test_a_wrong_index_is_found_on_the_embedded_runtime(device):
    with pytest.raises(OutOfBoundsError, match=r"used index \d+ of '\w+', which has"):
        cg.bfs(ring_with_chords(), 0, config=bfs_config(direction="push"), device=device)


@pytest.mark.runtimes("intel")
@pytest.mark.usefixtures("planted")
def test_a_wrong_index_of_a_graph_is_found_by_shortest_paths(device):
    graph = ring_with_chords(np.arange(1, 601))
    with pytest.raises(OutOfBoundsError, match=r"sssp on .* used index \d+ of '\w+', which has"):
        cg.sssp(graph, 0, device=device)


@pytest.mark.runtimes("intel")
@pytest.mark.usefixtures("checks")
def test_a_snippet_that_leaves_its_array_is_found(device):
    wrong = "depth[n + 7] = 0;"
    plan = cg.MultiSearch(
        MIXED, state={"depth": cg.State("int32", fill=-1)}, init=wrong, device=device
    )
    with pytest.raises(OutOfBoundsError, match=r"of 'all_depth'") as caught:
        plan.run([0])
    assert wrong in str(caught.value)


@pytest.mark.runtimes("intel")
@pytest.mark.usefixtures("checks")
def test_primitives_stay_within_their_arrays(device):
    sizes = np.random.default_rng(1).integers(0, 40, 500)
    for balance in ("cws", "two_phase", "block_search"):
        found = primitives.expand(sizes, config=balance, device=device)
        np.testing.assert_array_equal(found.owners, np.repeat(np.arange(500), sizes))


def test_without_the_flag_nothing_is_rewritten(any_device, monkeypatch):
    params = {"type": "uint", "operator": "add", "index": "uint", "group_size": 64, "items": 1}
    plain = load(any_device, "primitives/scan.cl", **params)
    assert plain.checked is None
    assert "CHECKED" not in plain.source
    monkeypatch.setenv("CLGRAPH_CHECK", "1")
    with_checks = load(any_device, "primitives/scan.cl", **params)
    assert with_checks is not plain
    assert with_checks.source == plain.source
    assert "CHECKED(" in with_checks.checked.text


@pytest.mark.parametrize("qualifier", ["__kernel", "kernel"])
def test_line_directives_are_blanked_and_lines_kept(qualifier):
    source = f'#line 1 "x"\n{qualifier} void k(__global int *a) {{\n#line 7 "y"\na[1] = 2;\n}}\n'
    checked = checked_source(source)
    lines = checked.text.splitlines()[checked.extra_lines :]
    assert len(lines) == len(source.splitlines())
    assert lines[3] == "a[CHECKED(a, 1)] = 2;"
    assert checked.arguments == {"k": ("a",)}
