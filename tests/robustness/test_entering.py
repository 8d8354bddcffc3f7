"""Ctrl-C while a plan is entered leaves nobody in it, also where its exception is kept."""

import ast
import sys
import threading
from functools import partial

import pytest
from runtimes import LIMIT_S, ROOT

import clgraph as cg

GRAPH = cg.generate.kron(6, seed=1, weights=(1, 9))
CALLS = {
    "bfs": (cg.BFS, lambda plan: plan.run(1)),
    "sssp": (cg.SSSP, lambda plan: plan.run(1)),
    "components": (cg.ConnectedComponents, lambda plan: plan.run()),
    "scc": (cg.SCC, lambda plan: plan.run()),
    "pagerank": (cg.PageRank, lambda plan: plan.run()),
    "triangles": (cg.Triangles, lambda plan: plan.run("vertex")),
    "blocks of triangles": (
        partial(cg.Triangles, config="bitmap"),
        lambda plan: list(plan.blocks(100)),
    ),
    "truss": (cg.Truss, lambda plan: plan.run()),
    "louvain": (cg.Louvain, lambda plan: plan.run()),
}
CHANGING = {"bfs", "sssp", "components", "pagerank", "triangles"}


class Interrupting:
    """Ctrl-C at the end of one ``__enter__`` of all that are Python code, those of others too."""

    def __init__(self, nth):
        self._left = nth
        self.met = 0

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._called)

    def __exit__(self, *_):
        sys.settrace(self._before)

    def _called(self, frame, *_):
        return self._followed if frame.f_code.co_name == "__enter__" else None

    def _followed(self, _, event, *__):
        if event == "return":
            self.met += 1
            if self.met == self._left:
                raise KeyboardInterrupt
        return self._followed


@pytest.mark.parametrize(
    ("name", "changing"),
    [(name, False) for name in CALLS] + [(name, True) for name in sorted(CHANGING)],
)
def test_a_plan_is_free_after_ctrl_c_on_entering(name, changing, pocl):
    make, call = CALLS[name]
    graph = cg.DynamicGraph(GRAPH, device=pocl) if changing else GRAPH
    plan = make(graph, device=pocl)
    call(plan)
    kept = []  # as the prompt of Python keeps the last one: with all that its frames hold
    for nth in range(1, 100):
        interrupting = Interrupting(nth)
        try:
            with interrupting:
                call(plan)
        except KeyboardInterrupt as error:
            kept.append(error)
        else:
            break
        done = []
        thread = threading.Thread(target=lambda into=done: into.append(call(plan)), daemon=True)
        thread.start()
        thread.join(LIMIT_S)
        assert done, f"nobody can enter it after {len(kept)} interruptions"
    assert len(kept) == nth - 1
    kept.clear()


def test_locks_are_entered_as_such():
    """Not within Python code that enters: see `clgraph.engine.plan.Turn`."""
    for path in sorted((ROOT / "clgraph").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            generates = any("contextmanager" in ast.unparse(one) for one in node.decorator_list)
            for inner in ast.walk(node) if generates or node.name == "__enter__" else ():
                if isinstance(inner, ast.withitem):
                    entered = ast.unparse(inner.context_expr)
                    assert not entered.endswith(("lock", "alone")), (path, node.name, entered)
