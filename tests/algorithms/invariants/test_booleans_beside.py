"""Booleans are mined while copies of numbers are under way."""

import gc
import threading

import pytest

from clgraph.algorithms.invariants import InvariantMiner, MiningConfig, generate_trace
from clgraph.algorithms.invariants.chunks import Chunks
from clgraph.algorithms.invariants.passes import Passes
from clgraph.algorithms.invariants.sweep import Sweeper
from clgraph.device import Allocation
from clgraph.device.lazy import cl


def _with_steps_noted(monkeypatch):
    """Note what copies, waits for parts, launches and reads of results there are, in order."""
    steps, spans = [], {}
    arrive, send, failed, read = (
        Chunks._arrive, Chunks._send, Sweeper.failed, Allocation.read,
    )  # fmt: skip

    def sending(self, number, *rest):
        steps.append(("send", self.kind, number))
        return send(self, number, *rest)

    def arriving(self, number, *rest):
        spans[self.kind] = len(self._spans)
        arrive(self, number, *rest)
        steps.append(("there", self.kind, number))

    def looking(self, chunk, *rest):
        result = failed(self, chunk, *rest)
        steps.append(("look", self.family.kind, chunk.number))
        return result

    def reading(self, *rest, **options):
        steps.append(("read", None, None))
        return read(self, *rest, **options)

    monkeypatch.setattr(Chunks, "_wrap", lambda _: None)
    monkeypatch.setattr(Chunks, "_send", sending)
    monkeypatch.setattr(Chunks, "_arrive", arriving)
    monkeypatch.setattr(Sweeper, "failed", looking)
    monkeypatch.setattr(Allocation, "read", reading)
    return steps, spans


@pytest.mark.parametrize("kind", ["staged", "pinned"])
@pytest.mark.parametrize("inference", [False, True])
def test_booleans_are_mined_while_numbers_are_copied(kind, inference, any_device, monkeypatch):
    """All looks at Booleans lie between the first copies ahead and the wait for them.

    So there is nothing to read when the last numbers are there but what they need themselves; where
    nothing is to be copied ahead, or memory is short, Booleans come after the numbers.
    """
    trace = generate_trace(4, 4, 400_000, mode="interval")
    trace = trace.pinned(any_device) if kind == "pinned" else trace
    steps, spans = _with_steps_noted(monkeypatch)
    found, left = {}, {}
    numbers = trace.chosen(trace.numeric.names)
    numbers = numbers.pinned(any_device) if kind == "pinned" else numbers
    gc.collect()
    total = 4 * 400_000 * 4 + 4 * 400_000 // 8
    tight = str(any_device.ledger.used_bytes + total)
    cases = {"both": (trace, 2), "numbers": (numbers, 2), "turn": (trace, 0), "tight": (trace, 2)}
    for name, (given, ahead) in cases.items():
        config = MiningConfig(chunk_bytes=1 << 18, ahead=ahead)
        plan = InvariantMiner("I", inference=inference, config=config, device=any_device)
        with monkeypatch.context() as patch:
            if name == "tight":
                patch.setenv("CLGRAPH_MEMORY_LIMIT", tight)
            steps.clear()
            result = plan.run(given)
        found[name] = result.text()
        last = steps.index(("there", "numeric", spans["numeric"] - 1))
        left[name] = [what for what, _, _ in steps[last:]]
        booleans = [at for at, (_, of, _) in enumerate(steps) if of == "boolean"]
        if name == "both":
            assert spans["boolean"] > 1
            assert steps.index(("send", "numeric", 2)) < min(booleans)
            assert max(booleans) < steps.index(("there", "numeric", 1))
        elif name != "numbers":
            assert min(booleans) > last
        order = [phase["kind"] for phase in result.stats.phases]
        assert order == ["numeric", "boolean"][: len(order)]
    assert found["both"] == found["turn"] == found["tight"] != found["numbers"]
    assert left["both"] == left["numbers"]
    assert len(left["turn"]) > len(left["both"])


def test_booleans_do_not_wait_for_copies_of_numbers(any_device, monkeypatch):
    """Copies of numbers are held up until Booleans, copied by a queue of their own, are mined."""
    trace = generate_trace(4, 4, 400_000, mode="interval").pinned(any_device)
    plan = InvariantMiner("I", config=MiningConfig(chunk_bytes=1 << 18), device=any_device)
    expected = plan.run(trace).text()
    steps, _ = _with_steps_noted(monkeypatch)
    gate = cl.UserEvent(any_device.context)
    opened = []

    def open_for(why):
        opened.append(why)
        gate.set_status(cl.command_execution_status.COMPLETE)

    late = threading.Timer(60, open_for, ["the time"])
    send, mine = Chunks._send, Passes.mine

    def held_up(self, number, *rest):
        if (self.kind, number) == ("numeric", 1):
            cl.enqueue_barrier(self._copies.queue, wait_for=[gate])
            late.start()
        return send(self, number, *rest)

    def mining(self):
        mine(self)
        if self._chunks.kind == "boolean" and not opened:
            late.cancel()
            open_for("Booleans")

    monkeypatch.setattr(Chunks, "_send", held_up)
    monkeypatch.setattr(Passes, "mine", mining)
    assert plan.run(trace).text() == expected
    assert opened == ["Booleans"]
    assert ("look", "boolean", 1) in steps


@pytest.mark.parametrize("kind", ["staged", "pinned"])
def test_interrupted_among_booleans_with_copies_of_numbers_under_way(kind, any_device, monkeypatch):
    """Nothing is left behind, and the plan works on."""
    trace = generate_trace(4, 4, 400_000, mode="interval")
    trace = trace.pinned(any_device) if kind == "pinned" else trace
    plan = InvariantMiner("II", config=MiningConfig(chunk_bytes=1 << 18), device=any_device)
    expected = plan.run(trace).text()
    steps, _ = _with_steps_noted(monkeypatch)
    gc.collect()
    held = any_device.ledger.used_bytes

    def stop(_done, _total, what):
        if "boolean" in what:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan.run(trace, progress=stop)
    assert ("send", "numeric", 2) in steps
    assert ("there", "numeric", 1) not in steps
    assert any_device.ledger.used_bytes == held
    assert plan.run(trace).text() == expected
