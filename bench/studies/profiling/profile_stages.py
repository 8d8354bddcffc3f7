"""Whether instrumented kernels end and give the same, each stage in a process of its own.

``python -m bench.studies.profiling.profile_stages --device nvidia --seconds 30`` says of each stage
how it ended. A kernel that never ends takes its process with it, not the study; where counting as a
whole does not end, each kind of counter is tried alone.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import clgraph
from clgraph import device as find_device
from clgraph.device import resident_groups
from clgraph.device.observing import observed_by
from clgraph.profile.instrument.words import Mask
from clgraph.profile.passes import watching
from clgraph.profile.passes.timeline import Timeline
from clgraph.profile.passes.watching import Counting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clgraph import Device, Graph

__all__ = ["MASKS", "RUNS", "main", "rooms", "stage"]

SCALE, SEED = 12, 1
ANSWER_S = 5.0
CHILD_S = 20.0
ENDED = 0
MASKS = {
    "counters": Mask.DIV | Mask.GMEM | Mask.LMEM,
    "time": Mask.TIME,
    "sync": Mask.TIME | Mask.SYNC,
    "div": Mask.DIV,
    "gmem": Mask.GMEM,
    "lmem": Mask.LMEM,
}
# What is run, and what of its result must be the same.
RUNS: dict[str, tuple[Callable[[Graph, Device], Any], str]] = {
    "bfs": (lambda graph, device: clgraph.BFS(graph, device=device), "distances"),
    "scc": (lambda graph, device: clgraph.SCC(graph, device=device), "labels"),
    "sssp": (lambda graph, device: clgraph.SSSP(graph, device=device), "distances"),
}
STAGES = tuple(f"{run} {mask}" for mask in ("counters", "time", "sync") for run in RUNS)
ROOMS = ("merrill-contract-expand", "bfs-4k", "helix", "merrill-two-phase")
KINDS = ("div", "gmem", "lmem")


def stage(name: str, device: Device) -> str:
    """Run one stage: plain, and instrumented.

    Parameters
    ----------
    name : str
        What is run, and a name of `MASKS`.
    device : Device
        Where.

    Returns
    -------
    str
        How it ended, for people.
    """
    run, mask = name.split()
    make, read = RUNS[run]
    plan = make(clgraph.generate.kron(SCALE, seed=SEED, weights=(1, 100)), device)
    arguments = () if run == "scc" else (0,)
    wanted = np.array(getattr(plan.run(*arguments), read))
    counting = Counting(MASKS[mask], device)
    began = time.perf_counter()
    with observed_by(counting):
        found = np.array(getattr(plan.run(*arguments), read))
    took = time.perf_counter() - began
    kernel_ms = sum(each.times_ns for each in counting.found.values()) * 1e-6
    counting.release()
    same = "same" if np.array_equal(wanted, found) else "DIFFERENT"
    reasons = [*counting.run_stepped.values(), *counting.left_plain.values()]
    return f"{same}, kernels {kernel_ms:.1f} ms, with building {took:.1f} s {reasons or ''}"


def rooms(device: Device) -> list[dict[str, Any]]:
    """Say how many work-groups of plain and instrumented kernels are resident at once."""
    graph, rows = clgraph.generate.kron(SCALE, seed=SEED), []
    for preset in ROOMS:
        plan, watched = clgraph.BFS(graph, config=preset, device=device), Timeline(device)
        with observed_by(watched):
            plan.run(0)
        place, kernel = next(iter(watched.kernels.items()))
        size = watched.launches()[0].group_size
        for mask in ("time", "counters"):
            counting = Counting(MASKS[mask], device)
            with observed_by(counting):
                counting.has_room(kernel, resident_groups(device, kernel, size), size)
                twin = counting.twin_of(kernel)
            counting.release()
            rows.append(
                {
                    "preset": preset,
                    "mask": mask,
                    "registers": (kernel.registers, twin.registers),
                    "local_bytes": (kernel.local_bytes, twin.local_bytes),
                    "resident": tuple(resident_groups(device, k, size) for k in (kernel, twin)),
                    "told": counting.run_stepped.get(place, ""),
                }
            )
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stages, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="as 'clgraph devices' shows it")
    parser.add_argument("--seconds", type=float, default=30.0, help="begin nothing after these")
    parser.add_argument("--stage", help="one stage, in this process")
    parser.add_argument("--rooms", action="store_true", help="only resident work-groups")
    args = parser.parse_args(argv)
    if args.stage:
        device = find_device(args.device)
        # Some drivers of processors build a kernel when it is launched.
        watching.ANSWER_S = CHILD_S if device.traits.is_cpu else ANSWER_S
        print(stage(args.stage, device), flush=True)
        return ENDED
    if args.rooms:
        for row in rooms(find_device(args.device)):
            print(row, flush=True)
        return ENDED
    began, failed = time.perf_counter(), 0
    waiting = list(STAGES)
    while waiting and time.perf_counter() - began < args.seconds:
        name = waiting.pop(0)
        ended, answer = _child(name, args.device)
        print(f"{time.perf_counter() - began:6.1f} {name:14} {answer}", flush=True)
        if not ended:
            failed += 1
            run, mask = name.split()
            waiting[:0] = [f"{run} {kind}" for kind in KINDS if mask == "counters"]
    print(f"stages: {failed} failed, {len(waiting)} not begun")
    return int(failed > 0)


def _child(name: str, device: str | None) -> tuple[bool, str]:
    command = [sys.executable, "-m", "bench.studies.profiling.profile_stages", "--stage", name]
    command += ["--device", device] if device else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=CHILD_S, check=False)
    except subprocess.TimeoutExpired:
        return False, f"its process did not end within {CHILD_S:g} s"
    said = (done.stdout if done.returncode == ENDED else done.stderr).strip().splitlines()
    right = done.returncode == ENDED and not any("DIFFERENT" in line for line in said)
    return right, said[-1] if said else f"ended with {done.returncode}"


if __name__ == "__main__":
    raise SystemExit(main())
