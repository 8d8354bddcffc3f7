"""Compilers for devices that are not here, and what they say about a kernel."""

import re
import shutil
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from local_memory import entry_points

from clgraph.device.hardware.amd import parse_binary
from clgraph.device.hardware.nvidia import KernelUse, parse_build_log

HERE = Path(__file__).resolve().parent
LIBRARIES = Path("/usr/lib/clc")
# Debian builds its library for one name of the vendor and the compiler has another.
EXPECTED = re.compile(r"linking module|\[-Wlinker-warnings\]|warnings? generated|^$")
# That a kernel spills is no complaint: how much is in its binary, and has a limit.
SPILLED = re.compile(r"warning: kernel \w+ +compiled SIMD\d+ allocated \d+ regs and spilled .*")
# Functions of pointers to any address space, which AMD's own library has.
NOT_HERE = {"_Z7vstore4Dv4_dmPU3AS0d", "_Z7vstore4Dv4_fmPU3AS0f"}
AMD_LIBRARY, NVIDIA_LIBRARY = "amdgcn--amdhsa.bc", "nvptx64--nvidiacl.bc"


@dataclass
class Built:
    """What came out: assembler text, binaries, what each kernel takes, and complaints."""

    text: str = ""
    binary: bytes = b""  # of NVIDIA's assembler
    words: tuple[int, ...] = ()
    uses: dict[str, KernelUse] = field(default_factory=dict)
    complaints: str = ""


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, timeout=300
    )


def clang(library: str) -> str:
    """Find clang with OpenCL's headers and a library, or skip the test."""
    found = next(filter(None, (shutil.which(f"clang-{n}") for n in (19, 20, 21))), None)
    if found is None:
        pytest.skip("clang-19 is not installed (packages clang-19, libclc-19)")
    if not (LIBRARIES / library).exists():
        pytest.skip(f"{LIBRARIES / library} is not installed (package libclc-19)")
    headers = Path(run(found, "-print-resource-dir").stdout.strip()) / "include" / "opencl-c.h"
    if not headers.exists():
        pytest.skip("clang has no opencl-c.h (package libclang-common-19-dev)")
    return found


def _compile(compiler: str, library: str, source: Path, out: Path, *options: str) -> str:
    """Translate OpenCL C to assembler text; gives what the compiler complains about."""
    done = run(
        *(compiler, "-x", "cl", "-nogpulib", *options),
        *("-Xclang", "-finclude-default-header", "-Xclang", "-mlink-builtin-bitcode"),
        *("-Xclang", LIBRARIES / library, "-S", source, "-o", out),
    )
    said = [line for line in done.stderr.splitlines() if not EXPECTED.search(line)]
    return "\n".join(said) or ("" if done.returncode == 0 else done.stderr)


def amd(source: str, folder: Path, processor: str, optimise: str = "-O3") -> Built:
    """Compile as AMD's driver does, whose compiler is of the same family."""
    compiler = clang(AMD_LIBRARY)
    kernel, text, binary = (folder / f"kernel.{kind}" for kind in ("cl", "s", "o"))
    kernel.write_text(source)
    target = ("-target", "amdgcn-amd-amdhsa", f"-mcpu={processor}")
    built = Built()
    built.complaints = _compile(
        compiler, AMD_LIBRARY, kernel, text, "-cl-std=CL2.0", optimise, *target
    )
    if built.complaints:
        return built
    built.text = text.read_text()
    called = set(re.findall(r"\b(\w+)@(?:rel32|gotpcrel32)@lo", built.text))
    missing = called - set(re.findall(r"^(\w+):", built.text, re.MULTILINE)) - NOT_HERE
    built.complaints = f"not found in the library: {sorted(missing)}" if missing else ""
    done = run(compiler, *target, "-c", text, "-o", binary)
    built.complaints += done.stderr
    built.uses = parse_binary(binary.read_bytes())
    return built


def complaints(source: str, folder: Path, processor: str) -> str:
    """Say what AMD's compiler finds wrong with a text; no instructions are made of it."""
    compiler = clang(AMD_LIBRARY)
    kernel = folder / "kernel.cl"
    kernel.write_text(source)
    done = run(
        *(compiler, "-x", "cl", "-nogpulib", "-cl-std=CL2.0", "-fsyntax-only", kernel),
        *("-Xclang", "-finclude-default-header", "-target", "amdgcn-amd-amdhsa"),
        f"-mcpu={processor}",
    )
    return done.stderr


def ptxas() -> Path | None:
    """Find NVIDIA's assembler, on the path or where its Python package puts it."""
    on_path = shutil.which("ptxas")
    if on_path:
        return Path(on_path)
    try:
        import nvidia.cuda_nvcc as package  # noqa: PLC0415 - no package where it is not wanted
    except ImportError:
        return None
    found = Path(next(iter(package.__path__))) / "bin" / "ptxas"
    return found if found.exists() else None


