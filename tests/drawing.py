"""Hashes of vertices and seeds, and what orders by them give, one vertex after the other."""

MASK = 2**32 - 1


def _once(x):
    x ^= x >> 16
    x = x * 0x7FEB352D & MASK
    x ^= x >> 15
    x = x * 0x846CA68B & MASK
    return x ^ x >> 16


def mixed(vertex, seed):
    """templates/random/mix.mako in Python."""
    return _once(_once(vertex ^ (seed & MASK)) ^ (seed >> 32))


def neighbours(graph, vertex):
    row = graph.indices[graph.indptr[vertex] : graph.indptr[vertex + 1]].tolist()
    return [u for u in row if u != vertex]


def color_order(graph, seed, *, by_degree):
    """Vertices in the order in which they are coloured."""

    def key(v):
        return (-int(graph.degrees[v]) if by_degree else 0, -mixed(v, seed))

    return sorted(range(graph.n), key=key)


def independent_set(graph, seed):
    """The set that is found by taking vertices in the order of their priorities."""
    mean = max(round(graph.mean_degree), 1)

    def key(v):
        return (-(253 * mean // (mean + int(graph.degrees[v]))), -mixed(v, seed))

    chosen, out = [], set()
    for v in sorted(range(graph.n), key=key):
        if v not in out:
            chosen.append(v)
            out.update(neighbours(graph, v))
    return sorted(chosen)
