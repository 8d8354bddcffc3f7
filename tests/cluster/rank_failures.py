"""What a rank does that cannot go on, while the others wait for it."""

import os
import signal
import sys
import time

import numpy as np
from mpi4py import MPI

import clgraph as cg
from clgraph.cluster.ranks.comm import AllGather, run

HOW = sys.argv[1]
SECOND = MPI.COMM_WORLD.rank == 1
if HOW == "late" and SECOND:
    time.sleep(30)
TIMEOUTS = {"silent": 2, "late": 2, "impatient": -1 if SECOND else 200}
comm = cg.cluster.world("pocl", timeout_s=TIMEOUTS.get(HOW, 200))


def program():
    yield AllGather(lambda: np.zeros(1, np.int64))
    if comm.rank == 1:
        if HOW == "raises":
            raise cg.DeviceMemoryError("a part does not fit")
        if HOW == "interrupted":
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        if HOW == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if HOW == "silent":
            time.sleep(30)
    yield AllGather(lambda: np.zeros(1, np.int64))


if HOW == "outside" and comm.rank == 1:
    raise ZeroDivisionError("of the caller's own")
run(comm, [program()])