def sized(text: str, source: str) -> str:
    """Say in PTX how many work-items a group has, as NVIDIA's compiler does and clang does not.

    The assembler then fits registers to the group, and knows that its SIMD groups are whole.
    """
    sizes = {kernel: size for kernel, size, _ in entry_points(source)}
    return re.sub(
        r"\.entry (\w+)\(.*?\n\)",
        lambda head: f"{head[0]}\n.reqntid {size}, 1, 1" if (size := sizes[head[1]]) else head[0],
        text,
        flags=re.DOTALL,
    )


def nvidia(source: str, folder: Path, *options: str, bound: bool = True) -> Built:
    """Compile to PTX with clang, and assemble it with NVIDIA's assembler where that is there.

    Options are the assembler's; without a bound it gives a kernel the registers that it likes.
    """
    compiler = clang(NVIDIA_LIBRARY)
    kernel, text = folder / "kernel.cl", folder / "kernel.ptx"
    kernel.write_text(source)
    built = Built()
    built.complaints = _compile(
        *(compiler, NVIDIA_LIBRARY, kernel, text, "-cl-std=CL1.2", "-O3", "-Dasm=__asm__"),
        *("-Dcl_khr_int64_base_atomics", "-Dcl_khr_int64_extended_atomics"),
        "-Wno-ignored-pragmas",  # that name these two, which NVIDIA's compiler has
        *("-include", str(HERE / "wide_atomics.h"), "-target", "nvptx64-nvidia-nvcl"),
        *("-march=sm_90", "-Xclang", "-target-feature", "-Xclang", "+ptx80"),
    )
    if built.complaints:
        return built
    built.text = text.read_text()
    assembler = ptxas()
    if assembler is not None:
        if bound:
            text.write_text(sized(built.text, source))
        binary = folder / "kernel.cubin"
        binary.unlink(missing_ok=True)  # of what was compiled before
        done = run(assembler, "-arch", "sm_90", "-v", *options, text, "-o", binary)
        built.uses = parse_build_log(done.stderr)
        built.complaints = "" if done.returncode == 0 else done.stderr
        built.binary = binary.read_bytes() if binary.exists() else b""
    return built


def intel(source: str, folder: Path, processor: str) -> Built:
    """Compile with Intel's offline compiler."""
    compiler = shutil.which("ocloc")
    if compiler is None:
        pytest.skip("ocloc is not installed (package intel-opencl-icd)")
    kernel, out = folder / "kernel.cl", folder / "out"
    kernel.write_text(source)
    shutil.rmtree(out, ignore_errors=True)  # of what was compiled before
    # The older of its two formats, which it takes for some devices, says less of a kernel.
    options = ("-options", "-cl-std=CL3.0", "-internal_options", "-cl-intel-allow-zebin")
    done = run(
        compiler, "compile", "-file", kernel, "-device", processor, *options, "-out_dir", out
    )
    said = (done.stdout + done.stderr).replace("Build succeeded.", "")
    said = SPILLED.sub("", said).strip()
    built = Built(complaints=said if done.returncode == 0 else said or "it failed")
    for spirv in out.glob("*.spv"):
        data = spirv.read_bytes()
        built.words = struct.unpack(f"<{len(data) // 4}I", data)
    for binary in out.glob("*.bin"):
        built.uses = intel_uses(binary.read_bytes())
    return built


def intel_uses(binary: bytes) -> dict[str, KernelUse]:
    """Read what Intel's compiler notes about each kernel, in a section of lines "name: value"."""
    start = binary.find(b"\nkernels:\n")
    notes = binary[start : binary.find(b"kernels_misc_info:", start)].decode() if start >= 0 else ""
    uses = {}
    for kernel in re.split(r"^  - ", notes, flags=re.MULTILINE)[1:]:
        facts = dict(re.findall(r"^ +(\w+): +(\w+)$", kernel, re.MULTILINE))
        lanes = int(facts["simd_size"])
        # Memory of work-items and spilled registers; of a hardware thread, or of each of its lanes.
        stack = 0
        for buffer in kernel.partition("per_thread_memory_buffers:")[2].split("- type:")[1:]:
            size = int(re.search(r"size: +(\d+)", buffer)[1])
            stack += size if "is_simt_thread:  true" in buffer else size // lanes
        # Its registers hold a value of 8 lanes each.
        registers = int(facts["grf_count"]) * 8 // lanes
        local_bytes = int(facts.get("slm_size", 0))
        name = re.match(r"name: +(\w+)", kernel)[1]
        uses[name] = KernelUse(registers, stack, 0, local_bytes)
    return uses


def build(source: str, folder: Path, device: str, optimise: str = "-O3") -> Built:
    """Compile for one of the recorded devices."""
    if device == "h200":
        return nvidia(source, folder)
    if device.startswith("gfx"):
        return amd(source, folder, device, optimise)
    return intel(source, folder, device)


def operations(words: tuple[int, ...]) -> set[int]:
    """List the operations of a SPIR-V module."""
    found, at = set(), 5
    while at < len(words):
        found.add(words[at] & 0xFFFF)
        at += max(words[at] >> 16, 1)
    return found
