"""Scripts about devices each of which holds the whole graph: what they begin with."""

from runtimes import run_under_pocl_threads

__all__ = ["run"]

COMMON = """
    import sys
    import numpy as np
    import clgraph as cg
    from clgraph.algorithms.bfs import sharing

    sys.path.insert(0, "tests")
    from graphs import SHAPES
    from searches import check_search

    sharing.SHARE_FROM = 0


    def copies(graph, parts, spec="pocl", **options):
        config = cg.BFSConfig(
            frontier=cg.frontier.VertexQueue(visited="bitmap"),
            pull=cg.pull.ByEdges(looks=1, likely=1),
            schedule=cg.schedule.Persistent(groups=1),
        )
        devices = [cg.device(spec)] * parts
        options = {"config": config, "transfers": "mailboxes"} | options
        return cg.DividedBFS(graph, devices, partition="copies", **options)


    def stepped(plan):
        return [exchange.stepped for exchange in plan._exchanges]
"""


def run(text):
    """Run a script where PoCL has threads enough for kernels of two queues at once."""
    run_under_pocl_threads(COMMON + text)
