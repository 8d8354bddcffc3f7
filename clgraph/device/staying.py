"""What has kernels and memory of a device, which no copy can take along."""

from typing import Any, NoReturn

__all__ = ["StaysHere"]


class StaysHere:
    """Base of plans and whatever else holds state of a device: neither copied nor pickled.

    A shallow copy would share the lock, the buffers and the kernels of the original without its
    knowing, and another process has none of them.

    Attributes
    ----------
    sent_instead : str
        What can be copied, for the message.
    """

    sent_instead = "its graph and configuration, and make another of them"

    def __reduce_ex__(self, protocol: Any, /) -> NoReturn:
        """Refuse, with the way out, what `copy` and `pickle` ask all objects for.

        Raises
        ------
        TypeError
            Always, as Python's own objects that cannot be copied do.
        """
        raise TypeError(
            f"{type(self).__name__} holds kernels and memory of a device, so it is neither copied "
            f"nor pickled: copy {self.sent_instead}."
        )
