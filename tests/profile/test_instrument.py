"""Rewriting a rendered source: what is counted where, and what is left alone."""

import re
from types import SimpleNamespace

import pytest

import clgraph as cg
from bench.studies import KERNELS
from clgraph.device.observing import observed_by
from clgraph.device.programs.compiling import NO_OPTIMISING, try_building
from clgraph.device.rendering.sources import render
from clgraph.profile.instrument.rewriting import instrumented
from clgraph.profile.instrument.words import Mask
from clgraph.profile.passes.timeline import Timeline

ALL = Mask(63)
KERNEL = """
#define TAKE(p) atomic_inc(p)
static inline uint helper(__global const uint *a, const uint i) { return a[i] + 1u; }
static inline uint apart(const uint x) { return x * 2u; }
__kernel void k(__global uint *a, __global uint2 *b, __global ulong *c, __local uint *w) {
    const uint i = (uint)get_global_id(0);
    __local uint own[4];
    BODY
}
"""


def sites(
    body, traits, kinds=("load", "store", "atomic", "local_load", "local_store", "local_atomic")
):
    found = instrumented(KERNEL.replace("BODY", body), ALL, traits)
    return [(site.kind, site.text) for site in found.sites if site.kind in kinds][1:]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("a[i] = 1u;", [("store", "a[i]")]),
        ("a[i] += 1u;", [("load", "a[i]"), ("store", "a[i]")]),
        ("++a[i];", [("load", "a[i]"), ("store", "a[i]")]),
        ("a[i]++;", [("load", "a[i]"), ("store", "a[i]")]),
        ("a[i] <<= 1u;", [("load", "a[i]"), ("store", "a[i]")]),
        (
            "if (a[i] == 3u) a[0] = a[i] >= 2u;",
            [("load", "a[i]"), ("store", "a[0]"), ("load", "a[i]")],
        ),
        ("b[i].x = 1u;", [("store", "b[i]")]),
        ("const uint y = b[i].y;", [("load", "b[i]")]),
        ("a[a[i]] = 0u;", [("store", "a[a[i]]"), ("load", "a[i]")]),
        ("atomic_add(&a[i], 1u);", [("atomic", "a[i]")]),
        ("atomic_inc(a);", [("atomic", "a")]),
        ("atomic_inc(a + i);", [("atomic", "a + i")]),
        ("TAKE(&a[i]);", [("atomic", "a[i]")]),
        ("*a = 1u;", [("store", "*a")]),
        ("*a += 1u;", [("load", "*a"), ("store", "*a")]),
        ("*(a + i) += 1u;", [("load", "a + i"), ("store", "a + i")]),
        ("const uint y = *a + i;", [("load", "*a")]),
        ("const uint y = *(a + i);", [("load", "a + i")]),
        ("const uint y = i * a[i];", [("load", "a[i]")]),
        ("__global uint *const p = &a[i];", []),
        ("__global uint *const p = a + i;", []),
        ("w[i] = own[0];", [("local_store", "w[i]"), ("local_load", "own[0]")]),
        ("atomic_max(&w[i], 1u);", [("local_atomic", "w[i]")]),
        ("const uint4 y = vload4(i, a);", [("load", "(i, a)")]),
        ("vstore2((uint2)(i, i), i, a);", [("store", "((uint2)(i, i), i, a)")]),
    ],
)
def test_accesses_are_found_with_what_they_do(body, wanted, pocl):
    assert sites(body, pocl.traits) == wanted
    try_building(pocl, instrumented(KERNEL.replace("BODY", body), ALL, pocl.traits).text)


def test_a_name_is_what_its_own_function_says(pocl):
    # a, b and w are pointers in k; own is local there.
    other = """
__kernel void other(__global uint *c, __global uint *w) {
    const uint i = (uint)get_global_id(0);
    uint a[4] = {0u, 0u, 0u, 0u};
    __local uint b[4];
    uint own[2] = {0u, 0u};
    a[i & 3u] = b[i & 3u] = own[i & 1u];
    c[i] = w[i] + a[0];
}
"""
    found = instrumented(KERNEL.replace("BODY", "w[i] = a[i];") + other, ALL, pocl.traits)
    kinds = [(site.kind, site.text) for site in found.sites if site.text][1:]
    assert [access for access in kinds if "load" in access[0] or "store" in access[0]] == [
        ("local_store", "w[i]"),
        ("load", "a[i]"),
        ("local_store", "b[i & 3u]"),
        ("store", "c[i]"),
        ("load", "w[i]"),
    ]
    try_building(pocl, found.text)


