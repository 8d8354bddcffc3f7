## counters: what the lanes that run together do, counted while they do it.
##
## Contract      /profile/profile.mako
## Needs         match and activemask: compute capability 7.0
## Races         counters are added to by atomics; the lowest lane of those that run together adds
## Words of a site: requests, lanes, bytes, then lines of 128 bytes and sectors of 32 in global memory,
## or passes over the banks and how many there would be without conflicts in local memory
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

static inline volatile __global ulong *prof_site(volatile __global ulong *prof, const uint site) {
    return prof + ${header}u + ((size_t)((uint)get_group_id(0) % ${spread}u) * ${sites}u + site) * ${site_words}u;
}

// The record of this SIMD group, null where there is no room for it.
static inline volatile __global ulong *prof_record(volatile __global ulong *prof) {
    const ulong groups = (get_local_size(0) + 31u) / 32u;
    const ulong record = get_group_id(0) * groups + get_local_id(0) / 32u;
    return record < prof[5] ? prof + prof[4] + record * ${record_words}u : 0;
}

% if on["TIME"] or on["SYNC"]:
static inline void prof_begin(volatile __global ulong *prof) {
    if (get_local_id(0) % 32u) return;
    volatile __global ulong *const record = prof_record(prof);
    if (!record) return;
    uint unit;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(unit));
    record[2] = unit + 1u;
    record[6] = prof_nanoseconds();
    record[0] = prof_clock();
}

// Lanes may leave one after the other, and the last one says when the group did.
static inline void prof_end(volatile __global ulong *prof) {
    const ulong now = prof_clock();
    if (prof_active() & prof_below()) return;
    volatile __global ulong *const record = prof_record(prof);
    if (!record) return;
    atom_max(record + 1, now);
    atom_max(record + 7, prof_nanoseconds());
}

static inline void prof_waited(volatile __global ulong *prof, const uint site, const ulong before) {
    const ulong waited = prof_clock() - before;
    if (prof_active() & prof_below()) return;
    volatile __global ulong *const record = prof_record(prof), *const counts = prof_site(prof, site);
    if (record) atom_add(record + 3, waited);
    atom_add(counts, 1ul);
    atom_add(counts + 1, waited);
}
% endif

% if on["DIV"]:
static __attribute__((noinline)) void prof_block(volatile __global ulong *prof, const uint site, const uint weight) {
    const uint active = prof_active();
    if (active & prof_below()) return;
    const ulong lanes = (ulong)popcount(active);
    volatile __global ulong *const record = prof_record(prof), *const counts = prof_site(prof, site);
    atom_add(counts, 1ul);
    atom_add(counts + 1, lanes);
    if (!record) return;
    atom_add(record + 4, lanes * weight);
    atom_add(record + 5, 32ul * weight);
}
% endif

% if on["DIV"]:
static inline void prof_wait(volatile __global ulong *prof, const uint site) {
    if (!(prof_active() & prof_below())) atom_add(prof_site(prof, site), 1ul);
}

% endif
% if on["LMEM"]:
// How often the banks must be gone through for the lanes of `part`, whose word this is.
static inline uint prof_passes(const ulong word, const uint banks, const uint part) {
    const uint same = prof_match(word, part);
    const uint first = prof_ballot(!(same & prof_below()), part);
    uint passes = 0u;
    if (!(same & prof_below())) {
        const uint met = (uint)popcount(prof_match(word % banks, first));
        for (uint bit = 32u; bit; bit >>= 1)
            if (prof_ballot(met >= passes + bit, first)) passes += bit;
    }
    return passes;
}

% endif
% for space, wanted in (("global", on["GMEM"]), ("local", on["LMEM"])):
% if wanted:
static __attribute__((noinline)) long prof_${space}(volatile __global ulong *prof, const uint site, const ulong base, const long place, const uint element, const uint size) {
    const ulong address = base + (ulong)place * element;
    const uint active = prof_active(), below = prof_below();
    volatile __global ulong *const counts = prof_site(prof, site);
% if space == "local":
    // Wide words go by halves and quarters of the lanes.
    const uint parts = size > 8u ? 4u : size > 4u ? 2u : 1u, lanes = 32u / parts;
    const uint mine = (uint)get_local_id(0) % 32u / lanes;
    for (uint part = 0u; part < parts; ++part) {
        const uint here = prof_ballot(mine == part, active);
        if (mine == part) {
            const uint passes = prof_passes(address / (4u * parts), lanes, here);
            if (!(here & below)) {
                atom_add(counts + 3, (ulong)passes);
                atom_add(counts + 4, 1ul);
            }
        }
    }
% else:
    const uint lines = (uint)popcount(prof_ballot(!(prof_match(address >> 7, active) & below), active));
    const uint sectors = (uint)popcount(prof_ballot(!(prof_match(address >> 5, active) & below), active));
% endif
    if (!(active & below)) {
        const ulong lanes_here = (ulong)popcount(active);
        atom_add(counts, 1ul);
        atom_add(counts + 1, lanes_here);
        atom_add(counts + 2, lanes_here * size);
% if space == "global":
        atom_add(counts + 3, (ulong)lines);
        atom_add(counts + 4, (ulong)sectors);
% endif
    }
    return place;
}

% endif
% endfor
