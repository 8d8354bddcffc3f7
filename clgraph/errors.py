"""The exceptions that clgraph raises on purpose.

Each message is one sentence that names what was given, what is needed, and the way out.
"""

__all__ = [
    "ClgraphError",
    "ClusterError",
    "DeviceMemoryError",
    "DeviceNotFoundError",
    "DistanceOverflowError",
    "GraphFormatError",
    "InvalidArgumentError",
    "InvalidGraphError",
    "KernelBuildError",
    "KernelTimeoutError",
    "NegativeCycleError",
    "OutOfBoundsError",
    "QueueOverflowError",
    "VerificationError",
]


class ClgraphError(Exception):
    """Base of every exception that clgraph raises on purpose."""


class InvalidGraphError(ClgraphError, ValueError):
    """The arrays handed in do not describe a graph, or not one this algorithm accepts."""


class InvalidArgumentError(ClgraphError, ValueError):
    """An argument is out of range, of the wrong kind, or an illegal combination."""


class GraphFormatError(ClgraphError, ValueError):
    """A file does not follow its format; the message starts with ``file:line:``."""


class DeviceNotFoundError(ClgraphError, RuntimeError):
    """No OpenCL device fits the request; the message lists the devices there are."""


class DeviceMemoryError(ClgraphError, MemoryError):
    """The device cannot hold an array; the message names it with the bytes asked and free."""


class KernelBuildError(ClgraphError, RuntimeError):
    """A rendered kernel did not compile; the message shows the rendered lines around the error."""


class KernelTimeoutError(ClgraphError, RuntimeError):
    """A kernel gave up waiting for another work-group and no fallback could finish the work."""


class NegativeCycleError(ClgraphError, ValueError):
    """Paths become shorter for ever; the message names one cycle whose weights add up below zero.

    Attributes
    ----------
    cycle : tuple of int
        Its vertices in the order of its edges, each once.
    """

    def __init__(self, message: str, cycle: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.cycle = cycle


class DistanceOverflowError(ClgraphError, OverflowError):
    """The length of a shortest path does not fit the type of the weights; the message says which.

    Weights of a wider type, such as int64 or float64, may be given instead.
    """


class OutOfBoundsError(ClgraphError):
    """A kernel with bounds checks left an array; the message names it, the index and the line.

    Attributes
    ----------
    kernel : str
        Entry point.
    array : str or None
        The kernel's argument; None where a pointer was in none of them.
    index, bound : int
        Element that was meant, and how many there are.
    line : int
        Line of the rendered source, from 1.
    """

    def __init__(
        self,
        message: str,
        kernel: str = "",
        array: str | None = None,
        index: int = 0,
        bound: int = 0,
        line: int = 0,
    ) -> None:
        super().__init__(message)
        self.kernel, self.array, self.index, self.bound = kernel, array, index, bound
        self.line = line


class QueueOverflowError(ClgraphError):
    """A queue had no room left for what a traversal found."""


class VerificationError(ClgraphError):
    """A result breaks a rule of its kind; the message names the vertex or edge where it does."""


class ClusterError(ClgraphError, RuntimeError):
    """Ranks of a job do not agree, one has failed, or one does not answer in time."""
