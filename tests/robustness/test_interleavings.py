"""Plans, graphs that change, pauses, threads and interruptions in any order: all as scipy has it.

What makes launches cheap is kept from one to the next: arguments, stamps, states that are as a
search begins, arrays of results that are gone. Here all of it meets all else, by a seed.
"""

import contextlib
import importlib
import pickle
import threading
from functools import partial

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph
from dynamic.dynamic_reference import Reference

import clgraph as cg
from clgraph.device.native import KernelHandle
from clgraph.device.observing import observed_by
from clgraph.dynamic import inplace
from clgraph.dynamic.storage import freelists
from clgraph.engine.driver import Driver

posted = importlib.import_module("clgraph.device.memory.posted")
components_plan = importlib.import_module("clgraph.algorithms.components.plan")

N, EDGES, BATCH, STEPS = 90, 150, 25, 90
MOST_LAUNCHES = 4000  # of one search; a graph of this size takes some hundreds
LIMIT = "CLGRAPH_MEMORY_LIMIT"
STEPPED = cg.schedule.Stepped()
HOPS = {
    "state": {"hops": cg.State("int32", fill=-1)},
    "init": "if (lid == 0) hops[src] = 0;",
    "visit": "if (FIRST(v)) { hops[v] = level + 1; ENQ(v); }",
}


class Watcher:
    """Who has launches done, and finds room for all work-groups at once or not."""

    def __init__(self, rng):
        self._rng = rng

    def launch(self, kernel, global_size, group_size, args):
        return kernel.launch(global_size, group_size, *args, observed=False)

    def copied(self, event, size_bytes):
        pass

    def has_room(self, *_):
        return bool(self._rng.integers(2))

    def stepping(self, kernels):
        pass

    def gave_up(self, kernel):
        pass


