"""Devices that search without the host: kernels that read each other's finds in host memory.

On a processor kernels of two queues run at once if there are threads for all their groups, so PoCL
is given more than there are cores, in a process of its own.
"""

import pytest
from runtimes import run_under_pocl_threads

COMMON = """
    import sys
    import numpy as np
    import clgraph as cg

    sys.path.insert(0, "tests")
    from graphs import SHAPES
    from searches import check_search

    PULLS = (None, cg.pull.ByEdges(), cg.pull.ByEdges(beta=24), cg.pull.Never())


    def plans(graph, parts, groups, pull, **options):
        config = cg.BFSConfig(
            frontier="status", pull=pull, schedule=cg.schedule.Stepped(groups=groups)
        )
        devices = [cg.device()] * parts
        meeting = cg.DividedBFS(graph, devices, config=config, transfers="mailboxes", **options)
        assert type(meeting._exchanges[0]).__name__ == "MailboxExchange"
        return meeting, cg.DividedBFS(graph, devices, config=config, transfers="host", **options)
"""
SEARCHES = """
    parts, groups = {parts}, {groups}
    # Levels pull in the core, and push on from what the last of them found in the tail.
    core = cg.generate.kron(9, seed=2)
    src, dst, _ = core.listed_edges()
    tail = np.concatenate([[int(np.argmax(core.degrees))], np.arange(core.n, core.n + 30)])
    tailed = cg.from_edges(np.concatenate([src, tail[:-1]]), np.concatenate([dst, tail[1:]]),
                           symmetrize=True)
    graphs = (cg.generate.kron(11, seed=2), tailed, cg.generate.rmat(10, seed=3), SHAPES["star"],
              cg.from_edges([0], [1], n=70), cg.generate.grid2d(4, 9))
    for pull in PULLS[:: {step}]:
        for graph in graphs:
            plan, host = plans(graph, parts, groups, pull, predecessors=True)
            for source in {{0, int(np.argmax(graph.degrees)), graph.n - 1}}:
                result = plan.run(source, verify=True)
                check_search(graph, source, result)
                table, other = result.stats.per_level, host.run(source).stats.per_level
                for field in ("frontier", "edges", "direction"):
                    np.testing.assert_array_equal(table[field], other[field])
                # A list is as long as it is, not as it might be.
                assert (table["sent_bytes"] <= other["sent_bytes"]).all()
                pulled = table["direction"] == "pull"
                np.testing.assert_array_equal(
                    table["sent_bytes"][pulled], other["sent_bytes"][pulled]
                )
            assert not plan._exchanges[0].host_runs
"""
LAUNCHES = """
    from clgraph.cluster import mailboxes

    mailboxes.LEVELS_A_LAUNCH = 3
    graph = cg.generate.grid2d(2, 9)
    plan, host = plans(graph, 2, 1, None)
    for limit in (None, 0, 1, 3, 4, 9, 10, 11):
        result, expected = (one.run(0, max_depth=limit) for one in (plan, host))
        np.testing.assert_array_equal(result.distances, expected.distances)
        assert result.stats.per_level["frontier"].tolist() == (
            expected.stats.per_level["frontier"].tolist())
    assert not plan._exchanges[0].host_runs
"""
INTERRUPTED = """
    from clgraph.cluster.parts.mailboxes import MailboxPart

    graph = cg.generate.kron(9, seed=2)
    plan, _ = plans(graph, 2, 1, None)
    launch, stamps = MailboxPart.run_levels, []

    def noted(part, *of):
        stamps.append(of[-1])
        return launch(part, *of)

    def interrupted(part, *of):
        if part.rank == {rank}:
            if {launched}:
                noted(part, *of)
            raise KeyboardInterrupt
        return noted(part, *of)

    MailboxPart._spin_limit = 1 << 14  # whoever launched alone
    MailboxPart.run_levels = interrupted
    try:
        plan.run(1)
    except KeyboardInterrupt:
        pass
    before = max(stamps)
    stamps.clear()
    MailboxPart.run_levels, MailboxPart._spin_limit = noted, 1 << 31
    check_search(graph, 1, plan.run(1))
    assert min(stamps) > before  # what others read of is of this search
    assert not plan._exchanges[0].host_runs
"""
USED_UP = """
    from clgraph.cluster import mailboxes
    from clgraph.cluster.parts.mailboxes import MAILBOX_WORDS, MailboxPart

    mailboxes.LEVELS_A_LAUNCH = 3
    graph = cg.generate.grid2d(2, 9)
    plan, _ = plans(graph, 2, 1, None)
    plan.run(1)
    words = [MAILBOX_WORDS[name] for name in ("BOX_READY", "BOX_COUNTED", "BOX_DONE")]
    launch, stamps = MailboxPart.run_levels, []
    failing = False

    def noted(part, source, first, past, stamp):
        used = range(stamp, stamp + past - first + 1)
        assert used[-1] <= mailboxes.LAST_STAMP
        if part.rank == 0:  # nobody has been launched
            for other in plan.parts:
                assert not {int(other._mailbox[word]) for word in words} & set(used)
            stamps.append(stamp)
        alone = failing and stamp == 1  # whose counter is all that begins anew
        MailboxPart._spin_limit = 1 << 14 if alone else 1 << 31
        event = launch(part, source, first, past, stamp)
        if alone:
            raise KeyboardInterrupt
        return event

    MailboxPart.run_levels = noted
    for left in range(0, 12, 2):
        for failing in (False, True):
            # As after so many searches, the other rank's counter behind as by an interrupt.
            for exchange, lag in zip(plan._exchanges, (0, 1)):
                exchange._stamp = mailboxes.LAST_STAMP - left - lag
            stamps.clear()
            try:
                check_search(graph, 1, plan.run(1))
                assert not failing
            except KeyboardInterrupt:
                assert failing
            assert 1 in stamps
            failing = False
            for _ in range(2):
                check_search(graph, 1, plan.run(1))
    assert not plan._exchanges[0].host_runs
"""
IN_VAIN = """
    from clgraph.cluster.parts.mailboxes import MailboxPart

    graph = cg.generate.kron(9, seed=2)
    plan, _ = plans(graph, 2, 1, None, predecessors=True)
    nobody = np.zeros(1 << 14, np.uint32)  # where no other device writes
    plan.parts[1].link([nobody.ctypes.data, plan.parts[1].address])
    MailboxPart._spin_limit = 1 << 12
    for source in (1, 2):
        check_search(graph, source, plan.run(source, verify=True))
        assert plan._exchanges[0].host_runs
"""


