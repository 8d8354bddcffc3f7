"""PoCL reads a short list of OpenCL C's functions; what that lacks is built with the long one."""

import numpy as np
import pytest

from clgraph.device import Memory, wait
from clgraph.device.programs import compiling, declared, program
from clgraph.errors import KernelBuildError
from clgraph.graph.lines import lines_kernel

INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
# Calls of `a`, `b` and `c`, which have the type that each is tried with.
OF_INTEGERS = (
    *("min(a, b)", "max(a, b)", "clamp(a, b, c)", "abs(a)", "abs_diff(a, b)", "clz(a)"),
    *("popcount(a)", "mul_hi(a, b)", "rotate(a, b)", "add_sat(a, b)", "sub_sat(a, b)"),
    *("hadd(a, b)", "rhadd(a, b)", "mad_hi(a, b, c)", "mad_sat(a, b, c)"),
    "convert_float_rtn(a)",
)
OF_FLOATS = (
    *("fmin(a, b)", "fmax(a, b)", "min(a, b)", "clamp(a, b, c)", "fabs(a)", "floor(a)", "ceil(a)"),
    *("rint(a)", "sign(a)", "sqrt(b)", "pow(b, c)", "ldexp(a, 3)", "ilogb(b)", "isless(a, b)"),
    *("isnan(a)", "isfinite(a)", "copysign(a, b)", "fma(a, b, c)", "hypot(a, b)", "exp2(b)"),
)


@pytest.fixture
def compilations(monkeypatch):
    """The options of every compilation from now on; nothing built comes from memory."""
    seen = []
    compile_it = compiling._compile

    def noted(device, handle, options):
        seen.append(options)
        compile_it(device, handle, options)

    monkeypatch.setattr(program, "_programs", {})
    monkeypatch.setattr(compiling, "_compile", noted)
    return seen


def results_of(device, calls, kinds, values):
    """Give what each call gives for each type, as bits."""
    lines = [
        f"{{ const {kind} a = ({kind})from[0], b = ({kind})from[1], c = ({kind})from[2];"
        f" out[{row * len(calls) + place}] = as_ulong((double)({call})) ^ sizeof({call}); }}"
        for row, kind in enumerate(kinds)
        for place, call in enumerate(calls)
    ]
    body = "\n    ".join(lines)
    source = (
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
        "kernel void every(global const double *from, global ulong *out) {\n"
        f"    {body}\n}}\n"
    )
    memory = Memory(device)
    given = memory.upload("values", np.array(values, np.float64))
    out = memory.upload("results", np.zeros(len(lines), np.uint64))
    built = program.build(device, source, label="every.cl")
    wait(built.kernel("every").launch(1, 1, given, out))
    return out.read()


@pytest.mark.parametrize("values", [(3, 7, 5), (100, 2, 127), (-3, 4, 9)])
@pytest.mark.parametrize(
    ("calls", "kinds"), [(OF_INTEGERS, INTEGERS), (OF_FLOATS, ("float", "double"))]
)
def test_calls_of_every_scalar_give_the_same(calls, kinds, values, pocl, compilations, monkeypatch):
    """A type that the short list lacks would be taken for another, with its size and its bits."""
    short = results_of(pocl, calls, kinds, values)
    assert [declared.GUARD in options for options in compilations] == [True]
    monkeypatch.setattr(program, "_programs", {})
    monkeypatch.setattr(compiling, "with_short_list", lambda *_: None)
    assert results_of(pocl, calls, kinds, values).tolist() == short.tolist()
    assert [declared.GUARD in options for options in compilations] == [True, False]


@pytest.mark.parametrize(
    ("call", "value"),
    [("dot((float2)(a), (float2)(1, 2))", 6), ("sin((float4)(0)).x + a", 2)],
    ids=["no such name", "no such types"],
)
def test_what_is_not_declared_is_built_as_it_is(call, value, pocl, compilations):
    text = f"kernel void one(global float *of) {{ const float a = 2; of[0] = {call}; }}\n"
    built = program.build(pocl, text, label="one.cl")
    assert [declared.GUARD in options for options in compilations] == [True, False]
    memory = Memory(pocl)
    of = memory.upload("values", np.zeros(1, np.float32))
    wait(built.kernel("one").launch(1, 1, of))
    assert of.read()[0] == value


def test_lines_of_errors_are_those_of_the_source(pocl, compilations):
    with pytest.raises(KernelBuildError, match=r"(?s)3.*no_such_function"):
        program.build(pocl, "kernel void f(void)\n{\n    no_such_function();\n}\n", label="f.cl")
    assert len(compilations) == 2


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    ("weight", "decimals"),
    [(None, False), (2, False), (2, True)],
    ids=["none", "whole", "decimals"],
)
def test_lines_call_nothing_else(weight, decimals, wide, pocl, compilations):
    """Forms that others had built before called what is not declared, and said so aloud."""
    lines_kernel(pocl, 3, weight, decimals, marker=0, wide=wide)
    assert [declared.GUARD in options for options in compilations] == [True]


def test_other_platforms_have_their_own_list(device):
    short = declared.with_short_list(device.platform_version, "kernel void f(void) {}")
    assert (short is None) == (device.platform != "Portable Computing Language")


def test_other_versions_are_built_as_they_were():
    versions = ["OpenCL 3.0 PoCL 3.1  Linux", "OpenCL 3.0 PoCL 7.0", "OpenCL 3.0 CUDA 13.0.98"]
    short = [declared.with_short_list(version, "") is not None for version in versions]
    assert short == [True, False, False]
