"""What several runs tried adds up honestly, and the page shows the sums."""

from pathlib import Path

import ledger
import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/reliability.md"


def run(seed, **tried):
    return {"asked": {"seed": seed}, "tried": tried}


def test_the_same_inputs_count_once():
    """Of one seed the longest run, of several seeds all, of each format on its own."""
    runs = [
        run(1, test_mutated_files={"mtx": {"inputs": 100}, "csv": {"inputs": 7}}),
        run(1, test_mutated_files={"mtx": {"inputs": 40}}),
        run(2, test_mutated_files={"mtx": {"inputs": 50, "outcome": "failed"}}),
    ]
    expected = {"cases": 2, "least": 7, "most": 150, "sum": 157, "failures": 1}
    assert ledger.sums(runs) == {"test_mutated_files": expected}


def test_plans_of_two_processes_are_not_added():
    """That nothing grows is shown by many in one process."""
    runs = [run(1, test_plans_leave_nothing={"bfs": {"plans": n}}) for n in (4, 900, 30)]
    assert ledger.sums(runs)["test_plans_leave_nothing"]["sum"] == 900


def test_parts_are_added():
    """Of one division; what was tried whole, or divided otherwise, is the same places again."""
    name = "test_a_run_that_is_interrupted"

    def part(which, count, graph="small"):
        asked = {"seed": 1, "graph": graph, "part": which}
        return {"asked": asked, "tried": {name: {"lines-bfs": {"interruptions": count}}}}

    runs = [part("1/2", 40), part("2/2", 50), part("2/2", 30), part("1/2", 9, "usual")]
    assert ledger.sums(runs)[name]["sum"] == 90
    runs += [part("1/1", 70), run(1, **{name: {"lines-bfs": {"interruptions": 60}}})]
    assert ledger.sums(runs)[name]["sum"] == 90
    assert ledger.sums([*runs, part("1/1", 95)])[name]["sum"] == 95


def test_signals_are_added():
    figures = {"interruptions": 10, "below_5_ms": 9, "worst_ms": 20.0}
    slower = {"interruptions": 10, "below_5_ms": 4, "worst_ms": 80.0}
    runs = [run(1, **{ledger.MOMENTS: {"bfs": one}}) for one in (figures, figures, slower)]
    runs.append(run(1, **{ledger.MOMENTS: {"scc": {"interruptions": 0}}}))
    assert ledger.sums(runs)[ledger.MOMENTS]["most"] == 30
    assert ledger.answers(runs) == {"count": 30, "below_5_ms": 22, "worst_ms": 80.0}


def test_signals_of_an_idle_machine_are_a_sum_of_their_own():
    """As soon as there are some; runs that do not say how loaded it was are none."""
    figures = {"interruptions": 10, "below_5_ms": 9, "worst_ms": 20.0}
    loads = ({"load": 11.0}, {"load": ledger.IDLE}, {})
    runs = [run(1, **{ledger.MOMENTS: {"bfs": figures}}) | load for load in loads]
    assert ledger.answers(runs)["count"] == 30
    assert ledger.answers(runs, ledger.IDLE)["count"] == 10
    assert [line for line in ledger.table(runs) if "idle" in line] == [
        "Of 10 signals on an idle machine 9 were answered within 5 ms, the slowest after 20 ms."
    ]
    assert not [line for line in ledger.table(runs[::2]) if "idle" in line]


def test_a_run_is_added_to_a_file(tmp_path):
    """With what failed; nothing but the file is left."""
    file = tmp_path / "ledger.json"
    reports = [("test_mutated_files", "mtx", "failed", {"inputs": 3})]
    efforts = {"seed": 5, "inputs": 9}
    for _ in range(2):
        ledger.add(file, ledger.entry(ledger.beginning(), efforts, reports))
    first, second = ledger.load(file)
    assert first["tried"] == {"test_mutated_files": {"mtx": {"inputs": 3, "outcome": "failed"}}}
    assert second["asked"] == efforts
    assert second["load"] >= 0
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("line", ledger.table(ledger.known()))
def test_the_page_shows_the_sums(line):
    assert line in PAGE.read_text("utf-8"), "python tests/fuzz/ledger.py writes the table anew"


def test_what_the_ledger_counts_is_there():
    """A test that gets another name would be counted no more."""
    folder = Path(__file__).resolve().parent
    texts = "".join(path.read_text("utf-8") for path in folder.glob("test_*.py"))
    assert all(f"def {name}(" in texts for name in ledger.COUNTED)
