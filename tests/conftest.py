"""Options, markers, caches and device fixtures of the test suite."""

import faulthandler
import gc
import importlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from clgraph.device import Device
from clgraph.device import device as find_device

sys.path.insert(0, str(Path(__file__).resolve().parent))
caches = importlib.import_module("caches")
card = importlib.import_module("card")
leftovers = importlib.import_module("leftovers")
runtimes = importlib.import_module("runtimes")
shares = importlib.import_module("shares")
# Before any test imports networkx, which looks for backends then.
importlib.import_module("entry_points").provide()

STARTED = time.time()
NO_OPTIMISING = "CLGRAPH_NO_OPTIMISING"
# Of wall clock. What PoCL builds for 32 emulated lanes, within the first launch, may take 45 s of a
# processor: minutes beside other work, which is no hang.
SLOW_LIMIT_S = 1800
# Times its limit after which a test takes its process with it.
HOPELESS = 1.5
# "generic" has the whole session meet PoCL as it is on processors that its LLVM does not know.
TEST_PROCESSOR = "CLGRAPH_TEST_PROCESSOR"
RENAMING = Path(__file__).resolve().parent / "renaming"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("clgraph")
    group.addoption("--run-slow", action="store_true", help="run tests that take over ten seconds")
    group.addoption("--run-gpu", action="store_true", help="fail, not skip, where there is no GPU")
    group.addoption(
        "--optimised", action="store_true", help="let the compilers optimise in every test"
    )
    for option, what in (
        ("--cases", "run only N cases of each test that needs a device or starts processes"),
        ("--other-cases", "run only the cases that --cases N leaves out"),
        ("--optimised-cases", "let the compilers optimise in N cases of each such test"),
        (
            "--slow-cases",
            "what make test leaves: N slow cases of every second test, others each commit, first; "
            "of tests marked rest every second; and nothing of tests that build no kernels",
        ),
    ):
        group.addoption(option, type=_count, metavar="N", help=what)
    group.addoption(
        "--seconds",
        type=float,
        metavar="S",
        help="begin no test later than this; the order changes with every commit, so that all come",
    )
    group.addoption(
        "--repeat",
        type=int,
        default=1,
        metavar="N",
        help="run each test N times: what depends on how threads are scheduled shows",
    )
    group.addoption(
        "--shuffle",
        metavar="SEED",
        help="run the tests in another order, the same for the same text",
    )
    group.addoption(
        "--device",
        action="append",
        metavar="SPEC",
        help="run the tests of the fixture 'device' on this one instead (repeatable)",
    )


