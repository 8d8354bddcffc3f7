"""Devices with the whole graph of which one gives up, wherever that is, or shares other levels.

Nobody waits for a clock: a word of the mailbox that is not used says where a device gives up, and
what kernels are rendered to has been made to look there.
"""

import pytest
from copies import run

GIVING_UP = """
    from clgraph.device.programs import program
    from clgraph.cluster.parts.linked import GAVE_UP
    from clgraph.engine.state import STATUS_DONE

    # Exchange k in place p is number 1 + 4 * k + p.
    HERE = "BOX(own_box)[31] == 1u + 4u * state[EXCHANGES] + "
    PLACES = (
        # before anything is handed over
        ("if (!all_found(", "if (" + HERE + "0u || !all_found("),
        # when it is, and nothing was heard
        ("store_release_system(BOX(own_box) + BOX_READY, stamp);",
         "store_release_system(BOX(own_box) + BOX_READY, stamp); if (" + HERE + "1u) return 0;"),
        # when all have been heard
        ("box_polls, now.level, &found, &edges))",
         "box_polls, now.level, &found, &edges) || " + HERE + "2u)"),
        # when their words were taken, which is counted as the next exchange
        ("const int counted =",
         "if (now.mode == TAKE && BOX(own_box)[31] == 4u * state[EXCHANGES])"
         " store_relaxed(state + ABORTED, 1u);\\n const int counted ="),
    )
    render = program.render

    def rendered(name, *of, **options):
        text = render(name, *of, **options)
        if "all_found" in text:
            for before, after in PLACES:
                assert text.count(before) == 1, before
                text = text.replace(before, after)
        return text

    program.render = rendered
    graph, source = cg.generate.rmat(10, seed=3), 5
    plan = copies(graph, {parts}, predecessors=True)
    tables = [part.plan.driver.table for part in plan.parts]

    def searched(source, polls):
        for table in tables:
            table["box_polls"] = np.uint32(polls)
        result = plan.run(source, verify=True)
        check_search(graph, source, result)
        return result

    exchanges = int(searched(source, 1 << 29).stats.per_level["rounds"].sum())
    assert exchanges > 1, exchanges
    assert not any(stepped(plan))
    for part in plan.parts:
        mailbox = part.plan.sharing._mailbox
        for number in range(1, 4 * exchanges + 1):
            mailbox[31] = number
            # Nobody waits in vain for who has handed over the last level: others end well then.
            heard = number > 4 * exchanges - 3
            result = searched(source, 1 << 29 if heard else 1 << 20)
            assert stepped(plan) == [True] * {parts}, (part.rank, number)
            endings = plan._exchanges[0]._gathered.last.endings
            assert endings.pop(part.rank) == GAVE_UP
            assert not heard or set(endings.values()) == {{STATUS_DONE}}, (part.rank, number)
            assert not result.stats.exchanged_bytes.any()
            assert result.stats.launches > {parts}
            mailbox[31] = 0
            if number % 3 == 0:
                searched(9, 1 << 29)
                assert stepped(plan) == [False] * {parts}, (part.rank, number)
    # Nothing is left behind by a last search that gave up.
    mailbox[31] = 1
    last = searched(source, 1 << 14)
    del plan, part, tables
    check_search(graph, source, last)
"""
UNLIKE = """
    from clgraph.cluster.parts.linked import GAVE_UP

    # The second pushes for itself what the first shares, and both share the level behind it.
    graph = cg.generate.kron(11, seed=2)
    config = cg.BFSConfig(pull=cg.pull.ByEdges(looks=1, likely=1),
                          schedule=cg.schedule.Persistent(groups=1))
    plan = copies(graph, 2, "intel", config=config, predecessors=True)
    source = 39
    alike = plan.run(source)
    assert alike.stats.per_level["rounds"].tolist() == [0, 1, 1, 0, 0]
    assert alike.stats.per_level["direction"].tolist()[1:3] == ["push", "pull"]
    plan.parts[1].plan.driver.table["share_from"] = np.uint32(800)
    for part in plan.parts:
        part.plan.driver.table["box_polls"] = np.uint32(1 << 26)
    check_search(graph, source, plan.run(source, verify=True))
    assert stepped(plan) == [True, True]
    # Nor does the second go on with what it was not given.
    assert set(plan._exchanges[0]._gathered.last.endings.values()) == {GAVE_UP}
"""
PAUSES = """
    # Launches end after every stage or two, all of them after the same.
    import dataclasses
    from clgraph.algorithms.bfs import plan as planned

    resolve = planned.resolve
    planned.resolve = lambda *of, **more: dataclasses.replace(resolve(*of, **more), launch_work=300)
    graph = cg.generate.kron(10, seed=2)
    plan = copies(graph, 2, predecessors=True)
    for source in np.flatnonzero(graph.degrees)[:5].tolist():
        result = plan.run(source, verify=True)
        check_search(graph, source, result)
        assert stepped(plan) == [False, False]
        assert result.stats.launches > 4
        assert result.stats.per_level["rounds"].any()
"""
DECISIONS = """
    graph = cg.generate.kron(9, seed=2)
    given = {"groups": 1, "group_size": 64, "membership": "fixed"}
    schedule = cg.schedule.Persistent(**given)
    one = cg.BFS(graph, device="intel", config=cg.BFSConfig(schedule=schedule))
    assert one.config.group_resident
    plan = copies(graph, 2, "intel", config=cg.BFSConfig(schedule=schedule))
    assert not plan.parts[0].config.group_resident
    schedule = cg.schedule.Persistent(group_resident=True, **given)
    try:
        copies(graph, 2, "intel", config=cg.BFSConfig(schedule=schedule))
    except cg.InvalidArgumentError as error:
        assert "without group_resident" in str(error)
    else:
        raise AssertionError("not refused")
"""


@pytest.mark.parametrize("parts", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_all_search_alone_if_one_gives_up(parts):
    """Each at each meeting: before, within and after it; the next search shares levels again."""
    run(GIVING_UP.format(parts=parts))


def test_words_of_another_level_are_not_taken():
    run(UNLIKE)


def test_launches_that_pause_go_on_together():
    run(PAUSES)


def test_nothing_that_is_a_matter_of_time_decides():
    """How long groups keep their frontiers depends on who finds what; levels pull after it."""
    run(DECISIONS)