class World:
    """A graph that changes with a copy that Python keeps, one that does not, and plans of both."""

    def __init__(self, device, seed, monkeypatch):
        self.rng = np.random.default_rng(seed)
        self.device, self.patch = device, monkeypatch
        self.main = threading.current_thread()
        self.launches_left, self.behind = None, False  # until one is interrupted
        self.kept = []  # results with what they should be
        monkeypatch.setenv("CLGRAPH_POISON", "0xA5A5A5A5")  # memory that nobody has written
        posts = seed % 2 == 1
        for module in (posted, inplace, freelists):
            monkeypatch.setattr(module, "can_post", lambda _: posts)
        monkeypatch.setattr(inplace, "SPIN_LIMIT", 1 << 31)
        monkeypatch.setattr(components_plan, "tile_of", lambda *_: 32)
        monkeypatch.setattr(components_plan, "has_hubs", lambda _: False)
        self.graph = cg.DynamicGraph(
            n=N, directed=False, weights="int32", block_edges=64, device=device
        )
        self.graph._updater.in_place.together = posts
        self.reference = Reference(N, False)
        self.change_edges()
        self.fixed = cg.generate.rmat(7, 3, seed=seed)
        self.watch_launches()
        self.plans = self.made()

    def made(self):
        """Plans with how they are run."""
        graph, beside = self.graph, self.device.beside()
        searches = [
            cg.BFS(graph, config=cg.BFSConfig(schedule=STEPPED)),
            cg.BFS(graph, predecessors=True),
            cg.BFS(graph, config=cg.BFSConfig(schedule=cg.schedule.Stepped(kernels="split"))),
            cg.BFS(graph, config="enterprise"),
            cg.BFS(graph, config="merrill-two-phase", predecessors=True),
            cg.BFS(graph, device=beside),
        ]
        paths = [
            cg.SSSP(graph),
            cg.SSSP(graph, config=cg.SSSPConfig(schedule=STEPPED)),
            cg.SSSP(graph, config="self-tuning", predecessors=True),
            cg.SSSP(graph, config="asynchronous"),
            cg.SSSP(graph, config="delta-stepping"),
            cg.SSSP(graph, config="h-bf", device=beside),
        ]
        parts = [cg.ConnectedComponents(graph), cg.ConnectedComponents(graph, device=beside)]
        strong = [
            cg.SCC(self.fixed, config=config, device=device)
            for config, device in (
                (cg.SCCConfig(finish="signatures"), self.device),
                (cg.SCCConfig(finish="coloring", trim=1), beside),
            )
        ]
        many = [cg.MultiSearch(graph, **HOPS)]
        ranks = [cg.PageRank(self.fixed, device=device) for device in (self.device, beside)]
        return [
            *((plan, self.search) for plan in searches),
            *((plan, self.find_paths) for plan in paths),
            *((plan, self.find_parts) for plan in parts),
            *((plan, self.find_strong) for plan in strong),
            *((plan, self.search_from_many) for plan in many),
            *((plan, self.rank) for plan in ranks),
        ]

    def watch_launches(self):
        """Let launches be interrupted, and end a search that would not."""
        launch = Driver._launch

        def numbered(driver, args, number, *of, **how):
            assert number < MOST_LAUNCHES, "the search begins again and again"
            return launch(driver, args, number, *of, **how)

        self.patch.setattr(Driver, "_launch", numbered)
        for name in ("enqueue", "enqueue_unseen"):
            self.patch.setattr(KernelHandle, name, self.interruptible(getattr(KernelHandle, name)))

    def interruptible(self, enqueue):
        def counted(handle, *sizes):
            if self.launches_left is None or threading.current_thread() is not self.main:
                return enqueue(handle, *sizes)
            self.launches_left -= 1
            if not (self.launches_left or self.behind):
                raise KeyboardInterrupt
            event = enqueue(handle, *sizes)
            if not self.launches_left:
                raise KeyboardInterrupt
            return event

        return counted

    # What is true now.

    def matrix(self):
        arcs = self.reference.arcs()
        ends = np.array(list(arcs), np.int64).reshape(-1, 2).T
        values = np.array(list(arcs.values()), np.float64)
        n = self.reference.n
        return scipy.sparse.csr_matrix((values, ends), shape=(n, n))

    def hops(self, source):
        found = scipy.sparse.csgraph.dijkstra(self.matrix(), unweighted=True, indices=source)
        return np.where(np.isinf(found), -1, found).astype(np.int32)

    def vertex(self):
        return int(self.rng.integers(self.reference.n))

    def held(self):
        """What the graph holds, as the reference has it."""
        graph = self.graph.to_graph()
        ends = np.repeat(np.arange(graph.n), graph.degrees).tolist(), graph.indices.tolist()
        return dict(zip(zip(*ends, strict=True), graph.weights.tolist(), strict=True))

    # Runs: each gives a call, how what it gives is read, and what that should be.

    def search(self, plan, verify):
        source = self.vertex()
        depth = int(self.rng.integers(6)) if self.rng.integers(3) == 0 else None
        wanted = self.hops(source)
        if depth is not None:
            wanted = np.where(wanted > depth, -1, wanted)
        reached = np.unique(wanted[wanted >= 0], return_counts=True)[1]
        run = partial(plan.run, source, max_depth=depth, verify=verify)
        return run, self.read_hops, (wanted, reached)

    @staticmethod
    def read_hops(result):
        levels = result.stats.per_level["frontier"]
        return result.distances, levels[levels > 0]

    def find_paths(self, plan, verify):
        sources = [self.vertex() for _ in range(self.rng.integers(1, 4))]
        found = scipy.sparse.csgraph.dijkstra(self.matrix(), indices=sources, min_only=True)
        far = np.iinfo(np.int32).max
        how, kind = {}, int(self.rng.integers(3))
        if kind == 1:
            how["max_distance"] = limit = int(self.rng.integers(40))
            found = np.where(found > limit, np.inf, found)
        wanted = np.where(np.isinf(found), far, found).astype(np.int32)
        only = slice(None)
        if kind == 2:
            how["target"] = only = self.vertex()
        run = partial(plan.run, sources if len(sources) > 1 else sources[0], verify=verify, **how)
        return run, lambda one: (one.distances[only],), (wanted[only],)

    def find_parts(self, plan, verify):
        wanted = scipy.sparse.csgraph.connected_components(self.matrix())[1]
        return partial(plan.run, verify=verify), self.read_labels, self.by_smallest(wanted)

    def find_strong(self, plan, verify):
        matrix = self.fixed.to_scipy()
        wanted = scipy.sparse.csgraph.connected_components(matrix, connection="strong")[1]
        return partial(plan.run, verify=verify), self.read_labels, self.by_smallest(wanted)

    @staticmethod
    def read_labels(result):
        return result.labels, result.count

    @staticmethod
    def by_smallest(labels):
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[inverse], first.size

    def search_from_many(self, plan, verify):
        sources = [self.vertex() for _ in range(self.rng.integers(1, 6))]
        wanted = np.array([self.hops(source) for source in sources])
        run = partial(plan.run, sources, verify=verify)
        return run, lambda one: (one["hops"],), (wanted,)

    def rank(self, plan, verify):
        alpha = float(self.rng.choice([0.5, 0.85]))
        matrix, n = self.fixed.to_scipy().toarray() > 0, self.fixed.n
        degrees = self.fixed.degrees
        shares = matrix.T / np.maximum(degrees, 1) + (degrees == 0) / n
        wanted = np.linalg.solve(np.eye(n) - alpha * shares, np.full(n, (1 - alpha) / n))
        run = partial(plan.run, alpha=alpha, tol=1e-9, max_iter=500, verify=verify)
        return run, lambda one: (one.ranks.round(5),), (wanted.round(5),)

    # What may happen.

    def drawn(self):
        plan, how = self.plans[self.rng.integers(len(self.plans))]
        return how(plan, verify=bool(self.rng.integers(5) == 0))

    def run(self):
        run, *rest = self.drawn()
        self.kept.append((run(), *rest))

    def check_kept(self):
        """Read results, some long after their run, as they are or in another place."""
        while self.kept:
            result, read, wanted = self.kept.pop(int(self.rng.integers(len(self.kept))))
            if self.rng.integers(4) == 0:
                result = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own
            for one, other in zip(read(result), wanted, strict=True):
                np.testing.assert_array_equal(one, other)
            if self.rng.integers(2):
                return

    def change_edges(self):
        kind, n = self.rng.integers(3), self.reference.n
        more = 2 * int(self.rng.integers(8) == 0)  # vertices that an edge may bring
        count = BATCH if self.reference.edges else EDGES
        src, dst = self.rng.integers(0, n + more, (2, count))
        regime = str(self.rng.choice(["auto", "rows", "rewrite"]))
        values = self.rng.integers(1, 12, src.size).astype(np.int32)
        before = dict(self.reference.edges)
        if kind == 0 and before:
            self.reference.delete(src, dst)
            call = lambda: self.graph.delete_edges(src, dst, regime=regime)  # noqa: E731
        elif kind == 1 and before:
            self.reference.update(src, dst, values)
            call = lambda: self.graph.update_values(src, dst, values)  # noqa: E731
        else:
            self.reference.insert(src, dst, values)
            call = lambda: self.graph.insert_edges(src, dst, values, regime=regime)  # noqa: E731
        try:
            call()
        except (KeyboardInterrupt, cg.DeviceMemoryError):
            self.patch.delenv(LIMIT, raising=False)
            # It is as it was, or as it should be.
            if self.held() != self.reference.arcs() or self.graph.n != self.reference.n:
                self.reference.edges, self.reference.n = before, n
            assert (self.held(), self.graph.n) == (self.reference.arcs(), self.reference.n)
            raise

    def tidy(self):
        kind = self.rng.integers(3)
        if kind == 0:
            self.graph.compact()
        elif kind == 1:
            self.graph.trim()
        else:
            self.graph.insert_vertices(3)
            self.reference.n += 3

    def interrupt(self):
        """Press Ctrl-C before or behind one of the next launches, if there are so many."""
        self.launches_left = int(self.rng.integers(1, 12)) * int(self.rng.choice([1, 3]))
        self.behind = bool(self.rng.integers(2))
        with contextlib.suppress(KeyboardInterrupt):
            (self.run if self.rng.integers(3) else self.change_edges)()
        self.launches_left = None

    def run_short_of_memory(self):
        room = self.device.ledger.used_bytes + int(self.rng.integers(20_000))
        self.patch.setenv(LIMIT, str(room))
        with contextlib.suppress(cg.DeviceMemoryError):
            (self.run if self.rng.integers(3) else self.change_edges)()
        self.patch.delenv(LIMIT, raising=False)

    def pause(self):
        """Have launches of some plan stop after so much work from now on."""
        parts = [
            getattr(plan, part, None)
            for plan, _ in self.plans
            for part in ("_stages", "_steps", "_signatures")
        ]
        stages = [getattr(part, "_stages", part) for part in parts if part is not None]
        chosen = stages[self.rng.integers(len(stages))]
        budget = np.uint64(self.rng.choice([1, 30, 10**9]))
        chosen._own = (*chosen._own[:-1], budget)
        chosen.table.stamp = object()

    def give_up(self):
        """Have work-groups wait in vain, as the host sees it."""
        persistent = Driver._persistent
        with self.patch.context() as patch:
            patch.setattr(Driver, "_persistent", lambda *of, **how: persistent(*of, **how) and None)
            self.run()

    def watched(self):
        with observed_by(Watcher(self.rng)):
            (self.run if self.rng.integers(3) else self.change_edges)()

    def run_in_threads(self):
        """Plans, which may be the same, run at once."""
        found, failures = [], []

        def work(run, *rest):
            try:
                found.append((run(), *rest))
            except BaseException as error:
                failures.append(error)

        first, second = self.drawn(), self.drawn()
        threads = [threading.Thread(target=work, args=one) for one in (first, second, first)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures
        self.kept += found


def live(device, seed, monkeypatch, steps=STEPS):
    world = World(device, seed, monkeypatch)
    often = [world.run] * 5 + [world.check_kept] * 3 + [world.change_edges] * 3
    seldom = [
        *(world.tidy, world.interrupt, world.interrupt, world.run_short_of_memory),
        *(world.pause, world.give_up, world.watched, world.run_in_threads),
    ]
    for _ in range(steps):
        choices = often + seldom
        choices[world.rng.integers(len(choices))]()
    while world.kept:
        world.check_kept()


@pytest.mark.parametrize("seed", range(4))
def test_all_as_scipy_has_it(seed, pocl, monkeypatch):
    live(pocl, seed, monkeypatch)


@pytest.mark.slow
def test_all_as_scipy_has_it_for_long(pocl, monkeypatch):
    for seed in range(4, 40):
        with monkeypatch.context() as patch:
            live(pocl, seed, patch)
