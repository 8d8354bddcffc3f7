"""What is known without running: instructions by class between the marks of an assembler's text."""

import numpy as np

from bench.studies import KERNELS
from clgraph.device import load
from clgraph.profile.instrument.sites import Site
from clgraph.profile.kernel_criteria import mixed
from clgraph.profile.passes.counters import Totals
from clgraph.profile.static import block_mix, instruction_class, static_facts

TEXT = """
.version 8.4
.visible .func  (.param .b32 func_retval0) helper(
\t.param .b64 helper_param_0
)
{
\tadd.s32 %r1, %r1, 1;
}
.visible .entry k(
\t.param .u64 k_param_0
)
{
\t.reg .b32 %r<9>;
\tld.param.u64 \t%rd1, [k_param_0];
\t// PROF_BLOCK 0
\tmad.lo.s32 \t%r1, %r2, %r3, %r4;
\tld.global.u32 %r5, [%rd1];
@%p1 bra \tBB0;
\t// PROF_BLOCK 1
\tfma.rn.f32 %f1, %f2, %f3, %f4;
\tst.shared.u32 [%rd2], %r5;
\t// PROF_BLOCK 1
\tfma.rn.f32 %f1, %f2, %f3, %f4;
\tatom.global.add.u32 %r6, [%rd1], 1;
\tpopc.b32 %r7, %r6;
\tadd.f64 %fd1, %fd1, %fd1;
BB0:
\tret;
}
.visible .entry other(
\t.param .u64 other_param_0
)
{
\t// PROF_BLOCK 0
\tadd.s32 %r1, %r1, 1;
}
"""


def test_the_mix_of_each_block_and_the_mean_of_clones():
    mix = block_mix(TEXT, "k")
    assert mix[0] == {"integer": 1.0, "memory": 1.0, "control": 1.0}
    assert mix[1]["float"] == 1.0
    assert mix[1]["local"] == mix[1]["atomic"] == mix[1]["special"] == mix[1]["double"] == 0.5
    assert block_mix(TEXT, "other")[0] == {"integer": 1.0}


def test_classes_of_instructions():
    wanted = {
        "add.s32": "integer",
        "red.global.add.u32": "atomic",
        "ld.volatile.shared.u32": "local",
        "ld.global.nc.u32": "memory",
        "bar.sync": "control",
        "rsqrt.approx.ftz.f32": "special",
        "fma.rn.f64": "double",
        "mul.f32": "float",
    }
    assert {opcode: instruction_class(opcode) for opcode in wanted} == wanted


def test_totals_are_executions_times_the_mix():
    sites = (Site("block", 1, "", 3), Site("block", 2, "", 3), Site("load", 2))
    counts = np.array([[10.0, 320, 0, 0, 0], [4.0, 64, 0, 0, 0], [9.0, 9, 36, 9, 9]])
    totals = Totals(sites, counts, np.ones(1), np.ones(1), 32)
    mix = {0: {"integer": 2.0, "memory": 1.0}, 1: {"integer": 5.0}, 7: {"integer": 99.0}}
    assert mixed(totals, mix) == {"integer": 40.0, "memory": 10.0}


def test_a_compiler_that_says_nothing_leaves_none_with_the_reason(pocl):
    kernel = load(pocl, "patterns.cl", folders=(KERNELS,), type="uint").kernel("patterns_local")
    facts = static_facts(kernel)
    assert (facts.registers, facts.mix) == (None, None)
    assert "registers" in facts.reason
    assert "assembler" in facts.reason
