"""What every process of a run must agree on: the tests there are and their names."""

import gzip

import pytest

TIMED = gzip.compress(b"a file packed now")


@pytest.mark.parametrize("packed", [TIMED, b"", None])
def test_names_of_tests_do_not_hold_bytes(request, packed):
    name = request.node.name.removeprefix("test_names_of_tests_do_not_hold_bytes")
    assert name in ({"[None]"} if packed is None else {"[packed0]", "[packed1]"})
