"""The benchmark runner: cases as data, peers in the same run, joules, floors, records of it all.

``python -m bench.run`` and ``clgraph bench`` measure; ``clgraph bench compare`` tells a regression
from noise; ``python -m bench.report.docs`` writes docs/benchmarks.md from the records in
bench/results. The wheel carries this package as ``clgraph.bench``, so its modules import each
other relatively.
"""
