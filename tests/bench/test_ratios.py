"""Every ratio that a page shows, "so many times", is one of figures of its records.

`test_figures` looks numbers with units up. Almost any ratio is that of some two numbers of a long
record, so of each page it is said here which two it is of, and the page must show what they give.
A ratio of which nothing is said is found. What a page has from others, or is none, is listed too.
"""

import json
import re
from functools import cache
from pathlib import Path
from statistics import median

import pytest

from bench.studies.power.balance_energy import conclusions

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if page.name != "benchmarks.md"  # written from the records, ratios too
]
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
NUMBER = r"\d[\d,]*(?:\.\d+)?"
RATIO = re.compile(
    rf"(?<![\w.,-])(?P<numbers>{NUMBER}(?:(?:, | and | to | or | / ){NUMBER})*) times\b"
)


@cache
def recorded(name):
    """Give a record, read."""
    text = (RESULTS / name).read_text("utf-8")
    return json.loads(text) if name.endswith(".json") else text


def shown(page):
    """Give the ratios of a page as it shows them, in its order."""
    text = " ".join(CODE.sub("", page.read_text("utf-8")).split())
    return [re.findall(NUMBER, found["numbers"]) for found in RATIO.finditer(text)]


def agree(numbers, values):
    """Whether these are the values, each as rounded as it is shown."""
    if len(numbers) != len(values):
        return False
    digits = [len(number.partition(".")[2]) for number in numbers]
    pairs = zip(numbers, values, digits, strict=True)
    return all(
        abs(float(number.replace(",", "")) - value) <= 0.5 * 10.0**-digit * (1 + 1e-9)
        for number, value, digit in pairs
    )


def load_balancing():
    """Units a second by sizes and balancer, and edges walked over edges reached."""
    rows = recorded("h200-20261122-balance-energy.json")["rows"]
    rates = {}
    for row in rows:
        rates.setdefault(row["distribution"], {})[row["balance"]] = row["units_per_s"]
    yield [rates["road"]["multi_phase"] / rates["road"]["item_thread"]]
    yield [max(max(of.values()) / of["warp_search"] for of in rates.values())]
    behind = [of["multi_phase"] / of["two_phase"] for of in rates.values()]
    yield [min(behind), max(behind)]
    tried = recorded("probes/h200-20261122-variants.json")["studies"]["balancers"]["rgg"]
    yield [max(row["redundancy"] for row in tried.values())]


def multi_search():
    """Throughput of 1,024 searches over that of single ones, as the probe has it."""
    text = recorded("probes/h200-20261121-searches.txt")
    times = dict(re.findall(r"^(\w+ bits \w+) .* times ([\d.]+) ", text, re.MULTILINE))
    yield [float(times["kron20 bits distances"])]
    yield [float(times["unif22 bits distances"])]
    yield [float(times["kron20 bits targets"]), float(times["unif22 bits targets"])]


def search_configurations():
    """Milliseconds of the next best preset over those of "auto", by graph."""
    found = {}
    of_one_seed = "dense deep kron22 mesh real road small"
    for group in of_one_seed.split():
        for case in recorded(f"h200-20261128-presets-{group}-seed-12345.json")["cases"]:
            if case["algorithm"] == "bfs" and case["status"] == "ok":
                of = found.setdefault(case["graph"]["name"], {})
                of[case["preset"]] = case["summary"]["kernel_ms"]["median"]
    assert len(found) == 11
    ahead = [
        min(ms for name, ms in of.items() if name != "auto") / of["auto"] for of in found.values()
    ]
    yield [min(ahead), max(ahead)]


def microbenchmarks():
    """What the study concludes of joules and watts, by list of sizes."""
    said = {
        claim.partition(" (")[0]: dict(re.findall(r"(\w+) ([\d.]+)", ratios))
        for claim, ratios, _ in conclusions(recorded("h200-20261122-balance-energy.json"))
    }
    others = sorted(map(float, said["multi-phase takes the least energy"].values()))
    yield [others[0], others[-1]]
    dynamic = said["on skewed sizes dynamic balancers take less energy than static ones"]
    yield [float(dynamic["circuit"]), float(dynamic["internet"])]
    watts = sorted(map(float, said["static balancers draw the least power"].values()))
    yield [1 / watts[-1], 1 / watts[0]]


def triangles():
    """Counts of vertices over totals, the least and the most of each record: at most 1.5."""
    text = (ROOT / "docs" / "triangles.md").read_text("utf-8")
    names = dict.fromkeys(re.findall(r"results/(h\w*-\d+-triangles\.json)", text))
    assert len(names) == 2
    for name in names:
        graphs = [graph for graph in recorded(name)["graphs"].values() if "vertex" in graph]
        every = [graph["vertex"]["with_ms"] / graph["total"]["with_ms"] for graph in graphs]
        assert max(every) <= 1.5
        yield [min(every), max(every)]


