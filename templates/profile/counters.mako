## counters: what the lanes that run together do, counted while they do it.
##
## Contract      /profile/profile.mako
## Needs         match and activemask: compute capability 7.0
## Branches      none: whoever adds does so by a predicate. Lanes that part in here would be apart in what
##               follows, be counted so, and be missing where their SIMD group meets
## Races         counters are added to by atomics; the lowest lane of those that run together adds. What a
##               unit has near is guessed: groups of a unit change its words as they come
## Words of a site: requests, lanes, bytes, then lines of 128 bytes and sectors of 32 in global memory,
## or passes over the banks and how many there would be without conflicts in local memory; sectors
## that the nearest cache did not hold
<%page args="on"/>\
static inline uint prof_active(void) {
    uint mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

static inline uint prof_below(void) {
    uint mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

static inline uint prof_ballot(const int p, const uint active) {
    uint mask;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }" : "=r"(mask) : "r"(p), "r"(active));
    return mask;
}

static inline uint prof_match(const ulong x, const uint active) {
    uint mask;
    asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(mask) : "l"(x), "r"(active));
    return mask;
}

static inline ulong prof_clock(void) {
    ulong now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) : : "memory");
    return now;
}

static inline ulong prof_nanoseconds(void) {
    ulong now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) : : "memory");
    return now;
}

% for name, instruction in (("add", "red.relaxed.gpu.global.add.u64"), ("max", "red.relaxed.gpu.global.max.u64"), ("put", "st.relaxed.gpu.global.u64")):
static inline void prof_${name}(const int mine, volatile __global ulong *at, const ulong x) {
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ${instruction} [%0], %1; }" : : "l"(at), "l"(x), "r"(mine) : "memory");
}

% endfor
static inline volatile __global ulong *prof_site_in(volatile __global ulong *prof, const uint group, const uint site) {
    return prof + ${header}u + ((size_t)(group % ${spread}u) * ${sites}u + site) * ${site_words}u;
}

static inline volatile __global ulong *prof_site(volatile __global ulong *prof, const uint site) {
    return prof_site_in(prof, (uint)get_group_id(0), site);
}

// The place of a SIMD group's record if its work-group has that number, as its own has.
static inline ulong prof_place_in(const uint group) {
    return (ulong)group * (((uint)get_local_size(0) + 31u) / 32u) + (uint)get_local_id(0) / 32u;
}

static inline ulong prof_place(void) { return prof_place_in((uint)get_group_id(0)); }

static inline int prof_has_record(void) { return prof_place() < ${most_records}ul; }

static inline volatile __global ulong *prof_records(volatile __global ulong *prof) {
    return prof + ${records_at}u;
}

static inline volatile __global ulong *prof_record(volatile __global ulong *prof) {
    return prof_records(prof) + prof_place() * ${record_words}u;
}

// What others write meanwhile, and what nobody does or its own work-group did.
% for name, instruction in (("get", "ld.relaxed.gpu.global.u64"), ("seen", "ld.weak.global.u64")):
static inline ulong prof_${name}(volatile __global ulong *at) {
    ulong x;
    asm volatile("${instruction} %0, [%1];" : "=l"(x) : "l"(at) : "memory");
    return x;
}

% endfor

% if on["TIME"] or on["SYNC"]:
static inline void prof_begin(volatile __global ulong *prof) {
    const int mine = get_local_id(0) % 32u == 0u && prof_has_record();
    volatile __global ulong *const record = prof_record(prof);
    uint unit;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(unit));
    prof_put(mine, record + 2, unit + 1u);
    prof_put(mine, record + 6, prof_nanoseconds());
    prof_put(mine, record, prof_clock());
}

// This work-group's number, found from a clock. Its highest bit is 0, which compilers do not know: what they found
// when the kernel began they would keep until it ends, and take registers from it all the while.
static inline uint prof_group(const ulong now) { return (uint)get_group_id(0) + (uint)(now >> 63); }

// Lanes may leave one after the other, and the last one says when the group did.
static inline void prof_end(volatile __global ulong *prof) {
    const ulong now = prof_clock(), place = prof_place_in(prof_group(now));
    const int mine = !(prof_active() & prof_below()) && place < ${most_records}ul;
    volatile __global ulong *const record = prof_records(prof) + place * ${record_words}u;
    prof_max(mine, record + 1, now);
    prof_max(mine, record + 7, prof_nanoseconds());
}
% endif

