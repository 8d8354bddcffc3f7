"""The picture of where the library stands is drawn from the records and from nothing else."""

import re
import xml.etree.ElementTree as ET

from bench.report import docs, overview, published

GPU = {"name": "NVIDIA H200", "traits": {"is_cpu": False}}
CPU = {"name": "some processor", "traits": {"is_cpu": True}}


def case(graph, ms, algorithm="bfs", status="ok", preset="auto", **peers):
    return {
        "algorithm": algorithm,
        "preset": preset,
        "status": status,
        "graph": {"name": graph},
        "summary": {"kernel_ms": {"median": ms}},
        "peers": {
            name: {"ms": {"median": took}, "ratio": {"median": took / ms}}
            for name, took in peers.items()
        },
    }


def rows(*records):
    """What the picture says: name of each row, and the text at its right."""
    found = [
        (f"{n}.json", {"machine": {"device": device}, "cases": cases})
        for n, (device, cases) in enumerate(records)
    ]
    picture = ET.fromstring(overview.picture(found))  # noqa: S314 (our own)
    titles = [title.text for title in picture.iter("{http://www.w3.org/2000/svg}title")]
    return [tuple(title.split(": ", 2)) for title in titles[1:]]


def test_a_row_is_the_geometric_mean_over_graphs_beside_their_fastest_codes():
    best = {graph: published.best("bfs", graph, "H200") for graph in ("kron20", "kron20x64")}
    cases = [
        case(graph, best[graph][1] / factor) for graph, factor in zip(best, (2, 8), strict=True)
    ]
    assert rows((GPU, cases)) == [
        ("GPU", "breadth-first search", "4 on 2 graphs, beside BLEST, GSWITCH")
    ]


def test_on_processors_the_fastest_library_of_the_same_run_counts():
    cases = [case("kron18", 2.0, algorithm="sssp", scipy=12.0, igraph=6.0)]
    assert rows((CPU, cases)) == [("CPU", "shortest paths", "3 on 1 graph, beside igraph")]
    told = {"gapbs-delta-2": 4.0, "gapbs-delta-32": 8.0}
    cases = [case("kron18", 2.0, algorithm="sssp", scipy=12.0, **told)]
    assert rows((CPU, cases)) == [("CPU", "shortest paths", "2 on 1 graph, beside gapbs")]


def test_the_newest_measured_case_of_each_graph_counts():
    new = [case("road", 1.0, scipy=5.0), case("grid", 1.0, status="failed", scipy=9.0)]
    old = [case("road", 1.0, scipy=7.0), case("rgg", 1.0, preset="helix", scipy=9.0)]
    assert rows((CPU, new), (CPU, old)) == [
        ("CPU", "breadth-first search", "5 on 1 graph, beside scipy")
    ]


def test_without_anything_to_compare_with_there_is_no_row():
    unknown = [case("no such graph", 1.0)]
    assert rows((CPU, unknown), (GPU, unknown), (CPU, [])) == []


def test_every_figure_of_the_picture_is_that_of_a_record():
    text = docs.PICTURE.read_text("utf-8")
    found = re.findall(r"<title>(GPU|CPU): .*?: ([\d.]+) on (\d+) graph", text)
    assert {kind for kind, _, _ in found} == {"GPU", "CPU"}
    cases = [record["cases"] for _, record in docs.recorded()]
    assert sum(map(len, cases)) > sum(int(graphs) for _, _, graphs in found) > 20
