"""One of the two sides: a process with a checkout of its own, asked line by line.

It imports nothing but ``clgraph``, which may be years older than this file, and NumPy. Each line of
its input is a JSON object, and so is each answer: ``load`` arrays of a folder, make a ``plan``, or
``run`` it from some sources; what fails is answered as ``error``.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import clgraph

CLASSES = {"bfs": "BFS", "sssp": "SSSP", "scc": "SCC", "components": "ConnectedComponents"}
SEARCHES = ("bfs", "sssp")


class Side:
    """What this process holds: a device, a graph, a plan."""

    def __init__(self, device: str | None) -> None:
        self._device = clgraph.device(device)
        self._graph: Any = None
        self._plan: Any = None
        self._algorithm = ""

    def load(self, folder: str, *, directed: bool) -> dict[str, Any]:
        """Take the arrays of a graph."""
        self._plan = None
        arrays = {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}
        self._graph = clgraph.Graph(
            arrays["indptr"], arrays["indices"], arrays.get("weights"), directed=directed
        )
        return {"m": self._graph.m}

    def plan(self, algorithm: str, preset: str) -> dict[str, Any]:
        """Compile a plan of a preset."""
        self._plan = None  # gives its memory back first
        make = getattr(clgraph, CLASSES[algorithm])
        more = {} if preset == "auto" else {"config": preset}  # some took none, once
        self._plan = make(self._graph, device=self._device, **more)
        self._algorithm = algorithm
        return {}

    def run(self, sources: list[int], *, digests: bool = False) -> dict[str, Any]:
        """Give milliseconds of the device for each source, and a digest of what each found.

        ``again`` says which searches were made again in another configuration, because duplicates
        overflowed a queue: the times are of that one, and where queues overflow is chance.
        """
        searches = self._algorithm in SEARCHES
        taken: list[float] = []
        found: list[str] = []
        again: list[bool] = []
        planned: Any = getattr(self._plan, "config", None)
        as_planned = {str(planned), str(planned.as_dict()) if hasattr(planned, "as_dict") else ""}
        for source in sources:
            result = self._plan.run(source) if searches else self._plan.run()
            taken.append(float(result.stats.kernel_ms))
            ran = getattr(result.stats, "config", planned) if searches else planned
            again.append(str(ran) not in as_planned)
            if digests:
                array = np.asarray(result.distances if searches else result.labels)
                found.append(hashlib.sha256(array.astype(np.float64).tobytes()).hexdigest())
        return {"ms": taken, "again": again, "digests": found}


def main() -> None:
    """Answer until there is nothing more to read."""
    side = Side(sys.argv[1] or None)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = getattr(side, asked.pop("ask"))(**asked)
        except Exception as error:  # whatever an old version raises
            answer = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
