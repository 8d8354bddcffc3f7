"""Ranks that are processes: one job for all checks, and jobs that end because a rank does."""

import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from runtimes import LIMIT_S, POCL, ROOT, clean_environment, driver_library
from searches import MIXED, MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES, MIXED_SOURCES

import clgraph as cg
from clgraph.cluster.ranks.over_mpi import MESSAGE_BYTES

HERE = Path(__file__).resolve().parent
pytest.importorskip("mpi4py", reason="there is no mpi4py")


def mpiexec(ranks, *command, **environment):
    driver_library(*POCL)
    beside = Path(sys.executable).with_name("mpiexec")
    program = str(beside) if beside.exists() else shutil.which("mpiexec")
    if program is None:
        pytest.skip("there is no mpiexec")
    env = clean_environment(PYTHONPATH=str(ROOT), **environment)
    return subprocess.run(
        [program, "-n", str(ranks), sys.executable, *command],
        env=env,
        cwd=ROOT,
        timeout=LIMIT_S,
        capture_output=True,
        text=True,
        check=False,
    )


def files(folder):
    for name in ("mixed.sg", "mixed.npz", "mixed.el"):
        cg.write(MIXED, folder / name)


def checked(ranks, folder, *checks):
    """Run checks, or all, on so many ranks."""
    files(folder)
    done = mpiexec(ranks, str(HERE / "rank_checks.py"), "pocl", str(folder), *checks)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "checked everything" in done.stdout


def compare_bytes(ranks, folder, device):
    """What searches sent is what as many ranks in one process send, whose tests have a model.

    These weigh a message as MPI's do, and so send straight or in rounds where those do.
    """
    comm = cg.cluster.Together([device] * ranks)
    comm.message_bytes = MESSAGE_BYTES
    for graph, sources in ((MIXED, MIXED_SOURCES), (MIXED_ONE_WAY, MIXED_ONE_WAY_SOURCES)):
        for partition in ("2d", "1.5d"):
            plan = cg.cluster.BFS(graph, comm, predecessors=True, partition=partition)
            for source in sources[:4]:
                told = np.load(folder / f"1{partition}-{graph.directed}-{source}.npy")
                expected = plan.run(source).stats.exchanged_bytes
                np.testing.assert_array_equal(told, expected)


def compare_drawn(ranks, folder, device):
    """The same graph is drawn, however many draw it."""
    parts = [np.load(folder / f"kron-{rank}-of-{ranks}.npy") for rank in range(ranks)]
    plan = cg.cluster.BFS(
        cg.cluster.Kronecker(8, 8, seed=3), cg.cluster.Together([device]), predecessors=True
    )
    assert sum(part.size for part in parts) == 256
    assert plan.run(5).reached == sum(np.count_nonzero(part >= 0) for part in parts)


@pytest.mark.rest
@pytest.mark.parametrize(
    "check",
    [
        *("exchanged", "staged", "others", "read", "refused", "rounds"),
        pytest.param("searched", marks=pytest.mark.long),
    ],
)
def test_three_ranks(check, tmp_path, any_device):
    """Distances, trees, paths, components of one device; slices; refusals."""
    checked(3, tmp_path, check)
    if check == "searched":
        compare_bytes(3, tmp_path, any_device)
    elif check == "read":
        compare_drawn(3, tmp_path, any_device)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_one_to_eight_ranks(ranks, tmp_path, any_device):
    checked(ranks, tmp_path)
    compare_bytes(ranks, tmp_path, any_device)
    compare_drawn(ranks, tmp_path, any_device)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("raises", "rank 1 of 2 ends the job: DeviceMemoryError: a part does not fit"),
        ("outside", "ZeroDivisionError: of the caller's own"),
        ("interrupted", "rank 1 of 2 ends the job: KeyboardInterrupt"),
        ("killed", None),
        ("silent", "the other ranks did not answer within 2 s"),
        ("late", "the other ranks did not answer within 2 s (that they begin)"),
        ("impatient", "rank 1 of 2 has failed: InvalidArgumentError: a time-out of '-1'"),
    ],
)
def test_a_rank_that_fails_ends_the_job(how, message):
    check_failure(how, message)


@pytest.mark.parametrize(
    ("how", "status", "message"),
    [
        ("exits", 7, "rank 0 of 2 ends the job: LeftError: rank 1 has left with status 7"),
        ("exits within", 5, "rank 1 of 2 ends the job: SystemExit: 5"),
        ("stops", 1, "rank 1 has left with status 0, and others wait for it (counts)"),
        ("exits last", 9, "0 is done"),
        ("all last", 0, "1 is done"),
    ],
)
def test_a_rank_that_exits(how, status, message):
    """It ends the job with its status, at once where others wait for it, and else when all have."""
    assert check_failure(how, message) == status


def check_failure(how, message):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = mpiexec(2, str(HERE / "rank_failures.py"), how)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (done.returncode != 0) == (how != "all last")
    # Ranks that wait poll: nobody has waited for long.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 25
    if message:
        assert message in done.stderr + done.stdout
    return done.returncode


@pytest.mark.rest
@pytest.mark.parametrize("what", ["gathered", "per-rank", "refused"])
def test_the_command(what, tmp_path):
    """``mpiexec clgraph bfs FILE --cluster``: gathered, or written by every rank."""
    files(tmp_path)
    source = str(MIXED_SOURCES[0])
    expected = cg.bfs(MIXED, MIXED_SOURCES[0], device="cpu").distances
    command = ("-m", "clgraph", "bfs", str(tmp_path / "mixed.sg"), "--source", source, "--cluster")
    output = tmp_path / "found.npz"
    more = {
        "gathered": ("--json", "--output", str(output)),
        "per-rank": ("--per-rank", "--output", str(output)),
        "refused": ("--source", "-5"),
    }
    done = mpiexec(2, *command, *more[what], CLGRAPH_DEVICE="pocl")
    if what == "refused":
        assert done.returncode != 0
        assert "not a vertex" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    if what == "gathered":
        record = json.loads(done.stdout)
        assert record["ranks"] == 2
        assert record["reached"] == np.count_nonzero(expected >= 0)
        np.testing.assert_array_equal(np.load(output)["distances"], expected)
        return
    assert "2, cyclic partition" in done.stdout
    for rank in range(2):
        part = np.load(tmp_path / f"found.{rank}.npz")
        np.testing.assert_array_equal(part["distances"], expected[part["vertices"]])
