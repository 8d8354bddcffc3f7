"""Mining against the sequential reference: templates, lengths, ways to share out the device."""

import inspect
import itertools
import re
from functools import partial

import numpy as np
import pytest
from interruption import interrupt, places
from traces import broken_at_the_end

import clgraph as cg
from clgraph.algorithms.invariants import (
    InvariantMiner,
    MiningConfig,
    Trace,
    generate_trace,
    mine_sequentially,
    published_trace,
)
from clgraph.algorithms.invariants.dictionary import batches, size
from clgraph.algorithms.invariants.templates import families_of, templates_of

LENGTHS = (1, 2, 31, 32, 33, 63, 64, 65, 127, 299, 300)
CONFIGS = ("per-entry", "split-trace", "tiled", "auto")


def mixed(length, seed=0):
    """Some variables of every relation that the templates know, and a NaN in one."""
    random = np.random.default_rng([length, seed])
    columns = {f"n{i}": random.integers(0, 3 + 5 * i, length).astype(np.float32) for i in range(4)}
    columns["sum"] = columns["n0"] + columns["n1"] + 1
    columns["seven"] = np.full(length, 7, np.float32)
    columns["nan"] = columns["n2"].copy()
    columns["nan"][length // 2] = np.nan
    columns |= {f"b{i}": random.random(length) < 0.5 for i in range(3)}
    columns["same"], columns["opposite"] = columns["b0"], ~columns["b1"]
    columns["true"], columns["both"] = np.ones(length, bool), columns["b0"] & columns["b1"]
    return Trace.from_columns(columns)


def mined(plan, trace):
    result = plan.run(trace)
    return {(t, tuple(row)) for t in plan.templates for row in result.tuples(t).tolist()}


@pytest.mark.parametrize("templates", ["I", "II"])
def test_equals_the_reference_at_every_length(templates, device):
    """Checklist 4 to 6, 9, 27: padding by the last instant changes nothing."""
    plan = InvariantMiner(templates, device=device)
    for length in LENGTHS:
        trace = mixed(length)
        assert mined(plan, trace) == mine_sequentially([trace], plan.families), length


TRACES = {
    "random": lambda length: generate_trace(4, 4, length, seed=length),
    "constant": lambda length: generate_trace(4, 4, length, mode="constant"),
    "mixed": mixed,
}


@pytest.mark.slow
@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("templates", ["I", "II"])
def test_equals_the_reference_at_all_lengths_to_300(templates, trace, device):
    """The bar of the issue, with the lengths that the test above leaves out."""
    plan = InvariantMiner(templates, device=device)
    for length in range(1, 301):
        made = TRACES[trace](length)
        assert mined(plan, made) == mine_sequentially([made], plan.families), length


@pytest.mark.parametrize("config", CONFIGS)
def test_ways_to_share_out_the_device_agree(config, device):
    """Checklist 26, with parts of the trace behind the first look."""
    config = MiningConfig(MiningConfig.of(config).sweep, probe=64, chunk_bytes=1 << 16)
    trace = mixed(20_000)
    plan = InvariantMiner("II", config=config, device=device)
    assert mined(plan, trace) == mine_sequentially([trace], plan.families)


@pytest.mark.parametrize("config", ["per-entry", "tiled"])
def test_inference_changes_nothing(config, any_device):
    """Checklist 16, 17, 19: fewer tuples are mined, the same ones are reported."""
    trace = mixed(30_000)
    plans = [
        InvariantMiner("II", inference=on, config=config, device=any_device) for on in (True, False)
    ]
    assert mined(plans[0], trace) == mined(plans[1], trace)
    counts = [
        {(p["kind"], p["arity"]): p["mined"] for p in plan.run(trace).stats.phases}
        for plan in plans
    ]
    for arity in (2, 3):
        assert counts[0]["boolean", arity] < counts[1]["boolean", arity]


def only_the_last_instant_counts(plan, length):
    """Demand of every template that it is not found with its last instant, and is without."""
    for template in plan.templates:
        values = broken_at_the_end(template, length)
        first = tuple(range(template.arity))
        assert (template, first) not in mined(plan, Trace.of(values)), (str(template), length)
        if length > 1:
            shorter = mined(plan, Trace.of(values[:, :-1]))
            assert (template, first) in shorter, (str(template), length)


@pytest.mark.parametrize("length", [1, 300, 9001])
@pytest.mark.parametrize("templates", ["I", "II"])
def test_counterexample_at_the_last_instant_only(templates, length, device):
    """Checklist 14, for every template; without that instant it is found."""
    only_the_last_instant_counts(InvariantMiner(templates, device=device, tolerance=4), length)


@pytest.mark.slow
@pytest.mark.parametrize("begin", [1, 76, 151, 226])
@pytest.mark.parametrize("templates", ["I", "II"])
def test_counterexample_at_the_last_instant_at_all_lengths_to_300(templates, begin, device):
    """Checklist 14, the bar of the issue."""
    plan = InvariantMiner(templates, device=device, tolerance=4)
    for length in range(begin, begin + 75):
        only_the_last_instant_counts(plan, length)


def test_families_are_the_same_after_an_interruption():
    """Conditions were sorted by the ``repr`` of dataclasses: cut off, it was lost for good.

    Then pairs were tried in both orders, and results had what is one invariant twice.
    """
    sort = partial(families_of, templates_of("I", 3))
    expected = sort()
    for place in places(sort):
        if place[1] < 4:  # times that a line is come to
            assert interrupt(sort, place)
            assert sort() == expected


def test_dictionary_sizes():
    """Checklist 8."""
    families = [f for chosen in ("I", "II") for f in families_of(templates_of(chosen, 3))]
    for family in families:
        for n in range(1, 8):
            made = [tuple(row) for part in batches(n, family) for row in part.tolist()]
            same = {  # the orders of a tuple that are one
                tuple(order)
                for order in itertools.permutations(range(family.arity))
                if all(order[i] == i for i in range(family.arity))
                or any(order[i] == j and order[j] == i for i, j in family.symmetry)
            }
            seen = {tuple(row[i] for i in order) for row in made for order in same}
            assert len(set(made)) == len(made) == size(n, family)
            assert seen == set(itertools.permutations(range(n), family.arity))
    by_shape = {
        (f.kind, f.arity, f.symmetry): size(10, f) for f in families_of(templates_of("II", 3))
    }
    assert by_shape["numeric", 2, ()] == 90
    assert by_shape["numeric", 3, ()] == 10 * 9 * 8
    assert by_shape["numeric", 3, ((1, 2),)] == 10 * 36
    assert by_shape["boolean", 2, ((0, 1),)] == 45
    assert by_shape["boolean", 3, ((1, 2),)] == 10 * 36
    (comparators,) = [f for f in families_of(templates_of("I", 3)) if f.kind == "numeric"]
    assert size(10, comparators) == 45
    assert len(comparators.atoms) == 3


def test_phases_run_numbers_first_and_fewer_variables_first(any_device):
    """Checklist 15."""
    result = cg.mine_invariants(mixed(100), templates="II", device=any_device)
    order = [(p["kind"] == "boolean", p["arity"]) for p in result.stats.phases]
    assert order == sorted(order)


EXPRESSIONS = (
    "a * b + c >= b", "a - b < c or b == 3", "not (a < b)", "-a <= abs(b) - 1", "a < b <= c",
    "min(a, b, c) == a", "a + b + 0.1 != c", "exp(a) > b", "p == (q or not r)", "p ^ q", "p != q",
)  # fmt: skip


@pytest.mark.parametrize("tolerance", [0, 2])
def test_templates_of_the_users_own(tolerance, device):
    """Checklist 7; a product and a sum are not fused, so results are equal bit for bit."""
    plan = InvariantMiner(EXPRESSIONS, tolerance=tolerance, device=device)
    for trace in (mixed(500), generate_trace(5, 5, 5000, mode="interval")):
        assert mined(plan, trace) == mine_sequentially([trace], plan.families, tolerance)


def test_no_text_of_the_user_reaches_a_kernel(any_device):
    """Checklist 7: names are places, and what is written is parsed, not pasted."""
    texts = ["stolen <= 1.5 * other", "some == (this and not that)"]
    plan = InvariantMiner(texts, device=any_device)
    sources = "".join(sweeper.source for sweeper in plan._sweepers)
    assert "0x1.8000000000000p+0f" in sources
    for word in ("stolen", "other", "some", "this", "that"):
        assert not re.search(rf"\b{word}\b", re.sub(r"//.*", "", sources)), word


def test_transcendental_equalities_within_the_tolerance(device):
    """Checklist 10."""
    random = np.random.default_rng(3)
    x = random.uniform(0.5, 50, 3000)
    y = random.uniform(0.5, 2, 3000)
    columns = {"x": x, "y": y, "log": np.log(x.astype("f4")), "root": np.sqrt(x.astype("f4")) + 1}
    columns["power"] = np.power(x.astype("f4").astype("f8"), y.astype("f4").astype("f8"))
    columns = {name: column.astype(np.float32) for name, column in columns.items()}
    texts = ["a == log(b)", "a == b ** c", "a < sqrt(b)"]
    result = cg.mine_invariants(columns, templates=texts, tolerance=16, device=device)
    assert {"log == log(x)", "power == (x ** y)"} <= set(result.text().splitlines())
    off = columns | {"log": columns["log"] * np.float32(1.001)}
    result = cg.mine_invariants(off, templates=texts, tolerance=16, device=device)
    assert "log == log(x)" not in result.text().splitlines()


def test_domain_errors_falsify(device):
    columns = {"a": np.full(40, -5, np.float32), "b": np.full(40, -1, np.float32)}
    texts = ["x < sqrt(y)", "x == log(y)", "x != log(y)", "x < y"]
    found = cg.mine_invariants(columns, templates=texts, device=device).text().splitlines()
    assert sorted(found) == ["a != log(b)", "a < b", "b != log(a)"]


def test_special_numbers(device):
    """Zeros of both signs are equal, infinities are ordered, denormals are not zero."""
    tiny = np.float32(1e-45)
    columns = {
        "zero": [0.0, -0.0], "minus": [-0.0, 0.0], "tiny": [tiny, tiny], "inf": [np.inf] * 2,
    }  # fmt: skip
    columns = {name: np.array(column, np.float32) for name, column in columns.items()}
    found = set(cg.mine_invariants(columns, device=device).text().splitlines())
    assert {"zero == minus", "zero < tiny", "tiny < inf", "minus <= tiny"} <= found
    assert "zero == tiny" not in found


@pytest.mark.parametrize(("number", "invariants"), [(1, 0), (2, 142), (3, 0), (4, 1788)])
def test_published_classes_have_the_published_numbers(number, invariants, any_device):
    """Checklist 24."""
    for made in (generate_trace, published_trace):
        assert inspect.signature(made).parameters["length"].default == 5_000_000
    trace = published_trace(number, 200_000)
    assert trace.count("numeric") == trace.count("boolean") == (15 if number < 3 else 50)
    assert trace.numeric.values.dtype == np.float32
    assert len(cg.mine_invariants(trace, device=any_device)) == invariants


def test_a_random_trace_is_left_after_a_short_look(any_device):
    """Checklist 13: what is looked at does not depend on the length."""
    for length in (100_000, 1_000_000):
        trace = generate_trace(8, 8, length, seed=length)
        phases = cg.mine_invariants(trace, device=any_device).stats.phases
        assert max(phase["instants"] for phase in phases) <= 1 << 16


def test_several_traces_give_what_holds_in_all(device):
    """Checklist 23."""
    first, second = mixed(700), mixed(900, seed=1)
    plan = InvariantMiner("II", device=device)
    both = mined(plan, [first, second])
    assert both == mined(plan, first) & mined(plan, second)
    assert both == mine_sequentially([first, second], plan.families)


def test_verify_mines_again(pocl):
    result = cg.mine_invariants(mixed(5000), templates="II", verify=True, device=pocl)
    assert len(result) > 10
