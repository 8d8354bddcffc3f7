"""Traces that tests of mining share."""

import numpy as np


def broken_at_the_end(template, length):
    """A trace on which a template holds but at the last instant, on its variables in order."""
    random = np.random.default_rng(length)
    for _ in range(2000):
        if template.kind == "numeric":
            pool = np.array([0, 0.5, 1, 2, 4, 6, 7, 8, 10, 14, np.exp(2)], np.float32)
            points = random.choice(pool, (template.arity, 64))
            if "log" in str(template):
                with np.errstate(all="ignore"):
                    points[0, :32] = np.log(points[1, :32])
        else:
            points = random.random((template.arity, 64)) < 0.5
        with np.errstate(all="ignore"):
            holds = np.asarray(template.node.evaluate(list(points), 4))
        if holds.any() and not holds.all():
            good = points[:, random.choice(np.flatnonzero(holds), length)]
            good[:, -1] = points[:, np.flatnonzero(~holds)[0]]
            return good
    raise AssertionError(template)
