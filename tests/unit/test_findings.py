"""Results that are read when somebody wants them."""

import numpy as np

from clgraph.engine.findings import Later


class ReadElsewhere(Later):
    """What another thread forgets how to read as soon as somebody has looked whether it is."""

    @property
    def _read(self):
        kept, self._kept = self._kept, None
        return kept

    @_read.setter
    def _read(self, read):
        self._kept = read


def test_two_threads_may_read_at_once():
    assert ReadElsewhere(lambda: np.arange(3)).values.tolist() == [0, 1, 2]
