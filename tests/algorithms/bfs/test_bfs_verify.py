"""The check on the device accepts right results and names what is wrong with others."""

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.bfs.verify import verify_search
from clgraph.device import Device, Memory
from clgraph.engine.resident import resident

RING = cg.from_edges(np.arange(12), (np.arange(12) + 1) % 12, directed=False)


def check(device: Device, distances: np.ndarray, predecessors: np.ndarray) -> None:
    memory = Memory(device)
    verify_search(
        device,
        resident(RING, device),
        memory.upload("distances", distances.astype(np.int32)),
        memory.upload("predecessors", predecessors.astype(np.int32)),
        source=0,
        limit=2**31 - 2,
        unreached=-1,
    )


@pytest.fixture
def right(pocl: Device) -> tuple[np.ndarray, np.ndarray]:
    result = cg.bfs(RING, 0, predecessors=True, device=pocl, verify=True)
    assert result.predecessors is not None
    return result.distances.copy(), result.predecessors.copy()


@pytest.mark.parametrize("max_depth", [None, 0, 1, 3])
def test_accepts_right_results(pocl: Device, max_depth: int | None) -> None:
    result = cg.bfs(RING, 3, predecessors=True, max_depth=max_depth, device=pocl, verify=True)
    assert result.distances[3] == 0


@pytest.mark.parametrize(
    ("vertex", "distance", "says"),
    [
        (0, 1, "only the source is at 0"),
        (4, 0, "only the source is at 0"),
        (5, -1, "unreached or more than one hop farther"),
        (5, 9, "unreached or more than one hop farther"),
        (6, 5, "no edge leads to it"),
        (6, -7, "cannot be"),
    ],
)
def test_names_a_wrong_distance(
    pocl: Device, right: tuple[np.ndarray, np.ndarray], vertex: int, distance: int, says: str
) -> None:
    distances, predecessors = right
    distances[vertex] = distance
    with pytest.raises(cg.VerificationError, match=says):
        check(pocl, distances, predecessors)


@pytest.mark.parametrize(("vertex", "parent"), [(0, 1), (4, 5), (4, 1), (4, -1), (4, 99)])
def test_names_a_wrong_predecessor(
    pocl: Device, right: tuple[np.ndarray, np.ndarray], vertex: int, parent: int
) -> None:
    distances, predecessors = right
    predecessors[vertex] = parent
    with pytest.raises(cg.VerificationError, match=f"vertex {vertex} has a predecessor"):
        check(pocl, distances, predecessors)