def profiling():
    """Enterprise's time over what is foretold; the chosen balancer over the best.

    That is in the median of sizes that the rule was not made for.
    """
    rows = recorded("h200-20261128-profile-foretold.json")["kernels"]
    (search,) = [row for row in rows if row["kernel"].startswith("bfs enterprise")]
    yield [search["measured_s"] / search["predicted_s"]]
    rows = recorded("pocl-20261127-balancer-choice.json")["distributions"]["rows"]
    yield [median(row["slower"] for row in rows)]


def shortest_paths():
    """SciPy's and GAP's time over ours by graph; H-BF without features over H-BF."""
    scipy, gap = {}, []
    for seed in (12345, 777, 2026):
        for case in recorded(f"pocl-20261128-processors-xeon-seed-{seed}.json")["cases"]:
            if case["algorithm"] == "sssp":
                over = {name: row["ratio"]["median"] for name, row in case["peers"].items()}
                scipy.setdefault(case["graph"]["name"], []).append(over["scipy"])
                gap.append(min(over[name] for name in over if name.startswith("gapbs")))
    assert len(gap) == 15
    yield [end for each in scipy.values() for end in (min(each), max(each))]
    yield [min(gap), max(gap)]
    text = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    suite = text.partition("\n## pthread-AMD EPYC, suite processors\n")[2]
    theirs = suite.partition("\n### Shortest paths\n")[2].partition("\n### ")[0]
    over = re.findall(r"^\| [\w-]+ \| scipy [\d.]+ \| [^|]+ \| [^|]+ \| ([\d.]+) \|", theirs, re.M)
    assert len(over) == 5
    yield list(map(float, over))
    cores, card = (
        {
            graph: {feature: row["ms"] / of["H-BF"]["ms"] for feature, row in of.items()}
            for graph, of in recorded(f"probes/{name}-variants.json")["studies"]["h-bf"].items()
        }
        for name in ("cpu-20261123-hbf", "h200-20261122")
    )
    yield [cores[graph]["without 64-bit atomics"] for graph in ("rgg16", "road500")]
    yield [cores["road500"]["width of a SIMD group"]]
    yield [cores["kron16"]["basic"]]
    yield [cores[graph]["basic"] for graph in ("rgg16", "road500")]
    yield [card["kron20"]["basic"]]
    yield [card[graph]["basic"] for graph in ("road", "rgg")]


def trees():
    """Walks by SciPy's rows and NumPy over ours, the least and the most of three seeds."""
    over = []
    for seed in (12345, 777, 2026):
        record = recorded(f"pocl-20261129-processors-epyc-walks-seed-{seed}.json")
        (case,) = [case for case in record["cases"] if case["preset"] == "auto"]
        over.append(case["peers"]["scipy"]["ratio"]["median"])
    yield [min(over), max(over)]


# What the ratios of a page are of, in its order.
OF = {
    "load-balancing.md": load_balancing,
    "microbenchmarks.md": microbenchmarks,
    "multi-search.md": multi_search,
    "profiling.md": profiling,
    "search-configurations.md": search_configurations,
    "shortest-paths.md": shortest_paths,
    "trees.md": trees,
    "triangles.md": triangles,
}
# Figures of somebody else, and numbers that are no ratio.
OTHERS = {
    "dynamic.md": [["12.7"]],  # the paper's
    "profiling.md": [["26"]],  # how many of the mixes
    # An aim, and the papers'.
    "several-devices.md": [["1.5"], ["1.5", "2.1", "2.5"], ["1.43", "1.71", "1.75"]],
    "truss.md": [["64"]],  # how often a SIMD group goes on by itself
}
# `tests/interop/test_nx_records.py` looks these up.
LOOKED_UP = {"networkx.md"}


def unsaid(page, values, others=()):
    """Name the ratios of a page that are not the next of these values, nor somebody else's."""
    values, missing = list(values), []
    for numbers in shown(page):
        if numbers in others:
            continue
        if not values or not agree(numbers, values[0]):
            missing.append(numbers)
        values = values[1:]
    return missing + [["not there", *value] for value in values]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_ratio_is_of_two_figures_of_a_record(page):
    if page.name not in LOOKED_UP:
        values = OF.get(page.name, lambda: ())()
        assert unsaid(page, values, OTHERS.get(page.name, ())) == []


def brackets(page, without=""):
    """Give the cells of a page's tables that have a ratio in brackets: row, column, and both.

    Rows that stand in the text `without` are left out.
    """
    header = []
    lines = page.read_text("utf-8").splitlines()
    for line in (line for line in lines if not line.startswith("| ") or line not in without):
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if not cells or set(line) <= set("|-: "):
            header = header if cells else []
            continue
        header = header or cells
        for column, cell in zip(header, cells, strict=False):
            if both := re.fullmatch(rf"({NUMBER}) \(({NUMBER})\)", cell):
                yield cells[0], column, both[1], both[2]


