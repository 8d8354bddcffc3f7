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
# Whether a group or a SIMD group has a single work-item is the vocabulary's to ask.
DEVICE_QUESTIONS = re.compile(
    r"\b(group_size|lanes)\s*(?:[=!]=|[<>]=?)\s*1\b|\b1\s*(?:[=!]=|[<>]=?)\s*\S*\b(group_size|lanes)\b"
    r"|\btraits\b"
)
KERNEL_ROOMS = ("kernels_cl", "bench/studies/kernels", "tests/kernels")
ASK_THE_DEVICE = ("profile", "lanes", "memory", "grid")  # folders of templates/ that may
# A field of the stage word has its own name: it is declared, not borrowed under another.
BORROWED_FIELDS = re.compile(
    r"#\s*define\s+\w+(\(\w+\))?\s+\(*\(?(now|next)\)?\.\w+\)*(\s*[=!<>&]+\s*\w+)?\)*\s*(//.*)?$"
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
    files = [path for room in KERNEL_ROOMS for path in files_under(room, ".cl", ".mako")]
    assert hits(files, DEVICE_WORDS) == []


def test_templates_name_no_algorithm():
    assert hits(files_under("templates", ".cl", ".mako"), ALGORITHM_WORDS) == []


def test_only_the_vocabulary_asks_about_the_device():
    files = files_under("kernels_cl", ".cl", ".mako") + [
        path
        for path in files_under("templates", ".cl", ".mako")
        if path.relative_to(ROOT / "templates").parts[0] not in ASK_THE_DEVICE
    ]
    assert hits(files, DEVICE_QUESTIONS) == []


def test_no_field_of_a_stage_word_is_borrowed():
    files = files_under("kernels_cl", ".cl", ".mako") + files_under("templates", ".cl", ".mako")
    assert hits(files, BORROWED_FIELDS) == []


@pytest.mark.parametrize("folder", ["kernels_cl", "templates"])
def test_no_def_leaves_a_brace_to_its_caller(folder):
    assert [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files_under(folder, ".cl", ".mako")
        for name, body in defs(path.read_text(encoding="utf-8"))
        if unclosed(body)
    ] == []


def defs(text: str) -> list[tuple[str, str]]:
    """Name and body of every def, each without the defs within it."""
    found, stack = [], []
    for line in text.splitlines():
        opening = re.match(r"\s*<%def name=\"(\w+)", line)
        if opening:
            stack.append((opening[1], [line.partition(">")[2].partition("</%def>")[0]]))
        elif stack and "</%def>" not in line:
            stack[-1][1].append(line)
        if "</%def>" in line:
            name, lines = stack.pop()
            found.append((name, "\n".join(lines)))
    assert not stack
    return found


def unclosed(body: str) -> bool:
    """Whether braces are left open or closed too often, whichever branches are rendered.

    A brace under a condition without an alternative is closed under the same condition.
    """
    for left_out in (r"<%!?\s.*?%>", r"\$\{(?:[^{}]|\{[^{}]*\})*\}", r"(//|^\s*##)[^\n]*"):
        body = re.sub(left_out, "", body, flags=re.MULTILINE | re.DOTALL)
    open_at = {"": 0}  # by the condition under which lines are rendered
    branches: list[tuple[str, list[int]]] = []  # of each `% if` around: what opens
    for line in body.splitlines():
        control = re.match(r"\s*%\s*(if|elif|else|endif)\b(.*)", line)
        if control is None:
            opened = line.count("{") - line.count("}")
            if branches:
                branches[-1][1][-1] += opened
            else:
                open_at[""] += opened
        elif control[1] == "if":
            branches.append((control[2].strip(), [0]))
        elif control[1] == "endif":
            condition, opens = branches.pop()
            alike = len(set(opens)) == 1
            if alike and len(opens) > 1:
                if branches:
                    branches[-1][1][-1] += opens[0]
                else:
                    open_at[""] += opens[0]
            elif any(opens):
                open_at[condition] = open_at.get(condition, 0) + sum(opens)
        else:
            branches[-1][1].append(0)
    return any(open_at.values())


def test_a_brace_left_open_is_seen():
    left = "if (a) {\n% if b:\nc;\n% endif\n} else {\n"
    assert unclosed(left)
    assert not unclosed(left + "}")
    assert not unclosed("% if b:\n{\n% endif\nc;\n% if b:\n}\n% endif")
    assert unclosed("% if b:\n{\n% endif\nc;\n% if d:\n}\n% endif")


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
        (DEVICE_QUESTIONS, "% if config.group_size == 1:"),
        (DEVICE_QUESTIONS, "${'a' if context['config'].lanes > 1 else 'b'}"),
        (DEVICE_QUESTIONS, "return 1 < config.lanes"),
        (DEVICE_QUESTIONS, "% if traits.fp64:"),
        (BORROWED_FIELDS, "#define PULLS (now.tile == 7u)"),
        (BORROWED_FIELDS, "#define IN_CHAIN (now.visited)"),
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
        (DEVICE_QUESTIONS, "% if config.group_size > config.lanes:"),
        (DEVICE_QUESTIONS, "if (lanes_left >= 16u)"),
        (BORROWED_FIELDS, "#define AIM(e) (now.phase == FLOOD ? keys[e] : MAKE_KEY(e))"),
        (MACHINE_PATHS, "https://example.org/work/of/others"),
    ],
)
def test_the_patterns_leave_plain_words_alone(words, line):
    assert not words.search(line)
