"""Rendering, building, the caches of built programs, and what a failed build says."""

import dataclasses
import json
import logging
import os
import shutil
import stat
import time

import numpy as np
import pyopencl as cl
import pytest
from runtimes import clean_environment, run_python

import clgraph as cg
from clgraph.device import Memory, cache, load, wait
from clgraph.device.cache import BinaryCache, CachedBinary
from clgraph.device.programs import builderror, compiling, program
from clgraph.device.programs.asked import asking
from clgraph.device.rendering import sources
from clgraph.errors import KernelBuildError

ADD = """// adds
__kernel void add(__global uint *values, const uint amount) {
    values[get_global_id(0)] += amount;
}
"""


def add_one(device, built):
    memory = Memory(device)
    values = memory.upload("values", np.arange(8, dtype=np.uint32))
    wait(built.kernel("add").launch(8, 4, values, np.uint32(1)))
    return values.read().tolist()


def test_what_equal_devices_share_is_launched_on_the_queue_of_each(any_device):
    beside = any_device.beside()
    programs = [program.build(one, ADD, label="add.cl") for one in (any_device, beside)]
    assert len({one._built for one in programs}) == 1
    for one, built in zip((any_device, beside), programs, strict=True):
        kernel, values = built.kernel("add"), Memory(one).upload("values", np.zeros(8, np.uint32))
        assert kernel.device is one
        event = kernel.launch(8, 4, values, np.uint32(1))
        assert event.command_queue == one.queue
        wait(event)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """An empty program cache on disk, and none in memory."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(program, "_programs", {})
    return tmp_path / "cache" / "programs"


@pytest.fixture
def forget(monkeypatch):
    """A function after which nothing is cached in memory."""
    return lambda: monkeypatch.setattr(program, "_programs", {})


def test_both_source_folders_are_found():
    kernels, templates = sources.source_folders()
    assert (kernels.name, templates.name) == ("kernels_cl", "templates")
    assert kernels.is_dir()
    assert templates.is_dir()


def test_load_renders_with_traits_check_and_parameters(tmp_path, device, monkeypatch):
    (tmp_path / "store.cl").write_text(
        "<%include file='/part.mako'/>\n"
        "__kernel void store(__global uint *out) {\n"
        "    out[0] = ${traits.lanes}; out[1] = ${int(check)}; out[2] = ${config['x']} + PART;\n"
        "}\n"
    )
    (tmp_path / "part.mako").write_text("#define PART ${part}")
    out = Memory(device).allocate("out", 3, np.uint32)
    for check in (0, 1):
        monkeypatch.setenv("CLGRAPH_CHECK", str(check))
        built = load(device, "store.cl", folders=(tmp_path,), config={"x": 7}, part=30)
        wait(built.kernel("store").launch(1, 1, out))
        assert out.read().tolist() == [device.traits.lanes, check, 37]
        assert "#include" not in built.source


def test_same_source_is_the_same_program(any_device, tmp_path):
    (tmp_path / "add.cl").write_text(ADD + "// ${x % 2}\n")
    one, two, three = (load(any_device, "add.cl", folders=(tmp_path,), x=x) for x in (1, 2, 3))
    assert one is three
    assert one is not two
    assert one.source_hash == three.source_hash != two.source_hash


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${missing}", "missing"),
        ("${1 // 0}", "ZeroDivisionError"),
        ("% if True:\n", "CompileException|SyntaxException"),
        ("<%include file='/no-such.mako'/>", "no-such.mako"),
    ],
)
def test_rendering_errors_name_the_file(any_device, tmp_path, text, message):
    (tmp_path / "bad.cl").write_text(text)
    with pytest.raises(
        KernelBuildError, match=rf"(?s)^bad\.cl could not be rendered: .*({message})"
    ):
        load(any_device, "bad.cl", folders=(tmp_path,))


def test_missing_kernel_file(any_device):
    with pytest.raises(KernelBuildError, match=r"no_such_kernel\.cl could not be rendered"):
        load(any_device, "no_such_kernel.cl")


def test_binary_is_kept_and_used(intel, empty_cache, forget):
    first = program.build(intel, ADD, label="add.cl")
    assert not first.from_cache
    assert add_one(intel, first) == list(range(1, 9))
    assert stat.S_IMODE(empty_cache.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in empty_cache.iterdir()} == {0o600}
    assert {path.suffix for path in empty_cache.iterdir()} == {".json", ".bin"}
    forget()
    again = program.build(intel, ADD, label="add.cl")
    assert again.from_cache
    assert again.build_log == first.build_log
    assert add_one(intel, again) == list(range(1, 9))


def test_pocl_keeps_its_binaries_itself(pocl, empty_cache, forget):
    """Asked for a binary, it compiles a further variant of every kernel."""
    for _ in range(2):
        built = program.build(pocl, ADD, label="add.cl")
        assert not built.from_cache
        assert add_one(pocl, built) == list(range(1, 9))
        forget()
    assert not empty_cache.exists()


def test_other_options_and_other_devices_have_other_entries(pocl, intel, any_device):
    keys = {program.cache_key(device, ADD) for device in (pocl, intel)}
    keys.add(program.cache_key(any_device, ADD + " "))
    assert len(keys) == 3


def garbage(description, _binary):
    description.write_bytes(b"\x80\x04\x95 no json")


def truncated_description(description, _binary):
    description.write_bytes(description.read_bytes()[:40])


def emptied_description(description, _binary):
    description.write_bytes(b"")


def list_for_description(description, _binary):
    description.write_text("[1, 2]")


def truncated_binary(_description, binary):
    binary.write_bytes(binary.read_bytes()[:-100])


def changed_binary(_description, binary):
    data = bytearray(binary.read_bytes())
    data[len(data) // 2] ^= 0xFF
    binary.write_bytes(bytes(data))


def emptied_binary(_description, binary):
    binary.write_bytes(b"")


def lost_binary(_description, binary):
    binary.unlink()


def linked_binary(_description, binary):
    binary.rename(binary.with_suffix(".moved"))
    binary.symlink_to(binary.with_suffix(".moved"))


def binary_that_others_can_write(_description, binary):
    binary.chmod(0o666)


def description_that_others_can_write(description, _binary):
    description.chmod(0o622)


def entry_of_another_key(description, _binary):
    content = json.loads(description.read_text())
    description.write_text(json.dumps({**content, "key": "0" * 64}))


def path_for_checksum(description, _binary):
    content = json.loads(description.read_text())
    description.write_text(json.dumps({**content, "sha256": "../../etc/passwd"}))


def number_for_log(description, _binary):
    content = json.loads(description.read_text())
    description.write_text(json.dumps({**content, "build_log": 3}))


DAMAGES = (
    garbage,
    truncated_description,
    emptied_description,
    list_for_description,
    truncated_binary,
    changed_binary,
    emptied_binary,
    lost_binary,
    linked_binary,
    binary_that_others_can_write,
    description_that_others_can_write,
    entry_of_another_key,
    path_for_checksum,
    number_for_log,
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_entry_is_rebuilt_with_one_log_line(damage, intel, empty_cache, forget, caplog):
    program.build(intel, ADD, label="add.cl")
    (description,) = empty_cache.glob("*.json")
    (binary,) = empty_cache.glob("*.bin")
    damage(description, binary)
    forget()
    with caplog.at_level(logging.INFO, "clgraph"):
        again = program.build(intel, ADD, label="add.cl")
    assert not again.from_cache
    assert add_one(intel, again) == list(range(1, 9))
    assert len(caplog.records) == 1, caplog.text
    assert caplog.records[0].levelno == logging.WARNING
    forget()
    assert program.build(intel, ADD, label="add.cl").from_cache


@pytest.mark.usefixtures("empty_cache")
def test_entry_of_another_user_is_not_used(intel, forget, caplog, monkeypatch):
    program.build(intel, ADD, label="add.cl")
    forget()
    monkeypatch.setattr(cache, "_caches", {})
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with caplog.at_level(logging.INFO, "clgraph"):
        again = program.build(intel, ADD, label="add.cl")
    assert not again.from_cache
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "belongs to another user" in caplog.text


def test_binary_that_the_driver_refuses_is_rebuilt(intel, empty_cache, forget, caplog):
    empty_cache.parent.mkdir()
    key = program.cache_key(intel, ADD)
    BinaryCache(empty_cache).store(key, CachedBinary(b"not a program" * 100, ""), {})
    with caplog.at_level(logging.INFO, "clgraph"):
        built = program.build(intel, ADD, label="add.cl")
    assert not built.from_cache
    assert add_one(intel, built) == list(range(1, 9))
    assert ["refuses its cached binary" in record.message for record in caplog.records] == [True]
    forget()
    assert program.build(intel, ADD, label="add.cl").from_cache


@pytest.mark.parametrize("problem", ["file", "link", "open"])
def test_folder_that_cannot_be_trusted_is_not_used(problem, intel, empty_cache, tmp_path, caplog):
    empty_cache.parent.mkdir()
    if problem == "file":
        empty_cache.write_text("")
    elif problem == "link":
        (tmp_path / "elsewhere").mkdir()
        empty_cache.symlink_to(tmp_path / "elsewhere")
    else:
        empty_cache.mkdir()
        empty_cache.chmod(0o777)
    with caplog.at_level(logging.INFO, "clgraph"):
        built = program.build(intel, ADD, label="add.cl")
        program.build(intel, ADD + "// other", label="add.cl")
    assert add_one(intel, built) == list(range(1, 9))
    assert len(caplog.records) == 1
    assert "not cached on disk" in caplog.text
    assert not list((tmp_path / "elsewhere").glob("*"))


@pytest.mark.usefixtures("empty_cache")
def test_full_disk_costs_one_log_line(intel, caplog, monkeypatch):
    def no_room(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "write_atomically", no_room)
    with caplog.at_level(logging.INFO, "clgraph"):
        for n in range(3):
            program.build(intel, f"{ADD}// {n}", label="add.cl")
    assert len(caplog.records) == 1
    assert "No space left" in caplog.text


def test_old_entries_go_when_the_folder_has_grown(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "FOLDER_LIMIT_BYTES", 8000)
    store = BinaryCache(tmp_path / "programs")
    for n in range(8):
        store.store(str(n), CachedBinary(bytes([n]) * 2000, ""), {})
        moment = time.time() - 1000 + n
        for path in store.folder.iterdir():
            if path.stat().st_mtime > moment + 1:
                os.utime(path, (moment, moment))
    size = sum(path.stat().st_size for path in store.folder.iterdir())
    assert size <= 8000 + 2500
    assert store.load("7") == CachedBinary(bytes([7]) * 2000, "")
    assert not (store.folder / "0.json").exists()


def test_the_folder_is_not_read_for_every_entry(tmp_path, monkeypatch):
    """With tens of thousands of entries reading took most of the time that storing one did."""
    looks, scandir = [], os.scandir
    monkeypatch.setattr(cache.os, "scandir", lambda folder: looks.append(1) or scandir(folder))
    store = BinaryCache(tmp_path / "programs", 64_000)
    for n in range(20):
        store.store(str(n), CachedBinary(bytes([n]) * 100, ""), {})
    assert 2 <= len(looks) <= 20 * 350 // 1000 + 1


def test_files_that_others_rename_while_the_folder_is_read_do_no_harm(
    tmp_path, monkeypatch, caplog
):
    """A process lists the folder just before another gives its new file the name it is to have."""
    store = BinaryCache(tmp_path / "programs")
    store.store("a", CachedBinary(b"first", ""), {})
    (store.folder / ".new-other").write_bytes(b"unfinished")
    scandir = os.scandir

    def scanned_late(folder):
        entries = list(scandir(folder))
        (store.folder / ".new-other").rename(store.folder / "other.bin")
        return entries

    monkeypatch.setattr(cache.os, "scandir", scanned_late)
    store = BinaryCache(store.folder)  # as another process, which has not looked yet
    store.store("b", CachedBinary(b"second", ""), {})
    assert not caplog.records
    assert store.load("b") == CachedBinary(b"second", "")


def test_a_folder_that_is_deleted_is_made_again(tmp_path, caplog):
    store = BinaryCache(tmp_path / "programs")
    store.store("a", CachedBinary(b"first", ""), {})
    shutil.rmtree(store.folder)
    assert store.load("a") is None
    store.store("a", CachedBinary(b"again", ""), {})
    assert store.load("a") == CachedBinary(b"again", "")
    assert not caplog.records


@pytest.mark.rest
def test_processes_that_build_the_same_together(tmp_path):
    run_python(
        """
        import subprocess, sys
        code = '''if True:
            import logging, clgraph as cg
            from clgraph.device.programs.program import build
            logging.basicConfig(level="WARNING")
            for n in range(3):
                text = "kernel void f(global uint *a) { a[0] = %d; }" % n
                build(cg.device("intel"), text, label="f.cl").kernel("f")
        '''
        children = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
                    for _ in range(3)]
        said = [child.communicate()[1] for child in children]
        assert not any(child.returncode for child in children), said
        assert not any(said), said
        """,
        env=clean_environment(CLGRAPH_CACHE_DIR=str(tmp_path)),
    )
    assert len(list((tmp_path / "programs").glob("*.json"))) == 3
    assert not list((tmp_path / "programs").glob(".new-*"))


def test_nothing_of_pyopencl_is_unpickled(tmp_path):
    """Neither its program cache nor its invoker cache is opened, let alone read."""
    run_python(
        """
        import pickle, sys
        def refuse(*_, **__):
            raise AssertionError("something is unpickled")
        pickle.load = pickle.loads = pickle.Unpickler = refuse
        import numpy as np
        from clgraph.device import device as find_device, Memory, wait
        from clgraph.device.programs.program import build
        for spec in ("intel", "pocl"):
            device = find_device(spec)
            built = build(device, "kernel void f(global uint *a) { a[0] = 1; }", label="f.cl")
            array = Memory(device).allocate("a", 1, np.uint32)
            wait(built.kernel("f").launch(1, 1, array))
            assert array.read()[0] == 1
        assert not {"pyopencl.invoker", "pyopencl.cache"} & set(sys.modules)
        """,
        env=clean_environment(HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path)),
    )
    assert not list(tmp_path.rglob("*pyopencl*"))


BROKEN = """__kernel void good(__global uint *a) {
    a[0] = 1;
}
__kernel void broken(__global uint *a) {
    a[0] = undeclared_thing;
    a[1] = 2;
}
"""


@pytest.mark.runtimes("pocl", "intel")
def test_build_error_shows_the_rendered_lines(device, empty_cache, tmp_path):
    (tmp_path / "broken.cl").write_text(BROKEN)

    @asking
    def call(config):
        assert config
        load(device, "broken.cl", folders=(tmp_path,), lanes=32, group_size=64)

    with pytest.raises(KernelBuildError) as caught:
        call(Wish(32, group_size=64))
    message = str(caught.value)
    first, *lines, last = message.splitlines()
    assert first == (
        f"broken.cl did not compile on {device.name} (driver {device.driver}) "
        "with group_size=64: "
        "use of undeclared identifier 'undeclared_thing' (line 5)"
    )
    assert lines == [
        "       3 | }",
        "       4 | __kernel void broken(__global uint *a) {",
        "  >    5 |     a[0] = undeclared_thing;",
        "       6 |     a[1] = 2;",
        "       7 | }",
    ]
    kept, said = sorted((empty_cache.parent / "failed").iterdir())
    assert str(kept) in last
    assert kept.read_text() == BROKEN
    assert said == kept.with_name(f"{kept.name}.log")
    assert "undeclared_thing" in said.read_text()
    assert kept.name.startswith("broken.cl-")


def test_build_error_under_oclgrind(tmp_path):
    (tmp_path / "broken.cl").write_text(BROKEN)
    done = run_python(
        f"""
        import pathlib
        from clgraph.device import device as find_device, load
        from clgraph.errors import KernelBuildError
        try:
            load(find_device("oclgrind"), "broken.cl", folders=(pathlib.Path({str(tmp_path)!r}),))
        except KernelBuildError as error:
            print(error)
        """
    )
    assert "use of undeclared identifier 'undeclared_thing' (line 5)\n" in done.stdout
    assert "  >    5 |     a[0] = undeclared_thing;" in done.stdout


def test_missing_entry_point(device):
    built = program.build(device, ADD, label="add.cl")
    with pytest.raises(KernelBuildError, match=r"^add\.cl has no kernel 'subtract' on "):
        built.kernel("subtract")


@pytest.mark.parametrize(
    ("log", "found"),
    [
        ("<kernel>:3:7: error: unknown type", [(3, "unknown type")]),
        ("1:14:5: error: expected ';'", [(14, "expected ';'")]),
        ("error: /tmp/a b/tempfile_x.cl:2:1: nonsense", [(2, "nonsense")]),
        ("input.cl:9:1: fatal error: no such file", [(9, "no such file")]),
        ("<kernel>:3:7: warning: unused\n<kernel>:4:1: note: here", []),
        ("ptxas fatal: too many registers", []),
        ("<kernel>:3:7: error: twice\n<kernel>:3:7: error: twice", [(3, "twice")]),
    ],
)
def test_lines_that_compilers_complain_about(log, found):
    assert [(line, text) for _, line, text in builderror.complaints_in(log)] == found


def test_excerpt_at_the_edges_of_a_source():
    assert builderror.excerpt("a\nb\nc", 1) == "  >    1 | a\n       2 | b\n       3 | c"
    assert builderror.excerpt("a\nb\nc", 4) == ""
    assert builderror.excerpt("", 1) == ""


def test_build_error_without_line_shows_the_log(pocl, empty_cache):
    error = builderror.build_error(pocl, "a/../b.cl", "", "text", "0" * 64, "ptxas fatal : no room")
    assert "ptxas fatal : no room" in str(error)
    name = f"a_.._b.cl-{'0' * 12}.cl"
    kept = {path.name for path in (empty_cache.parent / "failed").iterdir()}
    assert kept == {name, f"{name}.log"}


@dataclasses.dataclass(frozen=True)
class Strategy:
    threshold: int = 8
    name: str = "even"


@dataclasses.dataclass(frozen=True)
class Wish:
    lanes: int
    balance: Strategy = Strategy()
    group_size: int | None = None
    table: dict[str, int] | None = None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, ""),
        ({"config": Wish(32)}, ""),
        ({"config": Wish(32, group_size=64)}, "group_size=64"),
        (
            {"config": Wish(32, Strategy(threshold=9), 64)},
            "balance=Strategy, balance.threshold=9, group_size=64",
        ),
        ({"config": Wish(32, table={"a": 1}), "words": (1, 2), "UNREACHED": -1}, ""),
        ({"items": 1, "smallest": True}, "items=1, smallest=True"),
    ],
)
def test_only_parameters_that_differ_from_their_defaults_are_named(given, said):
    assert builderror.differences(given) == said


def test_parameters_never_take_more_than_a_line():
    said = builderror.differences({f"parameter_{n}": n for n in range(99)})
    assert len(said) <= builderror.SHOWN_CHARACTERS + 5
    assert said.startswith("parameter_0=0, parameter_1=1, ")
    assert said.endswith(", ...")
    assert builderror.differences({"text": "x" * 999}) == ", ..."


def test_a_build_error_of_a_search_names_what_the_user_asked_for(pocl, monkeypatch, empty_cache):
    """And not the hundred parameters that were chosen."""
    assert empty_cache
    render = program.render
    monkeypatch.setattr(program, "render", lambda *given: "#error no luck\n" + render(*given))
    graph = cg.generate.path(4, weights=(1, 9))
    for plan, config in (
        (cg.BFS, cg.BFSConfig(pull=cg.pull.ByEdges(alpha=7))),
        (cg.SSSP, cg.SSSPConfig(schedule=cg.schedule.Schedule(single_group=False))),
    ):
        with pytest.raises(KernelBuildError) as caught:
            plan(graph, config=config, device=pocl)
        first, *lines = str(caught.value).splitlines()
        asked = "pull=edges, pull.alpha=7" if plan is cg.BFS else "schedule.single_group=False"
        assert f"(driver {pocl.driver}) with {asked}: no luck (line 1)" in first
        assert len(lines) == 4
        with pytest.raises(KernelBuildError) as caught:
            plan(graph, device=pocl)
        assert f"(driver {pocl.driver}): no luck" in str(caught.value)


def test_the_environment_keeps_compilers_from_optimising(device, empty_cache, monkeypatch):
    """Asked at each build, of which both kinds are kept apart, in memory and on disk."""
    built = {}
    for asked in ("1", "0", ""):
        monkeypatch.setenv("CLGRAPH_NO_OPTIMISING", asked)
        built[asked] = program.build(device, ADD, label="add.cl")
        options = built[asked]._built.get_build_info(device.cl, cl.program_build_info.OPTIONS)
        plain = asked == "1" or device.traits.emulated
        assert ("-cl-opt-disable" in options.split()) == plain
        assert set(device.traits.build_options) <= set(options.split())
    assert built["0"] is built[""]
    assert (built["0"] is built["1"]) == device.traits.emulated
    on_disk = 0 if device.platform == program.POCL_PLATFORM else 2
    assert len(list(empty_cache.glob("*.json"))) == on_disk


@pytest.mark.optimised
@pytest.mark.parametrize("mode", [(32, "local"), (64, "amdgcn")])
@pytest.mark.runtimes("pocl", "intel")
def test_emulated_lanes_are_not_optimised(mode, device):
    """PoCL takes minutes over one kernel, Intel's compiler reads what it freed; users have none."""
    emulated = device.emulating(*mode)
    assert compiling.NO_OPTIMISING in compiling.options_of(emulated)
    assert compiling.NO_OPTIMISING not in compiling.options_of(device)


@pytest.mark.parametrize(
    ("version", "plain"),
    [
        ("OpenCL 3.0 PoCL 3.0-rc2  Linux, Release, RELOC, LLVM 14.0.6, SLEEF, DISTRO", True),
        ("OpenCL 3.0 PoCL 5.0+debian  Linux, None+Asserts, RELOC, SPIR, LLVM 16.0.6", False),
    ],
)
def test_a_compiler_with_assertions_optimises(pocl, monkeypatch, version, plain):
    """PoCL 5 of Ubuntu 24.04 ends the process where a local array is left without its users."""
    monkeypatch.setenv("CLGRAPH_NO_OPTIMISING", "1")
    monkeypatch.setattr(pocl, "platform_version", version)
    assert (compiling.NO_OPTIMISING in compiling.options_of(pocl)) == plain
