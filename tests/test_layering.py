"""The first law: each folder keeps to its own vocabulary."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

DEVICE_WORDS = re.compile(
    r"nvidia|cuda|\bptx|\bintel\b|\bamd\b|\bpocl\b|oclgrind"  # vendors and runtimes
    r"|\basm\b|__nv|shfl|\bwarp|wavefront"  # their instructions and words
    r"|sub_?group|cl_(khr|intel|nv|amd|ext)_|__opencl_c_|opencl\s+extension"  # extensions
    r"|traits\.(lane_ops|memory_ops|compute_capability|is_cpu)",  # questions about the device
    re.IGNORECASE,
)
ALGORITHM_WORDS = re.compile(
    r"\b(bfs|sssp|scc|apsp|dijkstra|bellman|betweenness|closeness|k_?truss|triangles?|hornet|appagato)\b"
    r"|breadth.first|shortest.path|strongly.connected|delta.stepping|\bdistances\b",
    re.IGNORECASE,
)
KERNEL_TEXT = re.compile(r"__(kernel|global|local)\s+\w|\bget_(global|local|group)_(id|size)\s*\(")
MACHINE_PATHS = re.compile(r"(^|[^\w.])/(work|farm|root|home/\w+)/|index[-]url")


def hits(files: list[Path], words: re.Pattern[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if words.search(line)
    ]


def files_under(folder: str, *suffixes: str) -> list[Path]:
    return sorted(p for p in (ROOT / folder).rglob("*") if p.is_file() and p.suffix in suffixes)


def test_kernels_name_no_device():
    assert hits(files_under("kernels_cl", ".cl", ".mako"), DEVICE_WORDS) == []


def test_templates_name_no_algorithm():
    assert hits(files_under("templates", ".cl", ".mako"), ALGORITHM_WORDS) == []


def test_python_holds_no_kernel_text():
    assert hits(files_under("clgraph", ".py"), KERNEL_TEXT) == []


def test_no_tracked_file_names_a_place_on_somebodys_machine():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout, so what is tracked is unknown")
    tracked = [ROOT / name for name in listed.stdout.split("\0") if name]
    texts = [
        path for path in tracked if path.is_file() and "data" not in path.parts and is_text(path)
    ]
    assert len(texts) > 10
    assert hits(texts, MACHINE_PATHS) == []


def is_text(path: Path) -> bool:
    with path.open("rb") as file:
        return b"\0" not in file.read(4096)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (DEVICE_WORDS, 'asm volatile("bar.sync 0;");'),
        (DEVICE_WORDS, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable"),
        (DEVICE_WORDS, "% if traits.lane_ops == 'scalar':"),
        (DEVICE_WORDS, "uint x = sub_group_reduce_add(y);"),
        (ALGORITHM_WORDS, "## the queue of bfs"),
        (ALGORITHM_WORDS, "distances[v] = next_level;"),
        (KERNEL_TEXT, '    source = "__kernel void f() {}"'),
        (MACHINE_PATHS, "data = '" + "/".join(["", "home", "me", "graphs"]) + "'"),
    ],
)
def test_the_patterns_catch_what_they_are_for(words, line):
    assert words.search(line)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (DEVICE_WORDS, "const uint mine = lane_ballot(wanted);"),
        (DEVICE_WORDS, "% if traits.lanes > 1:"),
        (MACHINE_PATHS, "https://example.org/work/of/others"),
    ],
)
def test_the_patterns_leave_plain_words_alone(words, line):
    assert not words.search(line)