% if on["SYNC"]:
static inline void prof_waited(volatile __global ulong *prof, const uint site, const ulong before) {
    const ulong now = prof_clock(), waited = now - before, place = prof_place_in(prof_group(now));
    const int mine = !(prof_active() & prof_below());
    volatile __global ulong *const counts = prof_site_in(prof, prof_group(now), site);
    prof_add(mine && place < ${most_records}ul, prof_records(prof) + place * ${record_words}u + 3, waited);
    prof_add(mine, counts, 1ul);
    prof_add(mine, counts + 1, waited);
}
% endif

% if on["DIV"]:
static __attribute__((noinline)) void prof_block(volatile __global ulong *prof, const uint site, const uint weight) {
    const uint active = prof_active();
    const int mine = !(active & prof_below()), recording = mine && prof_has_record();
    const ulong lanes = (ulong)popcount(active);
    volatile __global ulong *const record = prof_record(prof), *const counts = prof_site(prof, site);
    prof_add(mine, counts, 1ul);
    prof_add(mine, counts + 1, lanes);
    prof_add(recording, record + 4, lanes * weight);
    prof_add(recording, record + 5, 32ul * weight);
% if not on["TIME"] and not on["SYNC"]:
    prof_put(recording, record + 7, site + 1ul);
% endif
}

// A work-group meets all others: what its SIMD groups did since the last time counts for this stage, to
// which the one that did most gives its length. The first SIMD group speaks for all, which have met.
// Who comes last need not wait, and is a stage behind when it waits the next time: what others that came
// before it did by then counts for this stage, and the rest for the one before, that it was last in.
static __attribute__((noinline)) void prof_wait(volatile __global ulong *prof, const uint site) {
    const int mine = !(prof_active() & prof_below());
    const uint warps = ((uint)get_local_size(0) + 31u) / 32u, own = (uint)get_local_id(0) / 32u;
    const ulong first = prof_place() - own;
    const int have_records = first + warps <= ${most_records}ul;
    volatile __global ulong *const records = prof_records(prof) + (have_records ? first : 0ul) * ${record_words}u;
    const ulong stage = prof_get(records + 17), reached = prof_get(prof + 7);
    const ulong now = reached > stage + 1ul ? reached - 1ul : stage;
    const int speaks = mine && !own && have_records, has_room = speaks && now < ${stages}ul;
    const ulong late = now != stage;
    volatile __global ulong *const longest = prof + ${stages_at}u;
    volatile __global ulong *const others = longest + min(now, ${stages - 1}ul) * ${stage_words}u;
    prof_add(mine, prof_site(prof, site), 1ul);
    prof_max(speaks, prof + 7, now + 1ul);
    prof_put(speaks, records + 17, now + 1ul);
    #pragma unroll 1
    for (uint warp = 0u; warp < warps; ++warp) {
        volatile __global ulong *const record = records + warp * ${record_words}u;
% for kind, word in enumerate((5, 8, 9, 10, 11)):
        const ulong sum${word} = prof_get(record + ${word}), did${word} = sum${word} - prof_get(record + ${12 + kind});
        const ulong since${word} = min(prof_get(others + ${kind}) * late, did${word});
        prof_max(has_room, longest + stage * ${stage_words}u + ${kind}, did${word} - since${word});
        prof_put(has_room, record + ${12 + kind}, sum${word});
% endfor
    }
}

static inline void prof_barrier(volatile __global ulong *prof, const uint site) {
    const int mine = !(prof_active() & prof_below());
    prof_add(mine, prof_site(prof, site), 1ul);
    prof_add(mine && prof_has_record(), prof_record(prof) + 10, 1ul);
}
% endif

// What counts is called, as it is long: it gives nothing back, loads nothing that others may be writing, and asks
// no atomic for what was there before. A call that does may be part of a wait, so NVIDIA's compiler has its lanes
// yield; those that wait for them where lanes meet again go on without them (ptxas 13.0, driver 580.159.04).
// They were counted twice from then on, and where a place was given back kernels went to other addresses.
// Calls have it do the same in loops with atomics that give something back; a barrier of just the lanes that
// began a loop, behind it, counted those right too, but kernels were seen that never ended with it.
% if on["GMEM"]:
// Sectors that this unit asked for before, not long ago and since its work-group last met all others,
// which empties the nearest cache, are near; so are these from now on.
static __attribute__((noinline)) void prof_note_near(volatile __global ulong *prof, const uint site, const ulong base, const long place, const uint element) {
    const ulong sector = (base + (ulong)place * element) >> 5;
    const uint active = prof_active(), below = prof_below();
    const int mine = !(active & below), asks = !(prof_match(sector, active) & below);
    uint unit, before = 0u;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(unit));
    const ulong first = prof_place() - get_local_id(0) / 32u;
    const uint stage = (uint)prof_seen(prof_records(prof) + (first < ${most_records}ul ? first : 0ul) * ${record_words}u + 17);
    const uint mark = ((uint)sector ^ stage * 2654435761u) | 1u << 31;
    volatile __global uint *const at = (volatile __global uint *)(prof + prof_seen(prof + 6))
        + unit % ${near_units}u * ${near_sectors}u + (uint)(sector % ${near_sectors}u);
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.weak.global.u32 %0, [%1]; @p st.weak.global.u32 [%1], %3; }"
                 : "+r"(before) : "l"(at), "r"(asks), "r"(mark) : "memory");
    const uint missed = (uint)popcount(prof_ballot(asks & (before != mark), active));
    prof_add(mine, prof_site(prof, site) + 5, (ulong)missed);
    prof_add(mine && prof_has_record(), prof_record(prof) + (missed ? 8 : 11), 1ul);
}

