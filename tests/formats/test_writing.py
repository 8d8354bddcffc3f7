"""What is written appears whole or not at all, and nothing else of it is ever seen."""

import errno
import lzma
import os
import signal
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
from clocks import Work, alarms
from runtimes import LIMIT_S, ROOT, clean_environment

import clgraph as cg
from clgraph.graph.formats import writing
from clgraph.graph.formats.writing import written

OLD, NEW = b"what was there before\n", b"new\n" * 50_000
COMPRESSED = ("", ".gz", ".bz2", ".xz", ".zst")


@pytest.fixture(params=["unnamed", "named"])
def kind(request, monkeypatch):
    """Files of no name until they are done, and those that have one all the time."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    return request.param


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("kind")
def test_a_new_file_has_the_mode_of_the_process(tmp_path):
    before = os.umask(0o027)
    try:
        with written(tmp_path / "a") as file:
            file.write(NEW)
    finally:
        os.umask(before)
    assert (tmp_path / "a").read_bytes() == NEW
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    assert listing(tmp_path) == ["a"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o660])
@pytest.mark.usefixtures("kind")
def test_an_old_file_keeps_its_mode(tmp_path, mode):
    target = tmp_path / "a"
    target.write_bytes(OLD)
    target.chmod(mode)
    with written(target) as file:
        file.write(NEW)
        assert target.read_bytes() == OLD
    assert target.read_bytes() == NEW
    assert stat.S_IMODE(target.stat().st_mode) == mode
    assert listing(tmp_path) == ["a"]


@pytest.mark.parametrize("ending", COMPRESSED)
@pytest.mark.usefixtures("kind")
def test_a_failure_leaves_what_was_there(tmp_path, ending):
    if ending == ".zst":
        pytest.importorskip("zstandard")
    target = tmp_path / f"a{ending}"
    target.write_bytes(OLD)

    def interrupted():
        with written(target) as file:
            file.write(NEW)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert target.read_bytes() == OLD
    assert listing(tmp_path) == [target.name]


@pytest.mark.usefixtures("kind")
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    target = tmp_path / "a"
    target.write_bytes(OLD)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"), written(target) as file:
        file.write(NEW)
    assert target.read_bytes() == OLD
    assert listing(tmp_path) == ["a"]


@pytest.mark.usefixtures("kind")
def test_links_are_followed_and_stay(tmp_path):
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "a"
    target.write_bytes(OLD)
    (tmp_path / "link").symlink_to(target)
    with written(tmp_path / "link") as file:
        file.write(NEW)
    assert (tmp_path / "link").is_symlink()
    assert target.read_bytes() == NEW
    assert listing(tmp_path / "there") == ["a"]


def test_links_in_a_circle_lead_nowhere(tmp_path):
    for one, other in ("ab", "ba"):
        (tmp_path / one).symlink_to(tmp_path / other)
    with pytest.raises(OSError, match="symbolic links") as refused, written(tmp_path / "a"):
        pass
    assert refused.value.errno == errno.ELOOP
    assert listing(tmp_path) == ["a", "b"]
    assert (tmp_path / "a").is_symlink()


def test_nobody_can_plant_what_is_written_to(tmp_path, monkeypatch):
    """Even whoever foresees the name gains nothing: it must not exist."""
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.setattr(writing.secrets, "token_hex", lambda _: "foreseen")
    victim = tmp_path / "victim"
    victim.write_bytes(OLD)
    (tmp_path / ".a.foreseen.part").symlink_to(victim)
    with pytest.raises(FileExistsError), written(tmp_path / "a") as file:
        file.write(NEW)
    assert victim.read_bytes() == OLD


@pytest.mark.usefixtures("kind")
def test_threads_that_write_the_same_file(tmp_path):
    """Whoever is last wins, and nobody gets half of two."""
    target = tmp_path / "a"
    failures = []

    def write(text):
        try:
            for _ in range(20):
                with written(target) as file:
                    file.write(text * 1000)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in (b"x", b"y", b"z")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert target.read_bytes() in (b"x" * 1000, b"y" * 1000, b"z" * 1000)
    assert listing(tmp_path) == ["a"]


KILLED = """
import sys, time
from clgraph.graph.formats.writing import written
with written(sys.argv[1]) as file:
    file.write(b"half" * 100_000)
    print("half", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="no files without a name here")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_process_leaves_nothing(tmp_path, how):
    target = tmp_path / "a"
    target.write_bytes(OLD)
    command = [sys.executable, "-c", KILLED, str(target)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env=clean_environment(), cwd=ROOT
    ) as child:
        child.stdout.readline()
        child.send_signal(how)
        child.wait(timeout=LIMIT_S)
    assert target.read_bytes() == OLD
    assert listing(tmp_path) == ["a"]


def test_what_may_not_be_written_to_is_not_replaced(tmp_path):
    target = tmp_path / "a"
    target.write_bytes(OLD)
    target.chmod(0o400)
    if os.access(target, os.W_OK):
        pytest.skip("this user may write anywhere")
    with pytest.raises(PermissionError), written(target) as file:
        file.write(NEW)


def test_devices_and_pipes_are_written_to_directly(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    with written(pipe) as file:
        file.write(NEW)
    reader.join()
    assert found == [NEW]
    with written("/dev/null") as file:
        file.write(NEW)
    assert listing(tmp_path) == ["pipe"]


@pytest.mark.parametrize("name", ["g.npz.xz", "g.mtx.xz", "g.npz.bz2", "g.sg"])
def test_ctrl_c_is_answered_while_a_graph_is_written(tmp_path, name):
    """Also where a format is one piece of many mebibytes, and a compressor slow."""
    rng = np.random.default_rng(3)
    graph = cg.from_edges(*rng.integers(0, 100_000, (2, 700_000)), n=100_000)
    sent = []

    def press(*_):
        sent.append(Work())
        raise KeyboardInterrupt

    with alarms(press):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.4)
            cg.write(graph, tmp_path / name)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            assert sent[0].seconds() < 0.5
            if listing(tmp_path):  # it came behind the last step: then all is there
                assert listing(tmp_path) == [name]
                np.testing.assert_array_equal(cg.read(tmp_path / name).indices, graph.indices)
        else:
            assert not sent


def test_slices_make_one_stream(tmp_path):
    text = np.random.default_rng(1).integers(0, 9, 300_000).astype(np.uint8).tobytes()
    with written(tmp_path / "a.xz") as file:
        file.write(text)
    assert lzma.decompress((tmp_path / "a.xz").read_bytes()) == text
