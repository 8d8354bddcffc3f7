"""Files cut into blocks of whole lines."""

import pytest

from clgraph.graph.formats.files import Source
from clgraph.graph.formats.limits import Limits


@pytest.fixture
def blocks(tmp_path):
    """Give the blocks of a file that holds some text."""

    def read(text, block_bytes):
        path = tmp_path / "text"
        path.write_bytes(text)
        with Source(str(path), Limits()) as source:
            return [block.data for block in source.blocks(block_bytes=block_bytes)]

    return read


@pytest.mark.parametrize("block_bytes", [7, 1024, 1025, 5000])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_blocks_of_a_file_are_whole_lines_as_they_were_read(blocks, block_bytes, end):
    text = b"\n".join(b"%d" % number for number in range(20_000, 30_000)) + end
    found = blocks(text, block_bytes)
    assert b"".join(found) == text + b"\n" * (not end)
    assert all(data.endswith(b"\n") for data in found)
    # More than that were put together from what two reads gave.
    assert max(map(len, found)) <= block_bytes + (not end)
    assert len(found) <= len(text) / max(block_bytes - 1024, 6) + 2


@pytest.mark.parametrize("line", [1, 1500, 3000, 9000])
def test_lines_longer_than_what_is_looked_through_for_their_end(blocks, line):
    text = (b"x" * line + b"\n" + b"1 2\n" * 300) * 9
    for block_bytes in (1024, 4096):
        found = blocks(text, block_bytes)
        assert b"".join(found) == text
        assert all(data.endswith(b"\n") for data in found)