def test_wide_words_of_atomics_and_loads_have_eight_bytes(pocl):
    body = "atom_add((volatile __global ulong *)(a + 2u * i), 1ul);"
    text = instrumented(KERNEL.replace("BODY", body), ALL, pocl.traits).text
    assert re.search(r"PROF_GLOBAL_ATOMIC\(\d+, a, 2u \* i, 8u\)", text)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("x = a[i];", "PROF_GLOBAL"),
        ("a[i] = x;", "PROF_GLOBAL_STORE"),
        ("atomic_add(&a[i], 1u);", "PROF_GLOBAL_ATOMIC"),
        ("x = load_relaxed(&a[i]);", "PROF_GLOBAL_FAR"),
        ("x = load_acquire(a + i);", "PROF_GLOBAL_FAR"),
        ("x = PEEK(&a[i]);", "PROF_GLOBAL_FAR"),
        ("volatile __global uint *v = a; x = v[i];", "PROF_GLOBAL_FAR"),
        ("x = w[i];", "PROF_LOCAL"),
        ("w[i] = x;", "PROF_LOCAL_STORE"),
    ],
)
def test_the_ways_of_accesses(body, word, pocl):
    """What goes past the nearest cache, or comes one after the other, is another word."""
    source = "#define PEEK(p) load_relaxed(p)\n" + KERNEL.replace("BODY", "uint x = i; " + body)
    text = instrumented(source, ALL, pocl.traits).text.rpartition("__kernel")[2]
    assert re.findall(r"PROF_(?:GLOBAL|LOCAL)\w*", text) == [word]


@pytest.mark.parametrize(
    ("body", "blocks"),
    [
        ("a[i] = 1u;", 1),
        ("if (i) a[i] = 1u;", 2),
        ("if (i) a[i] = 1u; else a[i] = 2u;", 3),
        ("if (i) { a[i] = 1u; } a[0] = 2u;", 3),
        ("for (uint k = 0; k < i; ++k) for (uint l = 0; l < k; ++l) a[l] = k;", 3),
        ("uint k = 0; do { ++k; } while (k < i); a[k] = 1u;", 3),
        ("while (a[i] < 3u) a[i] += 1u;", 2),
        ("if (i) return; a[i] = 1u;", 3),
        ("for (;;) { if (i) break; else continue; }", 4),
    ],
)
def test_each_basic_block_is_marked_once(body, blocks, pocl):
    found = instrumented(KERNEL.replace("BODY", body), Mask.DIV, pocl.traits)
    line = 1 + KERNEL.splitlines().index("    BODY")
    # One more where the kernel's first block begins above.
    marked = [site for site in found.sites if site.kind == "block" and site.line >= line]
    assert len(marked) in {blocks, blocks - 1}
    assert all(site.weight >= 1 for site in marked)
    try_building(pocl, found.text)


def test_pointers_declared_in_one_line_are_no_accesses(pocl):
    body = "__global uint *const even = a, *const odd = a, *rest = a; odd[i] = even[i] + *rest;"
    wanted = [("store", "odd[i]"), ("load", "even[i]"), ("load", "*rest")]
    assert sites(body, pocl.traits) == wanted
    try_building(pocl, instrumented(KERNEL.replace("BODY", body), ALL, pocl.traits).text)


def test_functions_without_accesses_keep_their_parameters(pocl):
    text = instrumented(
        KERNEL.replace("BODY", "a[i] = apart(helper(a, i));"), ALL, pocl.traits
    ).text
    assert "apart(const uint x) {" in text
    assert "helper(a, i PROF_ARGUMENT)" in text


