"""Docstrings that take from others what they do not say."""

import inspect

import pytest

import clgraph as cg
from clgraph.documented import documented


class Plan:
    """A plan.

    Parameters
    ----------
    graph : Graph
        Where.
    device : Device
        On
        what.

    Raises
    ------
    ValueError
        If there is no graph.
    """

    def run(self, source, *, low=0, high=1, verify=False):
        """Run.

        Parameters
        ----------
        source : int
            From there.
        low, high : int
            Between these.
        verify : bool
            Whether to check.

        Returns
        -------
        Result
            What was found.

        Raises
        ------
        ValueError
            If `source` is none.
        VerificationError
            If it is wrong.
        """


def test_what_a_call_does_not_say_is_taken_in_the_order_of_its_signature():
    @documented(Plan, Plan.run)
    def call(graph, low, high, device, *, own, verify=False):
        """Call.

        At length.

        Parameters
        ----------
        own : int
            Its own.
        graph : other
            Said anew.

        Notes
        -----
        The end.
        """

    assert call.__doc__.split("\n\n") == [
        "Call.",
        "At length.",
        "Parameters\n----------\ngraph : other\n    Said anew.\nlow, high : int\n"
        "    Between these.\ndevice : Device\n    On\n    what.\nown : int\n    Its own.\n"
        "verify : bool\n    Whether to check.",
        "Returns\n-------\nResult\n    What was found.",
        "Raises\n------\nValueError\n    If there is no graph.\n    If `source` is none.\n"
        "VerificationError\n    If it is wrong.",
        "Notes\n-----\nThe end.",
    ]


def test_nothing_is_said_of_what_is_not_there():
    @documented(Plan, Plan.run)
    def call(device):
        """Call.

        Returns
        -------
        int
            Its own.

        Raises
        ------
        ValueError
            Its own.
        """

    @documented(Plan.run)
    class Other:
        """A class returns nothing."""

    assert "source" not in call.__doc__
    assert "VerificationError" not in call.__doc__
    assert call.__doc__.count("Its own.") == 2
    assert "If there is no graph" not in call.__doc__
    assert "Returns" not in Other.__doc__


def test_python_may_run_without_docstrings():
    @documented(Plan)
    def call(device):
        pass

    assert call.__doc__ is None


CALLS = [name for name in cg.__all__ if inspect.isfunction(getattr(cg, name))]
PLANS = [name for name in cg.__all__ if hasattr(getattr(cg, name), "run")]


@pytest.mark.parametrize("name", [*CALLS, *PLANS])
def test_every_argument_of_a_public_name_is_described(name):
    """The reference is made of these, and so is ``help``."""
    assert len(CALLS) > 50
    assert len(PLANS) > 15
    called = getattr(cg, name)
    section = inspect.getdoc(called).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    heads = [line.partition(" : ")[0] for line in section.split("\n") if line[:1].strip()]
    described = {each.strip(" *") for head in heads for each in head.split(",")}
    assert set(inspect.signature(called).parameters) - described == set()