def run(text):
    run_under_pocl_threads(COMMON + text)


@pytest.mark.rest
@pytest.mark.parametrize(
    ("parts", "groups", "step"),
    [
        (2, 1, 1),
        pytest.param(2, 2, 3, marks=pytest.mark.slow),
        pytest.param(3, 1, 2, marks=pytest.mark.slow),
    ],
)
def test_searches_are_as_the_host_would_have_them(parts, groups, step):
    """Results, frontiers, directions, and no more bytes."""
    run(SEARCHES.format(parts=parts, groups=groups, step=step))


@pytest.mark.rest
def test_levels_in_several_launches():
    """A launch that ends before the search is gone on from; so is one that a limit ends."""
    run(LAUNCHES)


@pytest.mark.rest
def test_numbers_of_levels_are_used_up():
    """They begin anew, in time, where no mailbox says that it holds what was found at one."""
    run(USED_UP)


def test_who_waits_in_vain_leaves_it_to_the_host():
    """Never a hang, and the same answer."""
    run(IN_VAIN)


@pytest.mark.parametrize(("rank", "launched"), [(0, True), (1, False)])
def test_a_search_after_an_interrupted_one(rank, launched):
    """Ranks agree again on what is new, also if the first one's launch is all that there was."""
    run(INTERRUPTED.format(rank=rank, launched=launched))