def test_names_that_are_pasted_together_get_their_counters(pocl):
    source = """
#define ADD(array, i, x) ADD_##array(&array[i], (x))
static inline void ADD_a(__global uint *p, const uint x) { *p += x; }
static inline void ADD_b(__global uint *p, const uint x) { (void)p; (void)x; }
static inline void both(__global uint *a, __global uint *b) { ADD(a, 0, 1u); ADD(b, 0, 1u); }
__kernel void k(__global uint *a, __global uint *b) { both(a, b); ADD(a, 1, 2u); }
"""
    found = instrumented(source, ALL, pocl.traits)
    kinds = [site.kind for site in found.sites if site.kind != "block"]
    assert kinds == ["load", "store"]
    assert "both(a, b PROF_ARGUMENT)" in found.text
    try_building(pocl, found.text)


def test_what_a_work_item_does_while_it_waits_is_not_counted(pocl):
    source = """
static inline void spin_hint(void) {}
static int await(volatile __global uint *flag) {
    for (uint k = 0; k < 100u; ++k) { if (flag[0]) return 1; spin_hint(); }
    return 0;
}
__kernel void k(volatile __global uint *flag, __global uint *to) { to[0] = (uint)await(flag); }
"""
    found = instrumented(source, ALL, pocl.traits)
    assert [site.kind for site in found.sites if site.kind != "block"] == ["store", "wait"]
    try_building(pocl, found.text)


def test_every_return_of_a_kernel_ends_the_record(pocl):
    body = "if (i > 3u) return;\n    if (i > 2u) { return; }\n    a[i] = 1u;"
    text = instrumented(KERNEL.replace("BODY", body), Mask.TIME, pocl.traits).text
    kernel = text[text.index("__kernel") :]
    assert kernel.count("PROF_END") == 3
    assert kernel.count("PROF_BEGIN") == 1


def test_without_a_mask_the_source_stays_as_it_is(pocl):
    assert instrumented(KERNEL, Mask.NONE, pocl.traits).text == KERNEL


@pytest.mark.rest
def test_a_plain_program_is_the_same_before_and_after_a_profile(pocl):
    plan = cg.BFS(cg.generate.kron(5, seed=1), device=pocl)
    before, after = Timeline(), Timeline()
    with observed_by(before):
        plan.run(0)
    sources = {place: kernel.program.source for place, kernel in before.kernels.items()}
    cg.profile(plan, device=pocl, repeats=1)
    with observed_by(after):
        plan.run(0)
    assert {place: kernel.program.source for place, kernel in after.kernels.items()} == sources
    assert not any("PROF_" in source for source in sources.values())


FILES = {
    "components/components.cl": {
        "config": SimpleNamespace(rows="csr", wide_offsets=False),
        "wide_offsets": False,
        "group_size": 1,
        "long_row": 64,
        "samples": 64,
        "hubs": False,
    },
    "primitives/scan.cl": {
        "type": "uint",
        "operator": "add",
        "index": "uint",
        "group_size": 1,
        "items": 1,
    },
    "patterns.cl": {"type": "uint2"},
    "transpose.cl": {"group_size": 64, "tile": 16, "padding": 1, "block": 64},
}


@pytest.mark.parametrize("mask", [Mask.TIME, Mask.DIV, Mask.GMEM, Mask.LMEM, Mask.SYNC, Mask.MIX])
@pytest.mark.parametrize("name", FILES)
def test_every_mask_compiles(name, mask, pocl):
    source = render(name, {"traits": pocl.traits, "check": False, **FILES[name]}, (KERNELS,))
    try_building(pocl, instrumented(source, mask, pocl.traits).text)


def test_a_mask_of_marks_alone_adds_no_parameter(pocl):
    source = KERNEL.replace("BODY", "a[i] = 1u;")
    text = instrumented(source, Mask.MIX, pocl.traits).text
    assert "#define PROF_PARAMETER\n" in text
    assert NO_OPTIMISING  # the options of plain builds are untouched


def test_marks_stand_before_the_directive_of_a_loop(pocl):
    loop = "\n#pragma unroll 1\nfor (uint t = 0u; t < 4u; ++t) a[t] = t;\n"
    text = instrumented(KERNEL.replace("BODY", f"{loop}if (i) {{{loop}}}"), ALL, pocl.traits).text
    lines = [line.strip() for line in text.splitlines()]
    found = [number for number, line in enumerate(lines) if line.startswith("#pragma unroll")]
    assert [lines[number + 1].startswith("for") for number in found] == [True, True]
    assert lines[found[1] - 1].startswith("PROF_BLOCK(")
    try_building(pocl, text)
