"""A dictionary of dictionaries that does what a dynamic graph should."""

import numpy as np

from clgraph.dynamic.storage.sizes import CLASSES, Sizes


class Reference:
    """Edges with one value each, as arcs."""

    def __init__(self, n, directed):
        self.n, self.directed = n, directed
        self.edges = {}

    def key(self, u, v):
        return (u, v) if self.directed or u <= v else (v, u)

    def insert(self, src, dst, values):
        seen, counts = set(), {"new": 0, "present": 0, "repeated": 0}
        for u, v, x in zip(src.tolist(), dst.tolist(), values.tolist(), strict=True):
            self.n = max(self.n, u + 1, v + 1)
            key = self.key(u, v)
            how = "repeated" if key in seen else "present" if key in self.edges else "new"
            counts[how] += 1
            seen.add(key)
            if how == "new":
                self.edges[key] = x
        return counts

    def delete(self, src, dst):
        seen, counts = set(), {"gone": 0, "absent": 0, "repeated": 0}
        for u, v in zip(src.tolist(), dst.tolist(), strict=True):
            key = self.key(u, v)
            outside = max(u, v) >= self.n
            how = "repeated" if key in seen and not outside else "gone"
            if key not in self.edges and how == "gone":
                how = "absent"
            counts[how] += 1
            seen.add(key)
            if how == "gone":
                del self.edges[key]
        return counts

    def update(self, src, dst, values):
        last, outside = {}, 0
        for u, v, x in zip(src.tolist(), dst.tolist(), values.tolist(), strict=True):
            if max(u, v) >= self.n:
                outside += 1
            else:
                last[self.key(u, v)] = x
        there = {key: x for key, x in last.items() if key in self.edges}
        self.edges.update(there)
        return {"updated": len(there), "absent": outside + len(last) - len(there)}

    def arcs(self):
        found = dict(self.edges)
        if not self.directed:
            found |= {(v, u): x for (u, v), x in self.edges.items()}
        return found


def check(graph, reference):
    """Contents, and what must hold between batches (DH-08, DH-13, DH-16)."""
    held = graph.to_graph()
    values = np.zeros(held.m) if held.weights is None else held.weights
    sources = np.repeat(np.arange(held.n), held.degrees)
    ends = zip(sources.tolist(), held.indices.tolist(), strict=True)
    wanted = reference.arcs()
    if held.weights is None:
        wanted = dict.fromkeys(wanted, 0)
    assert dict(zip(ends, values.tolist(), strict=True)) == wanted
    assert (graph.n, graph.m) == (reference.n, len(wanted))
    np.testing.assert_array_equal(graph.degrees, held.degrees)
    usage = graph.memory_usage()
    store = graph._store
    sizes = Sizes(store.blocks.block_edges, graph._updater.least)
    entries = sum(sizes.room(int(d)) for d in held.degrees)
    assert store.blocks.used_entries == entries
    if graph._updater.least == 1:
        assert entries <= 2 * max(graph.m, 1)
    in_use = store.pointer.read(store.n)[held.degrees > 0]
    free = np.concatenate(
        [np.zeros(0, int), *map(store.blocks.fork().free_places, range(CLASSES - 1))]
    )
    # Every block is of a row or free, and none is both (DH-08).
    rooms = [sizes.room(int(d)) for d in held.degrees if d]
    assert len(np.intersect1d(in_use, free)) == 0
    assert len(np.unique(in_use)) == len(rooms)
    assert len(np.unique(free)) == len(free)
    assert sum(rooms) <= store.blocks.array_entries
    assert 0 <= usage.array_utilisation <= 1
    assert 0 <= usage.block_utilisation <= 1


def batch(rng, n, most):
    count = int(rng.integers(1, most))
    return rng.integers(0, n, count), rng.integers(0, n, count), rng.integers(1, 99, count)
