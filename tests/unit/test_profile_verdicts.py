"""Verdicts about optimisations that nobody has made yet, from curves."""

import pytest

from clgraph.errors import InvalidArgumentError
from clgraph.profile import microbenchmarks
from clgraph.profile.microbenchmarks import Protocol, Scale
from clgraph.profile.verdicts import (
    TARGETS,
    Candidate,
    Curve,
    candidates,
    curves_of,
    expensive_instructions,
    judge,
    substitution,
)

FLAT = Curve((1.0, 32.0), (1.0, 1.0), (80.0, 80.0), (90.0, 90.0))
# Signs as published: on the older card peak power falls by a fifth from 31 to 7 conflicts and is
# flat from there; on the newer one it is flat first and rises from 7 to none.
BANKS = {
    "GTX 660": Curve((1, 8, 32), (1.0, 3.0, 12.0), (60.0, 60.0, 74.0), (64.0, 64.0, 80.0)),
    "GTX 980": Curve((1, 8, 32), (1.0, 3.0, 12.0), (95.0, 80.0, 80.0), (105.0, 92.0, 92.0)),
}


def test_padding_lowers_peak_power_on_one_card_and_not_on_the_other():
    """Checklist: padding useful for peak power on GTX 660 and not on GTX 980."""
    (padding,) = candidates({"shared_mem_eff": 0.06}, element_bytes=16, bank_bytes=8)
    assert padding.before == 32
    verdicts = {card: judge(padding, {"bank_conflict": curve}) for card, curve in BANKS.items()}
    assert verdicts["GTX 660"].judgements["peak_power"] == "useful"
    assert verdicts["GTX 980"].judgements["peak_power"] == "harmful"
    for verdict in verdicts.values():
        assert verdict.judgements["time"] == "useful"
        assert verdict.judgements["energy"] == "useful"


def test_ratios_follow_the_rule():
    """Checklist: predicted ratio of time, P_avg, P_max and E, and a class per target."""
    curve = Curve((1.0, 2.0), (4.0, 1.0), (100.0, 150.0), (100.0, 104.0))
    verdict = judge(Candidate("x", "c", 1.0, 2.0, share=0.5), {"c": curve})
    assert verdict.ratios["time"] == pytest.approx(0.5 + 0.5 * 0.25)
    assert verdict.ratios["mean_power"] == pytest.approx(0.5 + 0.5 * 1.5)
    assert verdict.ratios["energy"] == pytest.approx(0.625 * 1.25)
    assert tuple(verdict.ratios) == TARGETS
    assert verdict.judgements == {
        "time": "useful",
        "mean_power": "harmful",
        "peak_power": "useless",
        "energy": "useful",
    }


def test_a_limit_that_is_exceeded_leaves_nothing_useful():
    curve = Curve((1.0, 2.0), (4.0, 1.0), (100.0, 150.0), (100.0, 150.0))
    verdict = judge(Candidate("x", "c", 1.0, 2.0), {"c": curve}, limits={"peak_power": 1.1})
    assert verdict.judgements["time"] == "useless"
    with pytest.raises(InvalidArgumentError, match="limits name noise"):
        judge(Candidate("x", "c", 1.0, 2.0), {"c": curve}, limits={"noise": 1.0})


@pytest.mark.parametrize(
    ("after", "judgement"),
    [(0.94, "useful"), (0.96, "useless"), (1.04, "useless"), (1.06, "harmful")],
)
def test_a_twentieth_is_what_counts(after, judgement):
    curve = Curve((1.0, 2.0), (1.0, after), (100.0, 100.0), (100.0, 100.0 * after))
    verdict = judge(Candidate("x", "c", 1.0, 2.0), {"c": curve})
    assert verdict.judgements["time"] == judgement
    assert verdict.judgements["peak_power"] == judgement
    assert verdict.judgements["mean_power"] == "useless"


def test_what_changes_little_is_useless():
    verdict = judge(Candidate("x", "c", 1.0, 20.0), {"c": FLAT})
    assert set(verdict.judgements.values()) == {"useless"}


