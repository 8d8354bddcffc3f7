## accesses: requests of the lanes that run together, and how many lines, sectors and passes over banks they take.
##
## Contract      /profile/profile.mako
## Needs         what /profile/counters.mako, which includes it, has before it
## Races         as there
<%page args="on"/>\
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
