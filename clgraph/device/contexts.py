"""A context that is made by a thread, ahead of its need."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading

from clgraph.device.lazy import cl
from clgraph.device.native import new_context
from clgraph.threads import Worker

__all__ = ["ComingContext"]

THREAD = "clgraph-context"


class ComingContext:
    """The context of a device, from the moment on that a thread begins to make it.

    A GPU's driver takes longer for it than a search's modules take to be imported and its kernels
    to be found: some 0.1 s on an H100, most of it without the interpreter.

    Parameters
    ----------
    device : pyopencl.Device
        Of which.
    """

    def __init__(self, device: cl.Device) -> None:
        self._device = device
        self._address = 0
        self._taking = threading.Lock()
        self._context: cl.Context | None = None
        self._worker = Worker(THREAD, self._make)
        self._process = os.getpid()
        # A process that ends while a driver makes something may crash or hang.
        atexit.register(self._wait)
        with contextlib.suppress(RuntimeError):  # no thread is left: `take` makes it
            self._worker.start()

    def _make(self) -> None:
        with contextlib.suppress(Exception):  # whoever takes it asks again, and is told
            self._address = new_context(self._device.int_ptr)

    def _wait(self) -> None:
        if os.getpid() == self._process:  # a fork has no such thread
            self._worker.end()

    def take(self) -> cl.Context:
        """Give it once it is there.

        Raises
        ------
        pyopencl.Error
            If the driver refuses.
        """
        self._wait()
        with self._taking:
            if self._context is None and self._address:
                # Retained: Ctrl-C before it is kept would give back the only reference.
                self._context = cl.Context.from_int_ptr(self._address)
            elif self._context is None:
                self._context = cl.Context([self._device])  # which says why there is none
            return self._context
