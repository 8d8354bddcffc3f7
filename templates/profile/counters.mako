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

<%include file="/profile/accesses.mako" args="on=on"/>\