static inline long prof_near(volatile __global ulong *prof, const uint site, const ulong base, const long place, const uint element) {
    prof_note_near(prof, site, base, place, element);
    return place;
}

// Atomics by the address that they go to: those of SIMD groups above 2^32, those of work-items below.
static __attribute__((noinline)) void prof_note_met(volatile __global ulong *prof, const ulong base, const long place, const uint element) {
    const ulong word = (base + (ulong)place * element) >> 2;
    const uint same = prof_match(word, prof_active());
    prof_add(!(same & prof_below()), prof + ${stages_at + stages * stage_words}u + word % ${hot_words}u, 1ul << 32 | (ulong)popcount(same));
}

static inline long prof_met(volatile __global ulong *prof, const ulong base, const long place, const uint element) {
    prof_note_met(prof, base, place, element);
    return place;
}

% endif
% for space, wanted in (("global", on["GMEM"]), ("local", on["LMEM"])):
% if wanted:
static __attribute__((noinline)) void prof_note_${space}(volatile __global ulong *prof, const uint site, const ulong base, const long place, const uint element, const uint size, const uint way) {
    const ulong address = base + (ulong)place * element;
    const uint active = prof_active(), below = prof_below();
    const int mine = !(active & below);
    const ulong lanes_here = (ulong)popcount(active);
    volatile __global ulong *const counts = prof_site(prof, site);
% if space == "local":
    // Wide words go by halves and quarters of the lanes: so often as the fullest bank of each part asks
    // for. Lanes whose word a lower one asks for meet nobody on a bank.
    const uint parts = size > 8u ? 4u : size > 4u ? 2u : 1u, lane = (uint)get_local_id(0) % 32u;
    const uint part = lane * parts / 32u, banks = 32u / parts;
    const ulong word = address / (4u * parts);
    const int first = !(prof_match(word << 2 | part, active) & below);
    const uint met = (uint)popcount(prof_match(first ? word % banks << 2 | part : 1ul << 32 | lane, active));
    uint third = 0u, fourth = 0u;
    for (uint k = 0u; k < parts; ++k) {
        const int here = part == k;
        uint passes = 0u;
        for (uint bit = 32u; bit; bit >>= 1)
            passes += prof_ballot(here && first && met >= passes + bit, active) ? bit : 0u;
        third += passes;
        fourth += prof_ballot(here, active) ? 1u : 0u;
    }
% else:
    const uint third = (uint)popcount(prof_ballot(!(prof_match(address >> 7, active) & below), active));
    const uint fourth = (uint)popcount(prof_ballot(!(prof_match(address >> 5, active) & below), active));
% endif
    prof_add(mine, counts, 1ul);
    prof_add(mine, counts + 1, lanes_here);
    prof_add(mine, counts + 2, lanes_here * size);
    prof_add(mine, counts + 3, (ulong)third);
    prof_add(mine, counts + 4, (ulong)fourth);
% if space == "local":
    prof_add(mine && prof_has_record(), prof_record(prof) + 9, (ulong)third);
% else:
    prof_add(mine && way != PROF_WAY_NEAR, counts + 5, (ulong)fourth);
    prof_add(mine && (way == PROF_WAY_FAR || way == PROF_WAY_ATOMIC) && prof_has_record(), prof_record(prof) + 8, 1ul);
% endif
}

static inline long prof_${space}(volatile __global ulong *prof, const uint site, const ulong base, const long place, const uint element, const uint size, const uint way) {
    prof_note_${space}(prof, site, base, place, element, size, way);
    return place;
}

% endif
% endfor
