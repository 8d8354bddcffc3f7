"""Every microbenchmark: static ones, and dynamic ones that sweep how intensely a part is used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from clgraph.errors import InvalidArgumentError
from clgraph.profile.microbenchmarks.arithmetic import Operations
from clgraph.profile.microbenchmarks.chasing import Chase
from clgraph.profile.microbenchmarks.meetings import GridBarrier, Nothing
from clgraph.profile.microbenchmarks.memories import Copy, Lines, RandomWords, Words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clgraph.device import DeviceTraits
    from clgraph.profile.microbenchmarks.work import Work

__all__ = ["CATALOGUE", "COSTS", "Entry", "Point", "choose", "specification"]

Kind = Literal["static", "dynamic", "cost"]
LOCAL_BYTES = 8 << 10
NEAR_BYTES = 16 << 10  # fits the cache of one compute unit
CACHE_SHARE_BYTES = 4 << 20  # fits the cache that compute units share
ONE_WORD_BYTES = 4  # where all meet


@dataclass(frozen=True, slots=True)
class Entry:
    """A static microbenchmark, or one point of a dynamic one.

    Attributes
    ----------
    name : str
        ``family.member``, unique; points of a sweep end in ``=value``.
    family : str
        The row of the catalogue, or the sweep.
    kind : {"static", "dynamic", "cost"}
        Static characteristics, a sweep, or latencies that the performance model needs.
    component : str
        Which part it loads.
    unit : str
        What is counted as one operation.
    work : Work
        What runs.
    opcode : str or None
        The instruction that the assembler's text must repeat, with its space and modifiers.
    rate : str or None
        Name of its published rate.
    value : float or None
        Where in a sweep it stands.
    important : bool
        Whether it belongs to a short run.
    """

    name: str
    family: str
    kind: Kind
    component: str
    unit: str
    work: Work
    opcode: str | None = None
    rate: str | None = None
    value: float | None = None
    important: bool = False


Point = tuple[float, "Work"]

# Operations per cycle and multiprocessor by compute capability, from the table of arithmetic
# throughput in the CUDA C++ Programming Guide; but it states 64 for additions, to which come the 64
# of the multiply-add pipe: the assembler moves every second addition there.
_ALIKE = {"integer": 64, "addition": 128, "multiply": 64, "shift": 64, "special": 16}
RATES: dict[tuple[int, int], dict[str, float]] = {
    (8, 0): {"float": 64, "double": 32, **_ALIKE},
    (8, 6): {"float": 128, "double": 2, **_ALIKE},
    (8, 9): {"float": 128, "double": 2, **_ALIKE},
    (9, 0): {"float": 128, "double": 64, **_ALIKE},
}


def specification(traits: DeviceTraits, rate: str | None) -> float | None:
    """Operations per cycle and compute unit that the vendor states; None where unknown."""
    if rate is None or traits.compute_capability is None:
        return None
    return RATES.get(traits.compute_capability, {}).get(rate)


# Family, operation, type, opcode, published rate, what the energy model counts it as, short run.
_INT, _FLOAT, _DOUBLE = "integer_operations", "float_operations", "double_operations"
_SPECIAL = "special_operations"
_ARITHMETIC: tuple[tuple[str, str, str, str, str | None, str, bool], ...] = (
    ("int32_simple", "add_int", "uint", "add.u32", "addition", _INT, True),
    ("int32_simple", "sub_int", "uint", "sub.u32", "addition", _INT, False),
    ("int32_complex", "mul_int", "uint", "mul.lo.u32", "multiply", _INT, True),
    ("int32_complex", "mad_int", "uint", "mad.lo.u32", "multiply", _INT, False),
    ("int32_bit", "clz", "uint", "clz.b32", "special", _SPECIAL, False),
    ("int32_bit", "brev", "uint", "brev.b32", "special", _SPECIAL, False),
    ("int32_bit", "bfind", "uint", "bfind.u32", "special", _SPECIAL, False),
    ("int32_bit", "bfi", "uint", "bfi.b32", None, _INT, False),
    ("int32_bit", "bfe", "uint", "bfe.u32", None, _INT, False),
    ("int32_shift", "shl", "uint", "shl.b32", "shift", _INT, True),
    ("int32_shift", "shr", "uint", "shr.u32", "shift", _INT, False),
    ("int32_compare", "less", "uint", "setp.lt.xor.s32", "integer", _INT, True),
    ("int32_compare", "greater", "uint", "setp.gt.xor.s32", "integer", _INT, False),
    ("int32_compare", "less_equal", "uint", "setp.le.xor.s32", "integer", _INT, False),
    ("int32_compare", "greater_equal", "uint", "setp.ge.xor.s32", "integer", _INT, False),
    ("int32_compare", "min_int", "uint", "min.s32", "integer", _INT, False),
    ("int32_compare", "max_int", "uint", "max.s32", "integer", _INT, False),
    ("int32_popc", "popcount", "uint", "popc.b32", "special", _SPECIAL, True),
    ("int32_rem", "rem_int", "uint", "rem.u32", None, _INT, True),
    ("int64_simple", "add_long", "ulong", "add.u64", None, _INT, True),
    ("int64_simple", "sub_long", "ulong", "sub.u64", None, _INT, False),
    ("fp32_simple", "add_float", "float", "add.rn.f32", "float", _FLOAT, True),
    ("fp32_simple", "sub_float", "float", "sub.rn.f32", "float", _FLOAT, False),
    ("fp32_simple", "mul_float", "float", "mul.rn.f32", "float", _FLOAT, False),
    ("fp32_simple", "fma_float", "float", "fma.rn.f32", "float", _FLOAT, True),
    ("fp32_simple", "fma_three_registers", "float", "fma.rn.f32", None, _FLOAT, False),
    ("fp32_div", "div_exact", "float", "div.rn.f32", None, _FLOAT, True),
    ("fp32_div", "div_exact_flushed", "float", "div.rn.ftz.f32", None, _FLOAT, False),
    ("fp32_div", "div_fast", "float", "div.approx.f32", None, _FLOAT, False),
    ("fp32_div", "div_fast_flushed", "float", "div.approx.ftz.f32", None, _FLOAT, False),
    ("fp32_special", "sin", "float", "sin.approx.ftz.f32", "special", _SPECIAL, False),
    ("fp32_special", "cos", "float", "cos.approx.ftz.f32", "special", _SPECIAL, False),
    ("fp32_special", "exp2", "float", "ex2.approx.ftz.f32", "special", _SPECIAL, False),
    ("fp32_special", "log2", "float", "lg2.approx.ftz.f32", "special", _SPECIAL, False),
    ("fp32_special", "rsqrt", "float", "rsqrt.approx.ftz.f32", "special", _SPECIAL, True),
    ("fp32_special", "rcp", "float", "rcp.approx.ftz.f32", "special", _SPECIAL, False),
    ("fp64_simple", "add_double", "double", "add.rn.f64", "double", _DOUBLE, True),
    ("fp64_simple", "sub_double", "double", "sub.rn.f64", "double", _DOUBLE, False),
    ("fp64_simple", "fma_double", "double", "fma.rn.f64", "double", _DOUBLE, False),
)
# Operations that the assembler makes many instructions of: as long a line of them as of others
# would not fit the cache of code, and takes minutes to assemble.
EXPANDED = ("int32_rem", "fp32_div")
EXPANDED_UNROLL = 512
# Native instructions that an operation becomes where that is not one, counted in what the assembler
# of CUDA 13.0 makes for compute capability 9.0; of exact divisions those on their usual way.
INSTRUCTIONS = {
    "clz": 2.0,
    "bfi": 4.0,
    "bfe": 5.0,
    "rem_int": 17.0,
    "add_long": 2.0,
    "sub_long": 2.0,
    "div_exact": 9.0,
    "div_exact_flushed": 9.0,
    "div_fast": 5.0,
    "div_fast_flushed": 2.0,
    "sin": 2.0,
    "cos": 2.0,
}
_COMPONENTS = {_INT: "ALU", _FLOAT: "FPU", _DOUBLE: "DFU", _SPECIAL: "SFU"}
_ADD = Operations("add_int", "uint", _INT)
_FMA = Operations("fma_float", "float", _FLOAT)
_REQUEST = "request of a SIMD group"


def _arithmetic() -> Iterable[Entry]:
    for family, operation, kind, opcode, rate, feature, important in _ARITHMETIC:
        yield Entry(
            f"{family}.{operation}",
            family,
            "static",
            _COMPONENTS[feature],
            "operation of a work-item",
            Operations(
                operation,
                kind,
                feature,
                INSTRUCTIONS.get(operation, 1.0),
                unroll=EXPANDED_UNROLL if family in EXPANDED else None,
            ),
            opcode,
            rate,
            important=important,
        )


def _memories() -> Iterable[Entry]:
    def static(
        name: str,
        component: str,
        work: Work,
        opcode: str | None,
        unit: str = _REQUEST,
        *,
        important: bool = True,
    ) -> Entry:
        return Entry(
            name,
            name.partition(".")[0],
            "static",
            component,
            unit,
            work,
            opcode,
            important=important,
        )

    for way, short in (("load", "ld"), ("store", "st")):
        far, near = f"{short}.volatile.global.u32", f"{short}.volatile.shared.u32"
        yield static(f"dram.{way}", "DRAM", Lines(32, way), far)
        yield static(f"dram.{way}_scattered", "DRAM", Lines(1, way), far)
        wide = f"{short}.volatile.global.v4.u32"
        yield static(
            f"dram.{way}_wide", "DRAM", Lines(8, way, width=4), wide, important=way == "load"
        )
        yield static(f"l2.{way}", "L2", Words("global", way), far)
        yield static(f"shared.{way}", "local memory", Words("local", way), near)
    constant = Chase("constant", 2048, everywhere=True)
    yield static("constant.load", "constant memory", constant, "ld.const.u64")
    word = "access of a work-item"
    for way in ("load", "atomic"):
        held, missed = RandomWords(CACHE_SHARE_BYTES, way), RandomWords(None, way)
        yield static(f"random.{way}_cached", "L2", held, None, word)
        yield static(f"random.{way}", "DRAM", missed, None, word)
    yield static("barrier.grid", "scheduler", GridBarrier(), None, "barrier of all work-groups")
    yield static("launch.empty", "scheduler", Nothing(), None, "launch", important=False)


def _sweeps() -> Iterable[Entry]:
    def sweep(
        family: str, component: str, unit: str, points: Iterable[Point], opcode: str | None
    ) -> Iterable[Entry]:
        for value, work in points:
            name = f"{family}={value:g}"
            yield Entry(name, family, "dynamic", component, unit, work, opcode, None, value)

    item = "operation of a work-item"
    powers = [1 << k for k in range(6)]
    for way, opcode in (("load", "ld.volatile.global.u32"), ("store", "st.volatile.global.u32")):
        family = "coalescence" if way == "load" else "coalescence_store"
        yield from sweep(family, "DRAM", _REQUEST, [(t, Lines(t, way)) for t in powers], opcode)
    sizes = [(size, Copy(size)) for size in (1, 2, 4, 8, 16)]
    yield from sweep("access_size", "DRAM", "line of 128 bytes", sizes, None)
    ways = [(n, Words("local", "store", n)) for n in range(1, 33)]
    yield from sweep("bank_conflict", "local memory", _REQUEST, ways, "st.volatile.shared.u32")
    rolls = [(1 << k, replace(_ADD, unroll=1 << k)) for k in range(0, 13, 2)]
    yield from sweep("unroll", "ALU", item, rolls, "add.u32")
    chains = [(k, replace(_FMA, chains=k, threads_per_unit=256)) for k in (1, 2, 3, 4, 6, 8)]
    yield from sweep("ilp", "FPU", item, chains, "fma.rn.f32")
    syncs = [(k, replace(_ADD, unroll=1024, barriers=k)) for k in (0, 1, 4, 16, 64, 256)]
    yield from sweep("device_sync", "scheduler", item, syncs, "add.u32")
    # All 32 paths fit the cache of instructions; at twice the length they do not.
    parts = [(t, replace(_ADD, unroll=64, paths=32 // t)) for t in powers]
    yield from sweep("divergence", "scheduler", item, parts, "mad.lo.u32")
    footprints = [(2.0**k, RandomWords(1 << k)) for k in range(16, 31, 2)]
    yield from sweep("random_footprint", "memory", "access of a work-item", footprints, None)
    atomics = [(2.0**k, RandomWords(1 << k, "atomic")) for k in range(16, 31, 2)]
    yield from sweep("atomic_footprint", "memory", "access of a work-item", atomics, None)
    groups = [(k, GridBarrier(k)) for k in (1, 2, 4, 8)]
    yield from sweep("grid_barrier", "scheduler", "barrier of all work-groups", groups, None)


def active_units(traits: DeviceTraits) -> Iterable[Entry]:
    """Give the sweep over compute units, which only a device knows the points of."""
    most = traits.compute_units
    for units in sorted({1, *(most * k // 8 for k in range(1, 9))} - {0}):
        yield Entry(
            f"sm_occupancy={units}",
            "sm_occupancy",
            "dynamic",
            "SM",
            "operation of a work-item",
            replace(_FMA, units=units),
            "fma.rn.f32",
            None,
            float(units),
        )


def _costs() -> Iterable[Entry]:
    for name, work, opcode in (
        ("dram", Chase("global", None), "ld.relaxed.gpu.global.u64"),
        ("l2", Chase("global", CACHE_SHARE_BYTES), "ld.relaxed.gpu.global.u64"),
        ("l1", Chase("cached", NEAR_BYTES), "ld.global.ca.u64"),
        ("shared", Chase("local", LOCAL_BYTES), "ld.volatile.shared.u64"),
        ("constant", Chase("constant", 2048), "ld.const.u64"),
    ):
        yield Entry(f"latency.{name}", "latency", "cost", name, "load", work, opcode)
    one = RandomWords(ONE_WORD_BYTES, "atomic")
    yield Entry("contention.atomic", "contention", "cost", "L2", "access of a work-item", one)


CATALOGUE: tuple[Entry, ...] = (*_arithmetic(), *_memories(), *_sweeps(), *_costs())
# Eight costs of memory, of which loads are latencies and stores are throughputs, and four of
# arithmetic: what the performance model of the profiler asks a device for.
COSTS = (
    "latency.dram",
    "latency.l2",
    "latency.l1",
    "latency.shared",
    "latency.constant",
    "dram.store",
    "l2.store",
    "shared.store",
    "int32_simple.add_int",
    "fp32_simple.fma_float",
    "fp32_special.rsqrt",
    "fp64_simple.add_double",
)


def choose(words: Iterable[str] = (), traits: DeviceTraits | None = None) -> tuple[Entry, ...]:
    """Give entries by name, family or kind, in the order of the catalogue.

    Parameters
    ----------
    words : iterable of str
        Names, families, ``"static"``, ``"dynamic"``, ``"cost"`` or ``"important"``; none for all.
    traits : DeviceTraits, optional
        Of the device whose compute units are to be swept; None leaves that sweep out.

    Returns
    -------
    tuple of Entry
        Each once.

    Raises
    ------
    InvalidArgumentError
        If a word means no entry.
    """
    entries = CATALOGUE if traits is None else (*CATALOGUE, *active_units(traits))
    wanted = tuple(words)

    def means(word: str, entry: Entry) -> bool:
        return word in {entry.name, entry.family, entry.kind} or (
            word == "important" and entry.important
        )

    for word in wanted:
        if not any(means(word, entry) for entry in entries) and word != "sm_occupancy":
            families = dict.fromkeys(entry.family for entry in entries)
            raise InvalidArgumentError(
                f"there is no microbenchmark {word!r}; use static, dynamic, cost, important, "
                f"one of {', '.join(families)}, or a full name such as {entries[0].name}."
            )
    return tuple(
        entry for entry in entries if not wanted or any(means(word, entry) for word in wanted)
    )
