"""Arrays of what networkx keeps in dictionaries, and back."""

from __future__ import annotations

from array import array
from collections import deque
from itertools import chain, islice, repeat
from operator import itemgetter, methodcaller
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from clgraph.graph.csr import index_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["adjacency", "edge_values", "multiplicities", "names_and_numbers", "to_networkx"]

SAMPLE = 1000  # arcs looked at to decide whether neighbours are the very objects that the nodes are
EXACT_FLOAT = 2**53
TABLE_SHARE = 8  # entries of a table of numbers, for each node


def names_and_numbers(nodes: Iterable[Hashable]) -> tuple[list[Any], bool]:
    """List the nodes, and whether each is its own place in the list: 0, 1, 2, ..."""
    names = list(nodes)
    # Not 1.0 or True, which are equal to a number: results have the user's own objects.
    counted = names == list(range(len(names))) and set(map(type, names)) <= {int}
    return names, counted


def adjacency(
    rows: dict[Any, dict[Any, Any]], names: list[Any], *, counted: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows of neighbours in the order in which networkx has them.

    Parameters
    ----------
    rows : dict of dict
        Neighbours of each node.
    names : list
        The nodes.
    counted : bool
        Whether each is its own place in the list.

    Returns
    -------
    starts, edge_targets : int arrays [n + 1], [arcs]
        As in CSR, but for the order of a row.
    """
    n = len(names)
    degrees = np.fromiter(map(len, rows.values()), np.int64, n)
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(degrees, out=starts[1:])
    arcs = int(starts[-1])
    ids = index_dtype(max(n, arcs))
    edge_targets = _edge_targets(rows, names, arcs, counted=counted)
    return starts.astype(ids), edge_targets.astype(ids, copy=False)


def _edge_targets(
    rows: dict[Any, dict[Any, Any]], names: list[Any], arcs: int, *, counted: bool
) -> NDArray[Any]:
    if counted:
        return _whole_numbers(rows.values, arcs, 0, len(names))
    if all(type(name) is int for name in names):
        found = _targets_of_integers(rows, names, arcs)
        if found is not None:
            return found
    known = set(map(id, names))
    first = list(islice(chain.from_iterable(rows.values()), SAMPLE))
    if sum(id(node) in known for node in first) == len(first):
        found = _targets_of_objects(chain.from_iterable(rows.values()), names, arcs)
        if found is not None:
            return found
    number = {name: vertex for vertex, name in enumerate(names)}
    return _whole_numbers(
        lambda: map(map, repeat(number.__getitem__), rows.values()), arcs, 0, len(names)
    )


def _whole_numbers(
    given: Callable[[], Iterable[Iterable[int]]], count: int, least: int, most: int
) -> NDArray[Any]:
    """Integers of rows one after the other, all of them from `least` to `most`.

    Most of the time goes into fetching each number's object once; a row's are copied while the
    nearest cache has them. Of the type codes of `array` the unsigned ones are read the fastest.
    """
    found = array("I" if least >= 0 and most < 2**32 else "q")
    try:
        deque(map(found.fromlist, map(list, given())), maxlen=0)
    except TypeError:  # equal to a whole number without being one
        return np.fromiter(chain.from_iterable(given()), np.int64, count)
    if len(found) != count:
        raise AssertionError(f"rows have {len(found)} neighbours, and not {count}")
    return np.frombuffer(found, np.dtype(found.typecode))


def _targets_of_integers(
    rows: dict[int, dict[int, Any]], names: list[int], arcs: int
) -> NDArray[np.int64] | None:
    """Look integers up in a table; None if they are too far apart for one."""
    least, most = min(names), max(names)
    size = most - least + 1
    if size > TABLE_SHARE * len(names) + SAMPLE or max(abs(least), abs(most)) >= 2**62:
        return None
    table = np.zeros(size, np.int64)
    table[np.array(names, np.int64) - least] = np.arange(len(names))
    numbers = _whole_numbers(rows.values, arcs, least, most)
    return table[numbers.astype(np.int64) - least]


def _targets_of_objects(
    neighbours: Iterable[Any], names: list[Any], arcs: int
) -> NDArray[np.int64] | None:
    """Compare addresses instead of objects, which saves looking at them; None if one differs."""
    of_nodes = np.fromiter(map(id, names), np.int64, len(names))
    order = np.argsort(of_nodes)
    wanted = np.fromiter(map(id, neighbours), np.int64, arcs)
    ranked = of_nodes[order]
    place = np.minimum(np.searchsorted(ranked, wanted), len(names) - 1)
    if not np.array_equal(ranked[place], wanted):
        return None
    return order[place]


def multiplicities(rows: dict[Any, dict[Any, Any]], arcs: int) -> NDArray[np.int64]:
    """Count the parallel edges of every arc of a multigraph."""
    keyed = (keys for row in rows.values() for keys in row.values())
    return np.fromiter(map(len, keyed), np.int64, arcs)


def edge_values(
    rows: dict[Any, dict[Any, Any]], attribute: Hashable, default: Any, *, multigraph: bool
) -> NDArray[Any]:
    """Numbers [arcs] that edges have under a name, of parallel edges the least.

    Raises
    ------
    NotImplementedError
        If one is not a finite number of a type that NumPy has: networkx can take others.
    """
    try:
        if multigraph:
            values = [
                min(data.get(attribute, default) for data in keys.values())
                for row in rows.values()
                for keys in row.values()
            ]
        else:
            values = _values(rows, attribute, default)
        found = np.array(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise NotImplementedError(
            f"edge attribute {attribute!r} holds no numbers: {error}"
        ) from None
    if not values:
        return np.zeros(0, np.int32)
    return _as_weights(found, attribute, len(rows))


def _values(rows: dict[Any, dict[Any, Any]], attribute: Hashable, default: Any) -> list[Any]:
    data = chain.from_iterable(map(methodcaller("values"), rows.values()))
    try:
        return list(map(itemgetter(attribute), data))
    except KeyError:  # some edge lacks it
        return [d.get(attribute, default) for row in rows.values() for d in row.values()]


def _as_weights(found: NDArray[Any], attribute: Hashable, n: int) -> NDArray[Any]:
    if found.ndim == 1 and found.dtype.kind in "bi":
        whole = found.astype(np.int64)
        largest = max(abs(int(whole.min())), abs(int(whole.max())))
        return whole.astype(np.int32) if largest * max(n, 1) < 2**31 else whole
    if found.ndim != 1 or found.dtype.kind != "f" or found.dtype.itemsize > 8:
        raise NotImplementedError(f"edge attribute {attribute!r} does not hold plain numbers only")
    real = found.astype(np.float64)
    if not np.isfinite(real).all() or float(np.abs(real).max()) >= EXACT_FLOAT:
        raise NotImplementedError(
            f"edge attribute {attribute!r} holds numbers that are not finite, or too large"
        )
    return real


def to_networkx(
    kind: type, names: Sequence[Any], ends: tuple[Any, Any], weights: dict[Hashable, Any]
) -> Any:
    """Build a networkx graph of a kind from its nodes and edges."""
    made = kind()
    made.add_nodes_from(names)
    pairs = ((names[u], names[v]) for u, v in zip(*(end.tolist() for end in ends), strict=True))
    if weights:
        rows = zip(*(values.tolist() for values in weights.values()), strict=True)
        made.add_edges_from(
            (u, v, dict(zip(weights, row, strict=True)))
            for (u, v), row in zip(pairs, rows, strict=True)
        )
    else:
        made.add_edges_from(pairs)
    return made


def kind_of(*, directed: bool, multigraph: bool) -> type:
    """Class of networkx for such graphs."""
    if multigraph:
        return nx.MultiDiGraph if directed else nx.MultiGraph  # type: ignore[no-any-return]
    return nx.DiGraph if directed else nx.Graph  # type: ignore[no-any-return]
