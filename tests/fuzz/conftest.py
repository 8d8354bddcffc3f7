"""Options of the tests that try many inputs, interruptions and plans: few by default."""

import pytest

# name: default, what it is
EFFORTS = {
    "inputs": (40, "mutated inputs of each file format"),
    "interruptions": (2, "places at which each call of each algorithm is interrupted; 0 is all"),
    "moments": (3, "interruptions of each algorithm at random moments"),
    "graphs": (2, "hostile graphs that several libraries are compared on"),
    "plans": (4, "plans of each algorithm that are made and dropped"),
    "runs": (20, "runs of one plan of each algorithm"),
    "seed": (1, "where random choices begin"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("clgraph: how much is tried")
    for name, (default, what) in EFFORTS.items():
        group.addoption(f"--{name}", type=int, default=default, help=f"{what} (default {default})")


@pytest.fixture(scope="session")
def effort(request: pytest.FixtureRequest):
    """Give how much of something to try; options are known only where this folder is named."""
    return lambda name: request.config.getoption(f"--{name}", default=EFFORTS[name][0])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what each test counted."""
    rows = [
        (report.nodeid.partition("::")[2], report.user_properties)
        for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
        if report.when == "call" and report.user_properties and "tests/fuzz" in report.nodeid
    ]
    if rows:
        terminalreporter.section("what was tried")
    for name, properties in rows:
        figures = ", ".join(f"{key} {value:.4g}" for key, value in properties)
        terminalreporter.write_line(f"{name}: {figures}")
