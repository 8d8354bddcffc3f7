"""How figures come about: what docs/benchmarks.md says in words, below its tables."""

from __future__ import annotations

from ..runner.floors import BARRIER_US, COPY_GB_PER_S
from ..runner.pinned import SEED
from . import published

__all__ = ["METHOD"]

_PROBES = "../bench/results/probes"
_PREPARED = f"{_PROBES}/h200-20261122-variants.json"
_SEED = "../bench/results/h200-20261129-papers-seed-777.json"
_COPY, _BARRIER = COPY_GB_PER_S["H200"], BARRIER_US["H200"]

METHOD = f"""
## How it was measured

Runs start from seeded vertices that have edges, as Graph500 and GAP have it; what works on a whole
graph is repeated. After a warm-up come timed passes over all of them, each in an order of its own,
in which the presets of a graph take turns. Passes end when the 95 % bootstrap interval of the
median of their totals is narrow, or a budget is spent; the time of a run is its median over the
passes. Times are device times, from the start of a run to its result in device memory; *overhead*
is what the host's wall clock of `plan.run` adds. Initialising the state is part of every run, and
nothing of a graph is prepared beyond its upload. GTEPS is the harmonic mean over the runs of edges
per second: out-edges of reached vertices for searches, all edges for components; in a directed
graph sources that reach next to nothing dominate it. Results are checked outside the timed region:
whole ones against another's code, or, trusses of large graphs, against another way of finding them,
and up to 40 million edges by the rules of `clgraph.verify` too.

The *overhead* of steady runs on an H200's host, in turn with the code before, as medians
([probe](../bench/results/probes/h200-20261128-posted.txt)): BFS on Kronecker graphs of scale 16 and
20 from 60 to 40 and from 50 to 47 us, shortest paths from 78 to 44 and from 88 to 73, components
from 50 to 49 and from 54 to 33; these take 103 and 149 us of device time instead of 128 and 193,
since launches that others follow have no events.
On another host of one, 16 cores beside others' work, searches of roads with 10.5 ms of kernel took
54 us more, turns of ten runs from 41 to 145, BFS on scale 16 43 from 30 to 50 and shortest paths on
scale 20 62 from 37 to 76
([probe](../bench/results/probes/h200-20261129-beyond-the-kernel.txt)): all ways to wait that were
tried in turn differ by less than the minutes do, in which others cool the caches that a launch
needs. On a host of one where nobody else was at work, BFS on scale 16 and 20 and on roads took 30,
31 and 37 us more, shortest paths on scale 20 and on roads 36 and 41, medians of 182 turns
([probe](../bench/results/probes/h200-20261129-steady-runs.txt)).

On the Xeon each record of suite processors has two of 32 cores to itself, to which PoCL's threads
are bound, beside other such records on other pairs; libraries and GAP's codes, taken as they build
by default, have the same two. GAP's shortest paths are there with three widths of buckets.

*Joules* are those of the whole device, idle power and the host's share of the time included, over a
window in which runs follow one another, divided by their number; [energy.md](energy.md) reports how
meters are read. Windows below two seconds are left out, because a meter that changes every tenth of
one leaves some percent open then, and so are joules whose spread is not known.

*Floor* is what no run can go below: the bytes that must move, at the bandwidth of a copy, plus the
barriers that must happen. For a search by levels those are 4 bytes written per vertex, 8 bytes read
per reached vertex, and one barrier per level; `least` of each problem in `bench` says what they are
for the others. On an H200 the former is
{_COPY:,.0f} GB/s and the latter {_BARRIER} us, measured by programs of their own; elsewhere the
bandwidth is that of a copy in the same run, and the barrier counts as free. A graph that stays in
the cache can be below this floor.

*Best public code* is the fastest of BLEST, GSWITCH, DAWN, Tigr, Gunrock 1, Enterprise, XBFS, SIMD-X
and cuGraph on the same card and the same graph, measured on {published.DATE}, each result checked;
medians over two or three sources. BLEST's figures leave out its preparation (0.25 to 4.6 s, and up
to a minute to order the vertices), those of several others their initialisation. In one run with it
([probe](../bench/results/probes/h200-20261129-blest.txt)), 24 or 48 sources of each of ten graphs,
BLEST was faster from none of them; its time over ours is 2.95 as a geometric mean of the graphs,
1.96 to 11.3 by graph. For the other
algorithms `bench/report/published.py` lists what was measured in the same way. Beside an H100,
whose memory is slower, the same figures of the H200 stand: those codes were not measured there.

*Other draws* are graphs that the same generators give from other seeds; the first is {SEED}.

## With preparation

The tables above are of graphs as they come. Renumbering the vertices (`Graph.reordered`) reorders
every row too, so that pull levels meet hubs first. On an H200, by an earlier version
([probe]({_PREPARED}), study
orders; the seconds in brackets are the host's for renumbering) `"hub"` brings unif22 from 0.286 to
0.263 ms (13 s) and kron22 from 0.151 to 0.141 (9 s); kron20, 0.069 to 0.068, and kron20x64, 0.073
to 0.071, are within the spread, and so are mesh, rgg and road in any order. Reverse Cuthill-McKee
costs: kron20 takes 0.26 ms, grid2d 8.4 instead of 7.1.

As they come, seven generated graphs that public codes were measured on take 0.39 of the best public
time as a geometric mean ([record]({_SEED}), of graphs drawn anew). What stops the
rest, by single searches in that record: on unif22 139 of 268 us go into the first level that pulls,
in which millions of vertices each look for a bit at random, and on kron22 51 of 130; on kron20 no
level takes over 14 us, and 42 of 85 us are no level's but launches and the initial state; on the
deep graphs every level takes two to four microseconds in which hardly a byte moves.

## How to reproduce

```
clgraph bench --suite papers --energy --graphs DIR --data DIR --download --json out.json
clgraph bench compare bench/results/RECORD.json out.json
```

`--graphs` names a folder of generated graphs as `NAME.bcsr` with `NAME.json`, in the layout that
`bench.runner.graphs.read_bcsr` describes; `--data` one of real graphs in any format that
`clgraph.read` knows; `--download` fetches those that public collections offer. A record holds the
seed and checksum of each graph. Without these folders the runner generates graphs of the same
kinds, other ones of course, and records the real ones as skipped, with the graph that stands in
for each. A run that is interrupted keeps its finished cases, and `--resume out.json` goes on from
there.
"""