# How pages call contestants of the record.
CALLED = {"SciPy": "scipy", "GAP `pr`": "gap", "GAP `pr_spmv`": "gap_spmv"}


CORES = "pocl-20261123-ranks-cores.json"
ALONE = "pocl-20261128-pagerank.json"  # of fewer seeds, with little beside
XEON = "pocl-20261128-leiden-cores.json"


@pytest.mark.parametrize(
    ("name", "kind", "records"),
    [("ranking.md", "pagerank", (CORES, ALONE)), ("truss.md", "cores", (CORES, XEON))],
)
def test_ratios_in_brackets_are_of_the_seed_where_they_are_least(name, kind, records):
    """Others' medians over seeds, and how many times as long they take as ours beside them."""
    probe = (RESULTS / "probes" / "cpu-20261128-pagerank.txt").read_text("utf-8")
    cells = list(brackets(ROOT / "docs" / name, without=probe))
    assert len(cells) > 10
    wrong, of_record = [], dict.fromkeys(records, 0)
    for graph, column, shown_ms, ratio in cells:
        other = CALLED.get(column, column)
        for record in records:
            found = recorded(record)["found"]
            seeds = [of for key, of in found.items() if key.startswith(f"{kind}/{graph}/")]
            times = [of[other]["ms"] for of in seeds]
            least = min(of[other]["ms"] / of[of[other]["beside"]]["ms"] for of in seeds)
            if agree([shown_ms], [median(times)]) and agree([ratio], [least]):
                of_record[record] += 1
                break
        else:
            wrong.append((graph, column, shown_ms, ratio))
    assert wrong == []
    assert min(of_record.values()) > 10


def test_processor_time_of_ranks_is_what_the_probe_measured():
    """Its rows, which the page has, are medians of three seeds and least ratios, above 1."""
    probe = (RESULTS / "probes" / "cpu-20261128-pagerank.txt").read_text("utf-8")
    page = (ROOT / "docs" / "ranking.md").read_text("utf-8")
    rows = re.findall(r"^(\| (\w+) \|.*\|)  3 seeds$", probe, re.MULTILINE)
    assert len(rows) == 6
    for row, graph in rows:
        assert row in page
        blocks = re.findall(rf"^{graph} seed .*\n(?: +.*\n)+", probe, re.MULTILINE)
        assert len(blocks) == 3
        columns = ("here single", "here double", "networkit", "gap pr", "gap pr_spmv")
        ms = [
            [re.search(rf"  {name} +median ([\d.]+)", of)[1] for of in blocks] for name in columns
        ]
        least = {
            name: min(float(re.search(rf"ratios.*  ?{name} +([\d.]+)", of)[1]) for of in blocks)
            for name in columns[2:]
        }
        assert min(least.values()) > 1
        shown = [f"{median(map(float, of)):.1f}" for of in ms[:2]]
        shown += [
            f"{median(map(float, of)):.1f} ({least[name]:.2f})"
            for name, of in zip(columns[2:], ms[2:], strict=True)
        ]
        assert row == f"| {graph} | {' | '.join(shown)} |"


def test_times_as_fast_as_one_compiled_core_are_of_the_record():
    """The median of what runs in turn have, as the record has it."""
    cases = recorded("pocl-20261123-matching-compiled.json")["cases"]
    page = (ROOT / "docs" / "matching.md").read_text("utf-8")
    table = page.partition("| times as fast |\n")[2].partition("\n\n")[0]
    found = re.findall(rf"^\| (\w+), (\d+) .* \| ({NUMBER}) \|$", table, re.MULTILINE)
    ratios = {(case["network"], str(case["size"])): case["ratio"] for case in cases}
    assert len(found) == len(ratios) == 3
    assert all(agree([ratio], [ratios[network, size]]) for network, size, ratio in found)


def test_a_ratio_that_nothing_is_said_of_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "Takes 1.5 to 2\ntimes as long, up to 64 times\n```\n3 times\n```\n1.23 times\n"
    )
    assert shown(page) == [["1.5", "2"], ["64"], ["1.23"]]
    assert unsaid(page, [[1.46, 2.2], [1.234]], [["64"]]) == []
    assert unsaid(page, [[1.46, 2.6], [1.234]], [["64"]]) == [["1.5", "2"]]
    assert unsaid(page, [[1.46, 2.2]], [["64"]]) == [["1.23"]]
    assert unsaid(page, [[1.46, 2.2], [1.234], [3.0]], [["64"]]) == [["not there", 3.0]]


def test_what_is_listed_is_still_on_its_page():
    for name, others in OTHERS.items():
        found = shown(ROOT / "docs" / name)
        assert all(numbers in found for numbers in others), name
    assert all((ROOT / "docs" / name).exists() for name in (*OF, *LOOKED_UP))