def _count(text: str) -> int:
    if int(text) < 1:
        raise ValueError(text)  # which argparse makes a sentence of
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--cases") and config.getoption("--other-cases"):
        raise pytest.UsageError("--cases and --other-cases are halves of one run: give one of them")
    if config.getoption("--slow-cases") and not (
        config.getoption("--cases") and config.getoption("--run-slow")
    ):
        raise pytest.UsageError("--slow-cases needs --run-slow, and --cases for the others")
    # Shells start what runs in the background with SIGINT ignored, which children inherit: then no
    # test of Ctrl-C, in this process or in a child, could press it.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for line in (
        "runtimes(*specs): restrict the fixture 'device' to these runtimes",
        "slow_on(*specs): on these of them the test is slow, or finds little that others do not",
        "long: make test takes one case of this function, and not this if others are shorter",
        "rest: make test has no case of this function, which takes seconds: make test-rest has all",
        "optimised: kernels are built as users have them, as --optimised does for every test",
    ):
        config.addinivalue_line("markers", line)
    # First examples import libraries or build kernels, and machines are shared: no deadlines.
    # They are the same each time; the runs that take hours look for others.
    settings.register_profile(
        "clgraph",
        deadline=None,
        derandomize=not config.getoption("--run-slow"),
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("clgraph")
    # Building takes most of a run: a tenth of it where compilers do not optimise, and none where
    # an earlier run, of this checkout or another, has built the same.
    if config.getoption("--optimised"):
        os.environ[NO_OPTIMISING] = "0"
    os.environ.setdefault(NO_OPTIMISING, "1")
    caches.use(config)
    # The tests say themselves which device they mean and how much memory it has.
    for variable in ("CLGRAPH_DEVICE", "CLGRAPH_MEMORY_LIMIT"):
        os.environ.pop(variable, None)
    if os.environ.get(TEST_PROCESSOR):
        _rename_processor(os.environ[TEST_PROCESSOR])


def _rename_processor(name: str) -> None:
    """Have PoCL call the processor unknown, here and in the children that tests start."""
    sys.path.insert(0, str(RENAMING))
    renaming = importlib.import_module("renaming")
    if name != renaming.UNKNOWN:
        raise pytest.UsageError(f"{TEST_PROCESSOR} can only be {renaming.UNKNOWN!r}, not {name!r}")
    paths = [str(RENAMING), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    renaming.rename_on_first_use()
    if find_device("pocl").built_for is None:
        raise pytest.UsageError(f"{TEST_PROCESSOR} needs PoCL 3.0: 'pip install clgraph[cpu]'")


def pytest_report_header() -> list[str]:
    lines = caches.described()
    if os.environ.get(TEST_PROCESSOR):
        lines.append(f"PoCL calls the processor generic; built for {find_device('pocl').built_for}")
    return lines


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among what is collected, then or whenever a test asks for it later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def _settled() -> Generator[None]:
    """Look for no garbage among what a file of tests leaves for good, as caches and reports.

    Of a tenth of a million such objects a collection takes 30 ms, and tests that count memory ask
    for dozens.
    """
    yield
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--shuffle") is not None:
        random.Random(config.getoption("--shuffle")).shuffle(items)  # noqa: S311 (no secret)
    elif config.getoption("--seconds") is not None:
        _shuffle_files(items, _commit())
    if not config.getoption("--run-slow"):
        _skip(items, "slow", "over ten seconds; use --run-slow")
    elif config.getoption("timeout", default=None) is None:
        _give_time(items)
    marked = {marker.name for item in items for marker in item.iter_markers()}
    if "gpu" in marked and not config.getoption("--run-gpu") and runtimes.gpu_or_none() is None:
        _skip(items, "gpu", "there is no NVIDIA GPU here")
    if "energy" in marked and not runtimes.has_power_sensor():
        _skip(items, "energy", "there is no power sensor here")
    items[:], left = _chosen(config, items)
    config.hook.pytest_deselected(items=left)


def _chosen(
    config: pytest.Config, items: list[pytest.Item]
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Divide cases into those that this run takes and the others, and mark what is optimised."""
    kept, left = shares.settled(items)
    if config.getoption("--optimised-cases"):
        quick = [item for item in kept if not shares.is_slow(item)]
        for item in shares.divided(quick, config.getoption("--optimised-cases"))[0]:
            item.add_marker("optimised")
    slow: list[pytest.Item] = []
    if config.getoption("--slow-cases"):
        kept, others = shares.turn(kept, config.getoption("--slow-cases"), _commit())
        left += others
        slow = [item for item in kept if shares.is_slow(item)]
    most = config.getoption("--cases") or config.getoption("--other-cases")
    if most:
        every = config.getoption("--run-slow")
        share, others = shares.divided(kept, most, slow, rest=every)
        kept, others = (share, others) if config.getoption("--cases") else (others, share)
        left += others
    return kept, left


def pytest_runtest_setup(item: pytest.Item) -> None:
    limit = item.config.getoption("--seconds")
    if limit is not None and time.time() > STARTED + limit:
        pytest.skip(f"the {limit:g} seconds of this run are over")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """End the process of a test that its limit does not end, for pytest-xdist to start another.

    The limit is a signal, which Python answers when a call returns: not where a driver waits for a
    lock that nobody gives back, as a compiler does that lost its heap.
    """
    limit_s = _limit_s(item)
    if limit_s:
        plugin = importlib.import_module("_pytest.faulthandler")
        told = item.config.stash.get(plugin.fault_handler_stderr_fd_key, 2)  # which is not captured
        faulthandler.dump_traceback_later(HOPELESS * limit_s, exit=True, file=told)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _limit_s(item: pytest.Item) -> float:
    """Give what pytest-timeout lets a test take; 0 for as long as it likes."""
    if not item.config.pluginmanager.hasplugin("timeout"):
        return 0
    marker = item.get_closest_marker("timeout")
    if marker is not None and marker.args:
        return float(marker.args[0])
    asked = item.config.getoption("timeout", default=None)
    return float(asked if asked is not None else item.config.getini("timeout") or 0)


def _shuffle_files(items: list[pytest.Item], seed: str) -> None:
    """Change the order of files, whose tests share fixtures and stay together."""
    files = sorted({item.path for item in items})
    random.Random(seed).shuffle(files)  # noqa: S311 (nothing secret about it)
    number = {path: place for place, path in enumerate(files)}
    items.sort(key=lambda item: number[item.path])


def _commit() -> str:
    """Give the commit of the checkout; nothing where there is no git or no repository."""
    command = ["git", "-C", str(runtimes.ROOT), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def _give_time(items: list[pytest.Item]) -> None:
    """Have slow tests take longer than others may, where nobody says how long."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_LIMIT_S))


def _skip(items: list[pytest.Item], marker: str, reason: str) -> None:
    for item in items:
        if item.get_closest_marker(marker):
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    # Bytes may differ from one process to the next (a gzip header holds the time), and pytest-xdist
    # refuses processes that do not agree on the names of the tests.
    return argname if isinstance(val, bytes) else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.config.getoption("--repeat") > 1:
        metafunc.fixturenames.append("_repetition")
        metafunc.parametrize("_repetition", range(metafunc.config.getoption("--repeat")))
    if "any_device" in metafunc.fixturenames:
        anywhere = [spec for spec in runtimes.ANYWHERE if runtimes.is_installed(spec)]
        metafunc.parametrize("any_device", anywhere or ["cpu"], indirect=True, scope="session")
    if "device" not in metafunc.fixturenames:
        return
    for marker in metafunc.definition.iter_markers("parametrize"):
        if "device" in str(marker.args[0]).replace(" ", "").split(","):
            return
    specs = metafunc.config.getoption("--device") or list(runtimes.RUNTIMES)
    marker = metafunc.definition.get_closest_marker("runtimes")
    if marker is not None:
        specs = [spec for spec in specs if spec in marker.args]
    slow = set(runtimes.SLOW_RUNTIMES)
    for marker in metafunc.definition.iter_markers("slow_on"):
        slow |= set(marker.args)
    known = [pytest.param(spec, marks=[pytest.mark.slow] * (spec in slow)) for spec in specs]
    metafunc.parametrize("device", known, indirect=True, scope="session")


@pytest.fixture(autouse=True)
def _as_found() -> Generator[None]:
    """Fail a test that leaves what others see changed: first by name, and so the last to end."""
    before, working = leftovers.found(), leftovers.workers()
    yield
    changed = leftovers.changes(before)
    assert not changed, "left behind: " + "; ".join(changed)
    assert leftovers.have_ended(working), f"left at work: {leftovers.workers() - working}"


@pytest.fixture(autouse=True)
def _optimised(request: pytest.FixtureRequest) -> Generator[None]:
    """Build as users do where a test is marked so, or runs on what users run on."""
    with pytest.MonkeyPatch.context() as patch:  # its own: tests undo theirs
        if any(request.node.get_closest_marker(name) for name in ("optimised", "gpu")):
            patch.setenv(NO_OPTIMISING, "0")
        yield


@pytest.fixture(autouse=True)
def _card(request: pytest.FixtureRequest) -> Generator[None]:
    """Share the graphics card with other processes of pytest, or have it alone."""
    marker = request.node.get_closest_marker("gpu")
    if marker is None:
        yield
        return
    with card.held(Path(tempfile.gettempdir()), alone=marker.kwargs.get("alone", False)):
        yield


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> Device:
    """Each runtime in turn: PoCL, PoCL emulating 8 and 32 lanes, Intel; skipped where missing."""
    return runtimes.device_or_skip(request.param)


@pytest.fixture(scope="session")
def pocl() -> Device:
    """PoCL, where a property does not depend on lanes."""
    return runtimes.device_or_skip("pocl")


@pytest.fixture(scope="session")
def intel() -> Device:
    """Intel's CPU runtime, which has real sub-groups."""
    return runtimes.device_or_skip("intel")


@pytest.fixture(scope="session")
def any_device(request: pytest.FixtureRequest) -> Device:
    """A CPU runtime for what must hold anywhere: of Intel's and PoCL, as `shares.settled` says."""
    return runtimes.device_or_skip(request.param)


@pytest.fixture(scope="session")
def gpu() -> Device:
    """The NVIDIA GPU; a test that uses it carries the marker ``gpu``."""
    found = runtimes.gpu_or_none()
    assert found is not None, "--run-gpu was given, but there is no NVIDIA GPU"
    return found
