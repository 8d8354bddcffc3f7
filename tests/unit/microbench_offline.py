"""Microbenchmarks rendered for a GPU that is not here, and built where compilers for it are."""

import dataclasses
import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

from clgraph.device.hardware.traits import DeviceTraits
from clgraph.device.rendering.sources import render
from clgraph.profile.microbenchmarks import work

HOPPER = DeviceTraits(
    lanes=32,
    lane_ops="ptx",
    memory_ops="ptx",
    grid_barrier=True,
    compute_units=132,
    max_group_size=1024,
    local_bytes=48 << 10,
    cache_bytes=50 << 20,
    global_bytes=140 << 30,
    max_alloc_bytes=35 << 30,
    threads_per_unit=2048,
    registers_per_unit=65536,
    compute_capability=(9, 0),
    int64_atomics=True,
    fp64=True,
    is_cpu=False,
    build_options=(),
)
BUILTINS = Path(__file__).resolve().parent.parent / "data" / "nvptx_builtins.h"
CLANG = shutil.which("clang-19") or shutil.which("clang")
PTXAS = shutil.which("ptxas")


class _RenderedError(Exception):
    def __init__(self, file, source, params):
        super().__init__(file)
        self.file, self.source, self.params = file, source, params


def rendered(entry, monkeypatch, **traits):
    """Give file, source and parameters of an entry's kernel as for an H200."""
    device = SimpleNamespace(
        traits=dataclasses.replace(HOPPER, **traits), is_simulator=False, name="not here"
    )

    def instead(device, name, **params):
        told = {"traits": device.traits, "check": False, **params}
        raise _RenderedError(name, render(name, told), params)

    monkeypatch.setattr(work, "load", instead)
    scale = work.Scale.of(device)
    try:
        entry.work.prepare(device, scale)
    except _RenderedError as found:
        return found
    raise AssertionError(f"{entry.name} loads no kernel")


def assembler_text(source, folder):
    """Compile OpenCL C to the assembler's text for compute capability 9.0."""
    file = folder / "kernel.cl"
    file.write_text(source)
    out = folder / "kernel.ptx"
    options = ["-x", "cl", "-cl-std=CL1.2", "-O3", "-target", "nvptx64-nvidia-nvcl", "-nogpulib"]
    for option in ("-target-cpu", "sm_90", "-target-feature", "+ptx80"):
        options += ["-Xclang", option]
    options += ["-Xclang", "-finclude-default-header", "-Dasm=__asm__", "-w"]
    options += ["-include", str(BUILTINS)]
    _run([CLANG, *options, "-S", str(file), "-o", str(out)])
    return out.read_text()


def assembled(text, folder):
    """Have the assembler take it, and give the file of the code."""
    ptx, cubin = folder / "in.ptx", folder / "out.cubin"
    ptx.write_text(text)
    _run([PTXAS, "-arch=sm_90", str(ptx), "-o", str(cubin)])
    return cubin


def native_kinds(cubin, kernel):
    """Give what each native instruction of a kernel is: the lowest nine of its 128 bits."""
    data = cubin.read_bytes()
    sections, size, count, names_at = (
        int.from_bytes(data[0x28:0x30], "little"),
        *struct.unpack_from("<HHH", data, 0x3A),
    )
    heads = [struct.unpack_from("<IIQQQQ", data, sections + size * k) for k in range(count)]
    names = heads[names_at][4]
    for name, _, _, _, start, length in heads:
        if data[names + name :].split(b"\0", 1)[0] == f".text.{kernel}".encode():
            code = data[start : start + length]
            return [int.from_bytes(code[k : k + 2], "little") & 0x1FF for k in range(0, length, 16)]
    raise ValueError(f"there is no code of {kernel}")


def native_purity(kinds, most):
    """Share of the commonest kinds in the body of a loop, whose control takes four more."""
    targets = {kind for kind, _ in Counter(kinds).most_common(most)}
    places = [place for place, kind in enumerate(kinds) if kind in targets]
    # Those of the same kind before and after the line, as in addresses, stand apart from it.
    first = next(at for at in places if sum(at <= place < at + 64 for place in places) >= 60)
    last = next(at for at in places[::-1] if sum(at - 64 < place <= at for place in places) >= 60)
    hit = sum(first <= place <= last for place in places)
    return hit, hit / (last - first + 1 + 4)


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[:3000]