def test_candidates_come_from_criteria():
    """Checklist: candidates from coalescence, access size, conflicts and divergence."""
    found = candidates({"global_mem_eff": 0.125, "shared_mem_eff": 0.25, "divergence": 0.5})
    places = {c.curve: (c.before, c.after) for c in found}
    assert places == {
        "coalescence": (4.0, 32),
        "access_size": (4, 16),
        "bank_conflict": (4.0, 1),
        "divergence": (16.0, 32),
    }
    assert candidates({"global_mem_eff": 1.0}, element_bytes=16) == []
    with pytest.raises(InvalidArgumentError, match="above 0"):
        candidates({"divergence": 0.0})


def test_remainders_and_divisions_are_seen():
    """Checklist: rem/div in the PTX of a kernel triggers the substitution hint."""
    text = "\trem.u32 %r3, %r1, %r2;\n@%p1 rem.u32 %r4, %r1, %r2;\ndiv.rn.f32 %f1, %f2, %f3;\n"
    assert expensive_instructions(text) == {"rem.u32": 2, "div.rn.f32": 1}
    assert expensive_instructions("div.approx.ftz.f32 %f1, %f2, %f3; mul.lo.u32 %r1") == {}


def test_a_device_with_times_alone_gets_verdicts_of_time_alone(intel):
    scale = Scale(16, Scale.of(intel).group_size, 1 << 18)
    quick = Protocol(launch_s=0.001, ramp_s=0.0, repeats=2, window_s=0.0)
    names = ["access_size", "int32_rem", "int32_simple.add_int"]
    record = microbenchmarks.run(names, device=intel, scale=scale, protocol=quick)
    curves = curves_of(record)
    (wider,) = candidates({})
    verdict = judge(wider, curves)
    assert verdict.judgements["time"] is not None
    assert verdict.ratios["energy"] is None
    assert verdict.judgements["energy"] is None
    replaced = substitution(record, "int32_rem.rem_int", "int32_simple.add_int")
    assert replaced.places == (0.0, 1.0)
    assert replaced.mean_power is None
    with pytest.raises(InvalidArgumentError, match="no curve 'coalescence'"):
        judge(Candidate("coalesce", "coalescence", 1, 32), curves)


def metered(name, value=None, *, time_s, operations, watts):
    """A result of a device with a meter, as a record has it."""
    mean, peak = watts
    counted = {"operations": operations, "bytes_moved": 0.0, "counts": {}, "compute_units": 1}
    timed = {"time_s": time_s, "spread": 0.0, "repeats": 1, "rounds": 1}
    told = {"name": name, "unit": "", "value": value, "mean_watts": mean, "peak_watts": peak}
    return told | counted | timed


def test_curves_are_of_one_operation_with_watts_of_their_own():
    """Checklist: ratios of time, P_avg, P_max and E for each candidate, and for another opcode."""
    none = (None, None)
    record = {
        "results": [
            metered("coalescence=32", 32.0, time_s=2.0, operations=4.0, watts=(150.0, 180.0)),
            metered("coalescence=4", 4.0, time_s=1.0, operations=0.5, watts=(120.0, 130.0)),
            metered("ilp=1", 1.0, time_s=1.0, operations=1.0, watts=(90.0, 95.0)),
            metered("ilp=2", 2.0, time_s=1.0, operations=2.0, watts=none),
            metered("unroll=1", 1.0, time_s=1.0, operations=1.0, watts=none),
            metered("rem", time_s=6.0, operations=2.0, watts=(100.0, 110.0)),
            metered("shift", time_s=1.0, operations=4.0, watts=(80.0, 99.0)),
        ]
    }
    curves = curves_of(record)
    assert set(curves) == {"coalescence", "ilp"}  # one point is no curve
    assert curves["coalescence"] == Curve((4.0, 32.0), (2.0, 0.5), (120.0, 150.0), (130.0, 180.0))
    assert curves["ilp"] == Curve((1.0, 2.0), (1.0, 0.5))
    assert substitution(record, "rem", "shift", 2.0) == Curve(
        (0.0, 1.0), (3.0, 0.5), (100.0, 80.0), (110.0, 99.0)
    )
    with pytest.raises(InvalidArgumentError, match="no valid result of times"):
        substitution(record, "rem", "times")
